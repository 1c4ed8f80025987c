import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Synchronization
import Testing
import Wire

@testable import switchboard_load

/// The echo's side of a call of two, without signalling: real sockets, ICE, DTLS and SRTP on the loopback.
@Suite("An echo of a call of two", .serialized)
struct EchoPeerTests {
    private static let loopback = EchoAddresses([IPAddress(ipv4: 0x7F00_0001)])

    private static func run(
        video: Bool, loss: Double = 0
    ) async throws -> (report: MediaReport, events: [EchoLegEvent]) {
        let load = MediaLoad(
            calls: 1, participants: 2, publishers: 2, video: video, bitrate: 500_000, seconds: 1.5, warmUp: 0.3,
            profiles: SRTPProfile.preferred, churn: 0, junk: 0, threads: 1)
        let client = try EchoClient(loss: loss)
        defer { client.stop() }
        let people = (0..<2).map { VirtualUser(user: "p\($0)", token: "") }
        let report = try await MediaRun(load, client, people: people, processID: nil).run()
        return (report, client.events.withLock { $0 })
    }

    @Test("each of two callers receives all of its own audio and video")
    func media() async throws {
        let (report, events) = try await Self.run(video: true)
        let counters = report.counters
        #expect(counters.errors.isEmpty && report.legs == 2)
        #expect(counters.audio.streams == 2 && counters.audio.silent == 0 && counters.audio.account.lost == 0)
        #expect(counters.video.streams == 2 && counters.video.silent == 0 && counters.video.account.lost == 0)
        #expect(counters.audio.account.packets > 0 && counters.video.account.packets > 0)
        #expect(counters.audio.account.duplicates == 0 && counters.video.account.duplicates == 0)
        #expect(events.filter { if case .connected = $0 { true } else { false } }.count == 2)
        #expect(
            events.filter { $0 == .echoes(.audio) }.count == 2 && events.filter { $0 == .echoes(.video) }.count == 2)
    }

    @Test("lost video packets are requested by the echo, and from it")
    func repair() async throws {
        let (report, _) = try await Self.run(video: true, loss: 0.05)
        let (audio, video) = (report.counters.audio.account, report.counters.video.account)
        #expect(report.counters.errors.isEmpty)
        #expect(audio.lost > 0 && audio.repaired == 0, "audio is not retransmitted")
        #expect(report.counters.resent > 0, "the echo requests what did not arrive")
        #expect(video.repaired > 0 && report.counters.nacks > 0, "and sends again what it sent")
        #expect(video.loss < 0.02, "\(video.lost) of \(video.packets) were lost for good")
    }

    private static func offer(
        _ directions: [(MediaKind, Direction)], credentials: LocalCredentials, _ identity: EchoIdentity
    ) throws -> SessionDescription {
        let all = MediaOffer(
            MediaParameters(audio: true, video: true, audioSlots: 1, videoSlots: 1), credentials,
            fingerprint: identity.fingerprint)
        var offer = try SessionDescription(parsing: all.text)
        let prototypes = offer.sections
        offer.sections = try directions.enumerated().map { index, wanted in
            let same = prototypes.first { $0.kind == wanted.0.rawValue && $0.direction == .sendOnly }
            var section = try #require(same)
            section.mid = "\(index)"
            section.attributes.direction = wanted.1
            section.sources = [SourceAttribute(UInt32(1000 + index), "cname", "caller")]
            section.sourceGroups = []
            return section
        }
        offer.groups = [SectionGroup("BUNDLE", offer.sections.compactMap(\.mid))]
        return offer
    }

    @Test("a section goes back in itself, in another of its kind, or nowhere")
    func routes() throws {
        let identity = try EchoIdentity(isServer: false)
        let credentials = try LocalCredentials.random()
        func routes(_ directions: [(MediaKind, Direction)]) throws -> [EchoRoute] {
            var peer = try EchoPeer(Self.loopback)
            let outcome = try peer.answer(try Self.offer(directions, credentials: credentials, identity))
            guard case .begin(let plan, _) = outcome else { return [] }
            return plan.media.routes
        }
        let both = try routes([(.audio, .sendReceive), (.video, .sendReceive)])
        #expect(both.map(\.receivedMID) == ["0", "1"] && both.map(\.sentMID) == ["0", "1"])
        #expect(both.map { $0.sources.map(\.ssrc) } == [[1000], [1001]])
        #expect(both.map { $0.codecs.map(\.payloadType) } == [[111], [96]])
        #expect(Set(both.flatMap { [$0.ssrc, $0.retransmissionSSRC] }).count == 4)
        let apart = try routes([(.audio, .sendOnly), (.video, .receiveOnly), (.audio, .receiveOnly)])
        #expect(apart.map(\.receivedMID) == ["0"] && apart.map(\.sentMID) == ["2"])
        #expect(try routes([(.audio, .receiveOnly)]).isEmpty)
    }

    @Test("later offers change the connection, and those of another need a new one")
    func laterOffers() throws {
        let identity = try EchoIdentity(isServer: false)
        let credentials = try LocalCredentials.random()
        var peer = try EchoPeer(Self.loopback)
        let audio = try Self.offer([(.audio, .sendReceive)], credentials: credentials, identity)
        guard case .begin(let plan, let text) = try peer.answer(audio) else {
            Issue.record("the first offer begins a leg")
            return
        }
        let answer = try SessionDescription(parsing: text)
        #expect(answer.isICELite && answer.sections.allSatisfy { $0.attributes.setup == .passive })
        #expect(answer.sections.first?.candidates.map(\.address) == ["127.0.0.1"])
        #expect(answer.sections.first?.candidates.map(\.port) == plan.sockets.map(\.address.port))

        let video = try Self.offer(
            [(.audio, .sendReceive), (.video, .sendReceive)], credentials: credentials, identity)
        guard case .change(let change, _) = try peer.answer(video) else {
            Issue.record("the second offer changes the leg")
            return
        }
        #expect(change.restart == nil && change.media.routes.count == 2)
        #expect(change.media.routes.first?.ssrc == plan.media.routes.first?.ssrc, "the audio goes on")

        let restarted = try Self.offer(
            [(.audio, .sendReceive), (.video, .sendReceive)], credentials: try LocalCredentials.random(), identity)
        guard case .change(let next, _) = try peer.answer(restarted) else {
            Issue.record("an ICE restart changes the leg")
            return
        }
        #expect(next.restart != nil)

        let other = try Self.offer(
            [(.audio, .sendReceive)], credentials: credentials, try EchoIdentity(isServer: false))
        do {
            _ = try peer.answer(other)
            Issue.record("an offer with another certificate was answered")
        } catch {
            #expect(EchoPeer.isOfAnotherConnection(error))
        }
        #expect(!EchoPeer.isOfAnotherConnection(MediaFailure("another")))
    }
}

/// Virtual participants who each call an echo of their own.
private final class EchoClient: MediaServerClient {
    private let worker: EchoWorker
    private let loss: Double
    private let paths = Mutex<[LossyPath]>([])
    let events = Mutex<[EchoLegEvent]>([])

    init(loss: Double) throws {
        worker = try EchoWorker()
        self.loss = loss
    }

    func stop() {
        worker.stop()
        for path in paths.withLock({ $0 }) { path.stop() }
    }

    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall {
        MediaCall(id: "call", members: people.map { .init(person: $0, endpoint: $0.user, secret: "") })
    }

    func join(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        let opening = try maker.open(parameters)
        var peer = try EchoPeer(EchoAddresses([IPAddress(ipv4: 0x7F00_0001)]))
        let outcome = try peer.answer(try SessionDescription(parsing: opening.offer.text))
        guard case .begin(let plan, var answer) = outcome else { throw MediaFailure("no first answer") }
        _ = worker.open(plan, EchoCounts()) { [self] _, event in events.withLock { $0.append(event) } }
        if loss > 0, let address = plan.sockets.first?.address {
            let path = try LossyPath(to: address, loss: loss, seed: UInt64(index) + 3)
            paths.withLock { $0.append(path) }
            answer = try moved(answer, to: path.address.port)
        }
        return [try await maker.connect(opening, LegPlan(opening.offer, answer: answer))]
    }

    private func moved(_ answer: String, to port: UInt16) throws -> String {
        var description = try SessionDescription(parsing: answer)
        for section in description.sections.indices {
            for candidate in description.sections[section].candidates.indices {
                description.sections[section].candidates[candidate].port = port
            }
        }
        return description.text
    }

    func watch(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] { [] }
    func leave(_ index: Int, of call: MediaCall) async throws {}
    func enter(_ index: Int, of call: MediaCall) async throws {}
    func end(_ call: MediaCall) async {}
}
