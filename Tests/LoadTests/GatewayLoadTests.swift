import MediaGateway
import SDP
import SecureMedia
import Synchronization
import Testing
import Wire

@testable import switchboard_load

/// The load against the gateway's host in the same process: real sockets, ICE, DTLS and SRTP, without a call's life around.
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
    ) async throws -> (report: MediaReport, figures: GatewayFigures, lost: Int) {
        var configuration = GatewayConfiguration()
        configuration.port = 0
        configuration.workers = loss > 0 ? 1 : 2
        configuration.listen = [IPAddress(ipv4: 0x7F00_0001)]
        let server = try GatewayServer.start(configuration) { _ in }
        defer { server.stop() }
        let people = (0..<load.calls * load.participants).map { VirtualUser(user: "p\($0)", token: "") }
        let door = HostDoor(server: server, loss: loss)
        defer { door.path.withLock { $0 }?.stop() }
        let report = try await MediaRun(load, door, people: people, processID: nil).perform()
        return (report, server.figures, door.path.withLock { $0 }?.lostCount ?? 0)
    }

    @Test("two hear each other with every profile", arguments: SRTPProfile.preferred)
    func profiles(profile: SRTPProfile) async throws {
        let (report, _, _) = try await Self.run(Self.load { $0.profiles = [profile] })
        #expect(report.tally.errors.isEmpty && report.legs == 2)
        #expect(report.tally.profiles == [profile.name: 2])
        #expect(report.tally.audio.streams == 2 && report.tally.audio.silent == 0)
        #expect(report.tally.audio.account.lost == 0 && report.tally.audio.account.duplicates == 0)
        #expect(report.tally.audio.account.packets > 0 && report.tally.refused == 0)
    }

    @Test("groups see and hear each other, and those who publish nothing too")
    func group() async throws {
        let (report, _, _) = try await Self.run(
            Self.load {
                $0.calls = 2
                $0.participants = 4
                $0.publishers = 3
                $0.video = true
                // Who joins waits for a key frame, which takes its time where the machine is busy.
                $0.seconds = 2
            })
        #expect(report.tally.errors.isEmpty && report.legs == 8)
        // Three who see two, and one who sees three.
        #expect(report.tally.audio.streams == 18 && report.tally.video.streams == 18)
        #expect(report.tally.audio.silent == 0 && report.tally.video.silent == 0)
        #expect(report.tally.audio.account.lost == 0 && report.tally.video.account.lost == 0)
        #expect(report.tally.feedback > 0)
    }

    @Test("legs come and go")
    func churn() async throws {
        let (report, _, _) = try await Self.run(
            Self.load {
                $0.participants = 3
                $0.publishers = 3
                // Each goes at least twice: its page is loaded again, and it leaves the call.
                $0.churn = 6
                $0.seconds = 3
            })
        #expect(report.tally.errors.isEmpty)
        #expect(report.tally.left > 3 && report.tally.joined == 3 + report.tally.left)
        #expect(report.tally.audio.account.lost == 0)
    }

    @Test("however many go at once, somebody stays in the call")
    func crowdedChurn() async throws {
        let (report, _, _) = try await Self.run(
            Self.load {
                $0.calls = 2
                $0.participants = 3
                $0.publishers = 3
                // All of them are always about to go.
                $0.churn = 1000
                $0.seconds = 3
            })
        #expect(report.tally.errors.isEmpty)
        #expect(report.tally.left > 6 && report.tally.joined == 6 + report.tally.left)
    }

    @Test("what a path loses of video is asked for and sent again, on both sides of the gateway")
    func repair() async throws {
        let (report, _, lost) = try await Self.run(
            Self.load {
                $0.video = true
                $0.seconds = 2
                $0.bitrate = 1_000_000
            }, loss: 0.05)
        let (audio, video) = (report.tally.audio.account, report.tally.video.account)
        #expect(report.tally.errors.isEmpty && lost > 0)
        // Nobody asks for audio again.
        #expect(audio.lost > 0 && audio.repaired == 0)
        #expect(video.repaired > 0 && report.tally.nacks > 0 && report.tally.resent > 0)
        #expect(video.loss < 0.01, "\(video.lost) of \(video.packets) were lost for good")
        #expect(report.tally.video.silent == 0)
    }

    @Test("junk from the legs' own addresses changes nothing")
    func junk() async throws {
        let (report, figures, _) = try await Self.run(Self.load { $0.junk = 1000 })
        #expect(report.tally.errors.isEmpty && report.tally.junk > 0)
        #expect(report.tally.audio.silent == 0 && report.tally.audio.account.lost == 0)
        let dropped = figures.dropped
        #expect(dropped.secured > 0 && dropped.record > 0 && dropped.check > 0)
    }
}

/// The gateway's host as a door. A call ends when nobody is in it any more, as the server's calls do.
private final class HostDoor: MediaDoor {
    private static let calls = Atomic<Int>(0)
    let server: GatewayServer
    private let loss: Double
    /// What legs take for the gateway, where something is to be lost.
    let path = Mutex<LossyPath?>(nil)
    /// The seats that are in each call; none once it has ended.
    private let present = Mutex<[String: Set<Int>]>([:])

    init(server: GatewayServer, loss: Double) {
        self.server = server
        self.loss = loss
    }

    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall {
        let number = Self.calls.wrappingAdd(1, ordering: .relaxed).newValue
        let call = MediaCall(
            id: "call\(number)", seats: people.map { .init(person: $0, endpoint: $0.user, secret: "") })
        present.withLock { $0[call.id] = Set(call.seats.indices.prefix(2)) }
        return call
    }

    func join(
        _ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        let opening = try maker.open(wishes)
        let key = LegKey(call: call.id, participant: call.seats[seat].endpoint)
        let answer = try await server.answer(LegOffer(key: key, sdp: opening.offer.text))
        let plan = try LegPlan(opening.offer, answer: answer.sdp)
        guard loss > 0, let gateway = plan.candidates.first else { return [try await maker.connect(opening, plan)] }
        let address = try path.withLock { path in
            let made = try path ?? LossyPath(to: gateway, loss: loss, seed: 3)
            path = made
            return made.address
        }
        var description = try SessionDescription(parsing: answer.sdp)
        for section in description.sections.indices {
            for index in description.sections[section].candidates.indices {
                description.sections[section].candidates[index].port = address.port
            }
        }
        return [try await maker.connect(opening, LegPlan(opening.offer, answer: description.text))]
    }

    func watch(
        _ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] { [] }

    func leave(_ seat: Int, of call: MediaCall) async throws {
        present.withLock { _ = $0[call.id]?.remove(seat) }
        server.end(LegKey(call: call.id, participant: call.seats[seat].endpoint))
    }

    func enter(_ seat: Int, of call: MediaCall) async throws {
        try present.withLock { present in
            guard present[call.id]?.isEmpty == false else { throw MediaFailure("the call has ended") }
            present[call.id]?.insert(seat)
        }
    }

    func end(_ call: MediaCall) async {
        for seat in call.seats { server.end(LegKey(call: call.id, participant: seat.endpoint)) }
    }
}
