import MediaGateway
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

    private static func run(_ load: MediaLoad) async throws -> (report: MediaReport, figures: GatewayFigures) {
        var configuration = GatewayConfiguration()
        configuration.port = 0
        configuration.workers = 2
        configuration.listen = [IPAddress(ipv4: 0x7F00_0001)]
        let server = try GatewayServer.start(configuration) { _ in }
        defer { server.stop() }
        let people = (0..<load.calls * load.participants).map { VirtualUser(user: "p\($0)", token: "") }
        let report = try await MediaRun(load, HostDoor(server: server), people: people, processID: nil).perform()
        return (report, server.figures)
    }

    @Test("two hear each other with every profile", arguments: SRTPProfile.preferred)
    func profiles(profile: SRTPProfile) async throws {
        let (report, _) = try await Self.run(Self.load { $0.profiles = [profile] })
        #expect(report.tally.errors.isEmpty && report.legs == 2)
        #expect(report.tally.profiles == [profile.name: 2])
        #expect(report.tally.audio.streams == 2 && report.tally.audio.silent == 0)
        #expect(report.tally.audio.account.lost == 0 && report.tally.audio.account.duplicates == 0)
        #expect(report.tally.audio.account.packets > 0 && report.tally.refused == 0)
    }

    @Test("groups see and hear each other, and those who publish nothing too")
    func group() async throws {
        let (report, _) = try await Self.run(
            Self.load {
                $0.calls = 2
                $0.participants = 4
                $0.publishers = 3
                $0.video = true
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
        let (report, _) = try await Self.run(
            Self.load {
                $0.participants = 3
                $0.publishers = 3
                $0.churn = 3
                $0.seconds = 1
            })
        #expect(report.tally.errors.isEmpty)
        #expect(report.tally.left > 0 && report.tally.joined == 3 + report.tally.left)
        #expect(report.tally.audio.account.lost == 0)
    }

    @Test("junk from the legs' own addresses changes nothing")
    func junk() async throws {
        let (report, figures) = try await Self.run(Self.load { $0.junk = 1000 })
        #expect(report.tally.errors.isEmpty && report.tally.junk > 0)
        #expect(report.tally.audio.silent == 0 && report.tally.audio.account.lost == 0)
        let dropped = figures.dropped
        #expect(dropped.secured > 0 && dropped.record > 0 && dropped.check > 0)
    }
}

/// The gateway's host as a door.
private struct HostDoor: MediaDoor {
    private static let calls = Atomic<Int>(0)
    let server: GatewayServer

    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall {
        let number = Self.calls.wrappingAdd(1, ordering: .relaxed).newValue
        return MediaCall(
            id: "call\(number)", seats: people.map { .init(person: $0, endpoint: $0.user, secret: "") })
    }

    func join(
        _ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        let opening = try maker.open(wishes)
        let key = LegKey(call: call.id, participant: call.seats[seat].endpoint)
        let answer = try await server.answer(LegOffer(key: key, sdp: opening.offer.text))
        return [try await maker.connect(opening, LegPlan(opening.offer, answer: answer.sdp))]
    }

    func watch(
        _ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] { [] }

    func end(_ call: MediaCall) async {
        for seat in call.seats { server.end(LegKey(call: call.id, participant: seat.endpoint)) }
    }
}
