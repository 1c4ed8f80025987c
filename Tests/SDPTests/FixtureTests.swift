import SDP
import Testing

@Suite("Offers of real clients")
struct FixtureTests {
    @Test("there are some of every client")
    func present() {
        for client in ["chromium", "firefox", "aiortc", "gstreamer"] {
            #expect(Offers.names.contains { $0.hasPrefix(client) })
        }
    }

    @Test("each is read, written, and read again as the same", arguments: Offers.names)
    func roundTrip(name: String) throws {
        let offer = try Offers.description(name)
        #expect(try SessionDescription(parsing: offer.text) == offer)
        // Every line but the order is kept: what is written has as many lines as what was read.
        let written = Set(offer.text.split(separator: "\r\n"))
        let lost = try Offers.text(name).split(separator: "\r\n").filter { line in
            // Candidates are written in small letters, and so is G722's one channel kept.
            !written.contains(line) && !line.hasPrefix("a=candidate")
        }
        #expect(lost == [])
    }

    @Test("LF alone is as good as CR LF", arguments: Offers.names)
    func lineEnds(name: String) throws {
        let text = try Offers.text(name).replacing("\r\n", with: "\n")
        #expect(try SessionDescription(parsing: text) == Offers.description(name))
    }

    @Test("Chromium's camera has three encodings and retransmissions")
    func chromium() throws {
        let offer = try Offers.description("chromium-life-1")
        #expect(offer.bundle == ["0", "1", "2", "3", "4", "5", "6"])
        #expect(offer.attributes.allowsMixedExtensions)
        let audio = try #require(offer.sections.first)
        #expect(audio.kind == "audio" && audio.direction == .sendOnly && audio.mid == "0")
        #expect(audio.attributes.setup == .actpass && audio.hasRTCPMultiplexing && audio.hasReducedSizeRTCP)
        #expect(audio.attributes.fingerprints.map(\.algorithm) == ["sha-256"])
        #expect(audio.attributes.fingerprints.first?.digest.count == 32)
        #expect(audio.attributes.iceOptions == ["trickle"])
        #expect(audio.payloads.first?.encoding == PayloadFormat.Encoding("opus", clockRate: 48000, channels: 2))
        #expect(audio.payloads.first?.parameter("useinbandfec") == "1")
        #expect(audio.candidates.contains { $0.transport == "tcp" && $0.tcpType == "active" && $0.port == 9 })
        let video = offer.sections[1]
        #expect(video.simulcast?.send == ["q", "h", "f"].map { [Simulcast.Choice($0)] })
        #expect(video.restrictionIDs.map(\.id) == ["q", "h", "f"])
        #expect(video.payloads[0].feedback == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
        #expect(video.payloads[1].parameter("apt") == "96")
        #expect(offer.sections.filter { $0.direction == .receiveOnly }.count == 5)
    }

    @Test("Chromium's stopped screen is rejected, and its place is taken")
    func recycling() throws {
        #expect(try Offers.description("chromium-life-3").sections[7].isRejected)
        let recycled = try Offers.description("chromium-life-4").sections
        #expect(recycled[7].mid == "9" && !recycled[7].isRejected)
        let (before, after) = try (Offers.description("chromium-life-4"), Offers.description("chromium-life-5"))
        #expect(before.sections[0].attributes.iceUfrag != after.sections[0].attributes.iceUfrag)
        #expect(after.sections[0].direction == .inactive)
    }

    @Test("Firefox bundles from the start and keeps its fingerprint above the sections")
    func firefox() throws {
        let offer = try Offers.description("firefox-life-1")
        #expect(offer.attributes.fingerprints.count == 1)
        let video = offer.sections[1]
        #expect(video.port == 0 && video.isBundleOnly && !video.isRejected)
        #expect(video.sourceGroups.count == 3 && video.sourceGroups[0].semantics == "FID")
        #expect(video.attributes.extensions.contains { $0.direction == .sendOnly && $0.uri.contains("stream-id") })
        #expect(try Offers.description("firefox-life-3").sections[7].isRejected)
        let data = try #require(Offers.description("firefox-plain-1").sections.last)
        #expect(data.kind == "application" && data.formats == ["webrtc-datachannel"] && data.sctpPort == 5000)
    }

    @Test("aiortc names three digests, webrtcbin its sections by words")
    func others() throws {
        let aiortc = try Offers.description("aiortc-1")
        #expect(aiortc.sections[0].attributes.fingerprints.map(\.algorithm) == ["sha-256", "sha-384", "sha-512"])
        #expect(aiortc.sections[0].hasEndOfCandidates)
        let gstreamer = try Offers.description("gstreamer-1")
        #expect(gstreamer.bundle == ["audio0", "video1", "audio2", "video3"])
        #expect(gstreamer.sections[0].payloads[0].encoding?.name == "OPUS")
    }
}
