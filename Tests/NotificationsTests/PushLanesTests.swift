import Model
import TestSupport
import Testing
import Wire

@testable import Notifications

@Suite struct PushLanesTests {
    /// The lanes, by reference: macros of the tests take no mutating methods. Each push is for another user, unless one is
    /// named.
    private final class Lanes {
        private var lanes: PushLanes
        private(set) var inFlight = 0

        init(_ limits: PushLanes.Limits = PushLanes.Limits()) { lanes = PushLanes(limits: limits) }

        func decide(_ host: String, for user: UserID = .make(at: start), isRing: Bool = false) -> PushLanes.Decision {
            let decision = lanes.begin(host, for: user, isRing: isRing, at: start)
            if case .begin = decision { inFlight += 1 }
            return decision
        }

        func begin(_ host: String, for user: UserID = .make(at: start)) -> PushLanes.Slot? {
            if case .begin(let slot) = decide(host, for: user) { slot } else { nil }
        }

        func begin(_ count: Int, _ host: String) -> [PushLanes.Slot] { (0..<count).compactMap { _ in begin(host) } }

        func wait(_ host: String, isRing: Bool = false) -> Int64? {
            if case .wait(let milliseconds) = decide(host, isRing: isRing) { milliseconds } else { nil }
        }

        func end(_ slot: PushLanes.Slot, hasResponded: Bool?) {
            inFlight -= 1
            lanes.end(slot, hasResponded: hasResponded, at: start)
        }
    }

    private static let start = Timestamp(milliseconds: 1_800_000_000_000)
    private let limits = PushLanes.Limits()

    @Test func thoseThatWorkGoOnHoweverManyHang() throws {
        let lanes = Lanes()
        lanes.end(try #require(lanes.begin("works")), hasResponded: true)
        let hosts = (0..<500).map { "hangs\($0)" }
        let unknown = hosts.compactMap { lanes.begin($0) }
        #expect(unknown.count == limits.unknown)
        for slot in unknown { lanes.end(slot, hasResponded: false) }
        let silent = hosts.prefix(limits.unknown).flatMap { lanes.begin(9, $0) }
        #expect(silent.count == limits.silent)
        #expect(lanes.begin("new") != nil, "those that hang take no slot of those that are not known")
        let configured = PushLanes.host(of: .fcm("a"))
        #expect(configured.contains("/"), "no client can name it")
        for host in ["works", "fcm.googleapis.com", "wns2-by3p.notify.windows.com", configured] {
            for _ in 0..<1_000 { lanes.end(try #require(lanes.begin(host)), hasResponded: true) }
            #expect(lanes.begin(100, host).count == 100, "\(host)")
        }
    }

    @Test func namesAloneMakeNoHostForgotten() throws {
        let lanes = Lanes()
        lanes.end(try #require(lanes.begin("works")), hasResponded: true)
        let slots = (0..<10_000).compactMap { lanes.begin("named\($0)") }
        #expect(slots.count == limits.unknown)
        for slot in slots { lanes.end(slot, hasResponded: false) }
        #expect(lanes.begin(1_000, "works").count > limits.unknownHost)
    }

    @Test func aHostHasAsManySlotsAsItDeserves() throws {
        let lanes = Lanes()
        let slots = lanes.begin(1_000, "host")
        #expect(slots.count == limits.unknownHost)
        for slot in slots { lanes.end(slot, hasResponded: nil) }
        #expect(lanes.begin(1_000, "host").count == limits.unknownHost, "nothing was learned of it")
        lanes.end(try #require(slots.first), hasResponded: true)
        #expect(lanes.begin(1_000, "host").count == limits.host - limits.unknownHost + 1)
        let other = lanes.begin(limits.unknownHost, "other")
        for slot in other { lanes.end(slot, hasResponded: false) }
        #expect(lanes.begin(1_000, "other").count == limits.silentHost)
    }

    @Test(arguments: [
        "fcm.googleapis.com.evil.example", "notify.windows.com", "evilnotify.windows.com", "FCM.googleapis.com",
    ])
    func whatOnlyLooksLikeAServiceIsNotKnown(host: String) {
        #expect(Lanes().begin(1_000, host).count == limits.unknownHost)
    }

    @Test func aUserHasFewSlots() throws {
        let (lanes, user) = (Lanes(), UserID.make(at: Self.start))
        let slots = (0..<100).compactMap { lanes.begin("host\($0)", for: user) }
        #expect(slots.count == limits.user)
        #expect(lanes.begin("host0") != nil, "another user")
        lanes.end(try #require(slots.last), hasResponded: false)
        #expect(lanes.begin("new", for: user) != nil && lanes.begin("new", for: user) == nil)
    }

    @Test func allTogetherAreBounded() {
        let lanes = Lanes()
        let hosts = ["a", "b", "c"].map { $0 + ".notify.windows.com" }
        let slots = hosts.flatMap { lanes.begin(500, $0) }
        #expect(slots.count == limits.all)
        for slot in slots { lanes.end(slot, hasResponded: true) }
        #expect(lanes.begin("d") != nil)
    }

    @Test func ringsWaitLessAndSilentHostsMore() throws {
        let lanes = Lanes()
        _ = lanes.begin(limits.unknownHost, "host")
        #expect(lanes.wait("host") == limits.wait && lanes.wait("host", isRing: true) == limits.ringWait)
        lanes.end(try #require(lanes.begin("silent")), hasResponded: false)
        _ = lanes.begin(limits.silentHost, "silent")
        #expect(lanes.wait("silent") == limits.silentWait)
        let waits = (0..<10_000).compactMap { _ in lanes.wait("silent") }
        #expect(waits.last == limits.maxWait && waits == waits.sorted())
    }

    /// All that was under way is lost with one connection.
    @Test func configuredServicesStayOpenAfterALostConnection() {
        let lanes = Lanes()
        let service = PushLanes.host(of: .fcm("token"))
        for host in 0..<limits.silent {
            if let slot = lanes.begin("silent\(host)") { lanes.end(slot, hasResponded: false) }
            _ = lanes.begin(limits.silentHost, "silent\(host)")
        }
        for _ in 0..<3 {
            let slots = lanes.begin(500, service)
            #expect(slots.count == limits.service)
            for slot in slots { lanes.end(slot, hasResponded: false) }
        }
        _ = lanes.begin(limits.service, service)
        #expect(lanes.wait(service) == limits.wait)
    }

    /// Whatever ends in whatever order, every slot comes back.
    @Test func slotsComeBack() throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        var limits = PushLanes.Limits()
        (limits.all, limits.host, limits.user, limits.unknown, limits.unknownHost) = (40, 20, 3, 10, 4)
        (limits.silent, limits.silentHost, limits.hosts) = (8, 3, 8)
        let lanes = Lanes(limits)
        let users = (0..<20).map { _ in UserID.make(at: Self.start, using: &random) }
        var slots: [PushLanes.Slot] = []
        for _ in 0..<20_000 {
            if Bool.random(using: &random) {
                let host = "host\(Int.random(in: 0..<30, using: &random))"
                let user = users.randomElement(using: &random) ?? users[0]
                if let slot = lanes.begin(host, for: user) { slots.append(slot) }
            } else if let index = slots.indices.randomElement(using: &random) {
                lanes.end(
                    slots.remove(at: index), hasResponded: [true, false, nil].randomElement(using: &random) ?? nil)
            }
            try #require(slots.count <= limits.all, "seed \(seed)")
        }
        for slot in slots { lanes.end(slot, hasResponded: nil) }
        #expect((0..<100).compactMap { lanes.begin("fresh\($0)") }.count == limits.unknown, "seed \(seed)")
        #expect(lanes.begin(99, "a.notify.windows.com").count == limits.host, "seed \(seed)")
        #expect(lanes.inFlight <= limits.all)
    }
}
