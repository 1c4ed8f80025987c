import ICE
import OpenSSLCrypto
import RTP
import SDP
import Testing
import Wire

@testable import switchboard_load

@Suite("Offers and answers of a load")
struct MediaOfferTests {
    private let fingerprint: CertificateFingerprint
    private let credentials: LocalCredentials

    init() throws {
        // The macro does not take a name with its module.
        let hash = CertificateFingerprint(.sha256, [UInt8](repeating: 7, count: 32))
        fingerprint = try #require(hash)
        let random = [UInt8](repeating: 5, count: LocalCredentials.randomByteCount)
        let made = LocalCredentials(random: random.span.bytes)
        credentials = try #require(made)
    }

    /// A gateway's answer.
    private func answer(_ offer: MediaOffer, setup: SetupRole? = nil) throws -> SessionDescription {
        var candidates = [
            Candidate(
                foundation: "1", transport: "udp", priority: 2, address: "192.0.2.1", port: 3480, type: "host"),
            Candidate(
                foundation: "2", transport: "udp", priority: 9, address: "192.0.2.2", port: 3480, type: "host"),
            Candidate(
                foundation: "3", transport: "udp", priority: 1, address: "2001:db8::1", port: 3480, type: "host"),
            Candidate(
                foundation: "4", transport: "tcp", priority: 1, address: "192.0.2.1", port: 3480, type: "host",
                tcpType: "passive"),
        ]
        candidates.append(
            Candidate(foundation: "5", transport: "udp", priority: 3, address: "name.local", port: 1, type: "host"))
        let transport = GatewayTransport(
            fingerprints: [FingerprintAttribute(algorithm: "sha-256", digest: [UInt8](repeating: 9, count: 32))],
            candidates: candidates,
            freshCredentials: ICECredentials(ufrag: "theirufrag", password: "theirpasswordtheirpassword"))
        var negotiation = LegNegotiation(session: 1)
        var slot: UInt32 = 100
        let leg = try negotiation.answer(
            try SessionDescription(parsing: offer.text), GatewayCapabilities(), transport
        ) { _ in
            slot += 2
            return SlotIdentity(
                ssrc: slot, retransmissionSSRC: slot + 1, cname: "c", stream: "s", track: "t\(slot)")
        }
        var answer = leg.answer
        if let setup { for index in answer.sections.indices { answer.sections[index].attributes.setup = setup } }
        return answer
    }

    @Test("the plan contains what the gateway answers")
    func plan() throws {
        let parameters = MediaParameters(audio: true, video: true, audioSlots: 2, videoSlots: 3)
        let offer = MediaOffer(parameters, credentials, fingerprint: fingerprint)
        let plan = try LegPlan(offer, answer: answer(offer).text)
        #expect(plan.tracks.map(\.kind) == [.audio, .video])
        #expect(plan.tracks.map(\.payloadType) == [MediaOffer.opus, MediaOffer.vp8])
        #expect(plan.tracks.map(\.retransmission) == [nil, MediaOffer.vp8Retransmission])
        #expect(plan.streams.map(\.kind) == [.audio, .audio, .video, .video, .video])
        #expect(plan.streams.map(\.ssrc) == [102, 104, 106, 108, 110])
        #expect(plan.streams.map(\.canRepair) == [false, false, true, true, true])
        #expect(plan.streams.last?.retransmissionSSRC == 111)
        #expect(plan.remote == RemoteCredentials(ufrag: "theirufrag", password: "theirpasswordtheirpassword"))
        #expect(
            plan.candidates.map(\.description) == ["192.0.2.2:3480", "192.0.2.1:3480"], "the best first, one family")
        #expect(plan.fingerprints.map(\.bytes) == [[UInt8](repeating: 9, count: 32)])
        let ids = plan.extensions
        #expect(
            ids[.audioLevel] == 1 && ids[.absoluteSendTime] == 2 && ids[.transportSequence] == 3
                && ids[.mediaIdentification] == 4)
    }

    @Test("a participant who publishes nothing offers only slots")
    func watching() throws {
        let parameters = MediaParameters(audio: false, video: false, audioSlots: 1, videoSlots: 1)
        let offer = MediaOffer(parameters, credentials, fingerprint: fingerprint)
        let plan = try LegPlan(offer, answer: answer(offer).text)
        #expect(plan.tracks.isEmpty && plan.streams.count == 2)
    }

    @Test("an answer that cannot be used is described by the error")
    func errors() throws {
        let offer = MediaOffer(MediaParameters(), credentials, fingerprint: fingerprint)
        var messages: [String] = []
        func note(_ text: String) {
            do {
                _ = try LegPlan(offer, answer: text)
            } catch {
                messages.append("\(error)")
            }
        }
        note("nonsense")
        note(try answer(offer, setup: .active).text)
        var bare = try answer(offer)
        for index in bare.sections.indices { bare.sections[index].candidates = [] }
        note(bare.text)
        var inactive = try answer(offer)
        inactive.sections[0].attributes.direction = .inactive
        note(inactive.text)
        var rejecting = try answer(offer)
        for index in rejecting.sections.indices { rejecting.sections[index].port = 0 }
        note(rejecting.text)
        let expected = [
            "cannot be read", "be the DTLS client", "no UDP candidate", "does not accept the audio of mid 0",
            "rejects every section",
        ]
        #expect(messages.count == expected.count)
        for (message, part) in zip(messages, expected) { #expect(message.contains(part)) }
    }

    @Test("a server's offer is answered section by section")
    func answering() throws {
        let theirs = MediaOffer(
            MediaParameters(audio: true, video: true, audioSlots: 0), credentials, fingerprint: fingerprint)
        let offer = try SessionDescription(parsing: theirs.text)
        let answer = try SessionDescription(
            parsing: MediaAnswer(to: offer, credentials, fingerprint: fingerprint).text)
        #expect(answer.sections.map(\.mid) == ["0", "1"] && answer.bundle == ["0", "1"])
        #expect(answer.sections.allSatisfy { $0.direction == .receiveOnly && $0.attributes.setup == .active })
        #expect(answer.sections.map { $0.payloads.map(\.payloadType) } == [[111], [96, 97]])
    }
}
