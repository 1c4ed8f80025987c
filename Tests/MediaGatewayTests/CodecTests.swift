import MediaGateway
import SDP
import Testing

/// In which codecs the legs of a call may publish.
@Suite("The codecs of a call")
struct CodecTests {
    private let numbers = ["VP8": 96, "VP9": 98, "H264": 108, "AV1": 45]

    /// A camera that is sent in these codecs, the preferred one first, and a slot that plays those.
    private func offer(_ sent: [String], _ played: [String]?, digest: Int = 1) -> String {
        func section(_ mid: Int, _ direction: String, _ codecs: [String]) -> String {
            let types = codecs.compactMap { numbers[$0] }
            let maps = zip(codecs, types).map { name, type in
                "a=rtpmap:\(type) \(name)/90000\r\n"
                    + (name == "H264" ? "a=fmtp:\(type) packetization-mode=1;profile-level-id=42e01f\r\n" : "")
            }
            let list = types.map(String.init).joined(separator: " ")
            let fingerprint = Array(repeating: "0\(digest)", count: 32).joined(separator: ":")
            return """
                m=video 9 UDP/TLS/RTP/SAVPF \(list)\r\nc=IN IP4 0.0.0.0\r\na=mid:\(mid)\r\na=\(direction)\r
                a=rtcp-mux\r\na=ice-ufrag:peer\r\na=ice-pwd:abcdabcdabcdabcdabcdabcd\r\na=setup:actpass\r
                a=fingerprint:sha-256 \(fingerprint)\r\n\(maps.joined())
                """
        }
        let slot = played.map { section(1, "recvonly", $0) } ?? ""
        return "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\(played == nil ? "" : " 1")\r\n"
            + section(0, "sendonly", sent) + slot
    }

    private struct Call {
        let running: RunningGateway

        /// What the answer lets the participant publish, in its order.
        func join(_ name: String, _ sdp: String, _ part: LegOffer.Part = .participant) async throws -> [String] {
            let key = LegKey(call: "call", participant: name)
            let answer = try await running.server.answer(LegOffer(key: key, sdp: sdp, part: part))
            let sections = try SessionDescription(parsing: answer.sdp).sections
            return try #require(sections.first).payloads.compactMap { $0.encoding?.name }
        }
    }

    private let all = ["AV1", "H264", "VP9", "VP8"]

    @Test("each offer is answered in its own order, and a leg with fewer codecs makes the others offer again")
    func common() async throws {
        let running = try RunningGateway()
        defer { running.server.stop() }
        let call = Call(running: running)
        #expect(try await call.join("ann", offer(all, all)) == all)
        #expect(try await call.join("ben", offer(["VP9", "VP8"], all)) == ["VP9", "VP8"])
        #expect(running.outdated.isEmpty, "Everybody can play everything.")
        #expect(try await call.join("cem", offer(all, ["VP8", "H264"])) == ["AV1", "H264", "VP9", "VP8"])
        #expect(running.outdated == ["ann", "ben"], "What Cem sends all others can play.")
        #expect(try await call.join("ann", offer(all, all)) == ["H264", "VP8"])
        #expect(try await call.join("ben", offer(["VP9", "VP8"], all)) == ["VP8"])
        #expect(running.outdated.suffix(1) == ["ben"] && running.outdated.count == 3)
        running.server.end(LegKey(call: "call", participant: "cem"))
        #expect(try await call.join("ann", offer(all, all)) == all)
        #expect(running.outdated.count == 3)
    }

    @Test("a leg without a common codec publishes all the same, and need not offer again")
    func alone() async throws {
        let running = try RunningGateway()
        defer { running.server.stop() }
        let call = Call(running: running)
        #expect(try await call.join("ann", offer(["H264"], ["VP8"])) == ["H264"])
        #expect(try await call.join("ben", offer(["VP8"], ["VP8"])) == ["VP8"])
        #expect(running.outdated.isEmpty)
        // WHIP and WHEP clients cannot be notified later: they get VP8 if they support it, and view what others send.
        #expect(try await call.join("cem", offer(all, nil), .publisher) == ["VP8"])
        #expect(try await call.join("dora", offer(["AV1", "H264"], nil), .publisher) == ["AV1", "H264"])
        #expect(running.outdated.isEmpty)
    }

    @Test("a publisher of another H.264 is rejected, and leaves no leg; a participant is answered without it")
    func otherProfile() async throws {
        let running = try RunningGateway()
        defer { running.server.stop() }
        let call = Call(running: running)
        let main = offer(["H264"], nil).replacing("42e01f", with: "4d000d")
        do {
            _ = try await call.join("ann", main, .publisher)
            Issue.record("It was answered.")
        } catch let rejection as LegRejection {
            guard case .codecsNotSupported(let why) = rejection else {
                Issue.record("\(rejection)")
                return
            }
            #expect(why.hasPrefix("section 1 (mid 0): no codec of this call is offered in it"))
            #expect(why.contains("profile-level-id=4d000d") && why.contains("H264 (profile=baseline)"))
        }
        let baseline = main.replacing("4d000d", with: "42000d")
        #expect(try await call.join("ann", baseline, .publisher) == ["H264"])
        let mixed = offer(["H264"], ["VP8"]).replacing("42e01f", with: "4d000d")
        let key = LegKey(call: "call", participant: "ben")
        let answer = try await running.server.answer(LegOffer(key: key, sdp: mixed))
        #expect(try SessionDescription(parsing: answer.sdp).sections.map(\.isRejected) == [true, false])
    }

    @Test("codecs that are not configured are in no answer")
    func configured() async throws {
        let running = try RunningGateway { $0.videoCodecs = [.vp8, .vp9(profile: 0)] }
        defer { running.server.stop() }
        #expect(try await Call(running: running).join("ann", offer(all, all)) == ["VP9", "VP8"])
    }
}
