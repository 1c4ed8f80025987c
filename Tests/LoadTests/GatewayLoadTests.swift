import MediaGateway
import SDP
import SecureMedia
import Synchronization
import Testing
import Wire

@testable import switchboard_load

/// The load against the gateway's host in the same process: real sockets, ICE, DTLS and SRTP, without signalling.
@Suite("A load on the gateway's host", .serialized)
struct GatewayLoadTests {
    private static func load(_ change: (inout MediaLoad) -> Void = { _ in }) -> MediaLoad {
        var load = MediaLoad(
            calls: 1, participants: 2, publishers: 2, video: false, bitrate: 300_000, seconds: 0.5, warmUp: 0.2,
            profiles: SRTPProfile.preferred, churn: 0, junk: 0, threads: 1)
        change(&load)
        return load
    }

    private static func run(
        _ load: MediaLoad, loss: Double = 0
    ) async throws -> (report: MediaReport, stats: GatewayStats, lost: Int) {
        var configuration = GatewayConfiguration()
        configuration.port = 0
        configuration.workers = loss > 0 ? 1 : 2
        configuration.listen = [IPAddress(ipv4: 0x7F00_0001)]
        let server = try GatewayServer.start(configuration) { _ in }
        defer { server.stop() }
        let people = (0..<load.calls * load.participants).map { VirtualUser(user: "p\($0)", token: "") }
        let client = InProcessGatewayClient(server: server, loss: loss)
        defer { client.path.withLock { $0 }?.stop() }
        let report = try await MediaRun(load, client, people: people, processID: nil).run()
        return (report, server.stats, client.path.withLock { $0 }?.lostCount ?? 0)
    }

    @Test("two participants receive each other with every profile", arguments: SRTPProfile.preferred)
    func profiles(profile: SRTPProfile) async throws {
        let (report, _, _) = try await Self.run(Self.load { $0.profiles = [profile] })
        #expect(report.counters.errors.isEmpty && report.legs == 2)
        #expect(report.counters.profiles == [profile.name: 2])
        #expect(report.counters.audio.streams == 2 && report.counters.audio.silent == 0)
        #expect(report.counters.audio.account.lost == 0 && report.counters.audio.account.duplicates == 0)
        #expect(report.counters.audio.account.packets > 0 && report.counters.refused == 0)
    }

    @Test("members of groups receive each other, and so do those who publish nothing")
    func group() async throws {
        let (report, _, _) = try await Self.run(
            Self.load {
                $0.calls = 2
                $0.participants = 4
                $0.publishers = 3
                $0.video = true
                // A receiver waits for a key frame, which takes a while on a busy machine.
                $0.seconds = 2
            })
        #expect(report.counters.errors.isEmpty && report.legs == 8)
        // Three who see two, and one who sees three.
        #expect(report.counters.audio.streams == 18 && report.counters.video.streams == 18)
        #expect(report.counters.audio.silent == 0 && report.counters.video.silent == 0)
        #expect(report.counters.audio.account.lost == 0 && report.counters.video.account.lost == 0)
        #expect(report.counters.feedback > 0)
    }

    @Test("participants leave and rejoin")
    func churn() async throws {
        let (report, _, _) = try await Self.run(
            Self.load {
                $0.participants = 3
                $0.publishers = 3
                // Each leaves at least twice: its page is reloaded, and it leaves the call.
                $0.churn = 6
                $0.seconds = 3
            })
        #expect(report.counters.errors.isEmpty)
        #expect(report.counters.left > 3 && report.counters.joined == 3 + report.counters.left)
        #expect(report.counters.audio.account.lost == 0)
    }

    @Test("however many leave at once, somebody stays in the call")
    func crowdedChurn() async throws {
        let (report, _, _) = try await Self.run(
            Self.load {
                $0.calls = 2
                $0.participants = 3
                $0.publishers = 3
                // All of them are always due to leave.
                $0.churn = 1000
                $0.seconds = 3
            })
        #expect(report.counters.errors.isEmpty)
        #expect(report.counters.left > 6 && report.counters.joined == 6 + report.counters.left)
    }

    @Test("lost video packets are retransmitted, on both sides of the gateway")
    func repair() async throws {
        let (report, _, lost) = try await Self.run(
            Self.load {
                $0.video = true
                $0.seconds = 2
                $0.bitrate = 1_000_000
            }, loss: 0.05)
        let (audio, video) = (report.counters.audio.account, report.counters.video.account)
        #expect(report.counters.errors.isEmpty && lost > 0)
        // Audio is not retransmitted.
        #expect(audio.lost > 0 && audio.repaired == 0)
        #expect(video.repaired > 0 && report.counters.nacks > 0 && report.counters.resent > 0)
        #expect(video.loss < 0.01, "\(video.lost) of \(video.packets) were lost for good")
        #expect(report.counters.video.silent == 0)
    }

    @Test("junk from the legs' own addresses has no effect")
    func junk() async throws {
        let (report, stats, _) = try await Self.run(Self.load { $0.junk = 1000 })
        #expect(report.counters.errors.isEmpty && report.counters.junk > 0)
        #expect(report.counters.audio.silent == 0 && report.counters.audio.account.lost == 0)
        let dropped = stats.dropped
        #expect(dropped.secured > 0 && dropped.record > 0 && dropped.check > 0)
    }
}

/// A client of the gateway's host in the same process. A call ends when nobody is in it any more, as on the server.
private final class InProcessGatewayClient: MediaServerClient {
    private static let calls = Atomic<Int>(0)
    let server: GatewayServer
    private let loss: Double
    /// The proxy that legs use instead of the gateway, if packets are to be lost.
    let path = Mutex<LossyPath?>(nil)
    /// The indices of the members in each call; none once it has ended.
    private let present = Mutex<[String: Set<Int>]>([:])

    init(server: GatewayServer, loss: Double) {
        self.server = server
        self.loss = loss
    }

    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall {
        let number = Self.calls.wrappingAdd(1, ordering: .relaxed).newValue
        let call = MediaCall(
            id: "call\(number)", members: people.map { .init(person: $0, endpoint: $0.user, secret: "") })
        present.withLock { $0[call.id] = Set(call.members.indices.prefix(2)) }
        return call
    }

    func join(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        let opening = try maker.open(parameters)
        let key = LegKey(call: call.id, participant: call.members[index].endpoint)
        let answer = try await server.answer(LegOffer(key: key, sdp: opening.offer.text))
        let plan = try LegPlan(opening.offer, answer: answer.sdp)
        guard loss > 0, let gateway = plan.candidates.first else { return [try await maker.connect(opening, plan)] }
        let address = try path.withLock { path in
            let lossy = try path ?? LossyPath(to: gateway, loss: loss, seed: 3)
            path = lossy
            return lossy.address
        }
        var description = try SessionDescription(parsing: answer.sdp)
        for section in description.sections.indices {
            for candidate in description.sections[section].candidates.indices {
                description.sections[section].candidates[candidate].port = address.port
            }
        }
        return [try await maker.connect(opening, LegPlan(opening.offer, answer: description.text))]
    }

    func watch(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] { [] }

    func leave(_ index: Int, of call: MediaCall) async throws {
        present.withLock { _ = $0[call.id]?.remove(index) }
        server.end(LegKey(call: call.id, participant: call.members[index].endpoint))
    }

    func enter(_ index: Int, of call: MediaCall) async throws {
        try present.withLock { present in
            guard present[call.id]?.isEmpty == false else { throw MediaFailure("the call has ended") }
            present[call.id]?.insert(index)
        }
    }

    func end(_ call: MediaCall) async {
        for member in call.members { server.end(LegKey(call: call.id, participant: member.endpoint)) }
    }
}
