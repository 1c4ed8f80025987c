import Calls
import Model
import Testing

/// The part that WHIP and WHEP sessions have in a call.
@Suite struct DoorTests {
    static let rules = GatewayModeTests.rules

    @Test(arguments: Backing.allCases)
    func aUserJoinsAndLeavesWithADoor(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            let door = world.another(ben)
            let entered = try world.enter(id, door)
            #expect(entered.call.participant(ben.user)?.endpoint == door.endpoint)
            #expect(entered.effects.contains(.leaseStarted(id, ben.user, door.endpoint)))
            try world.run { try $0.legConnected(call: id, endpoint: door.endpoint, at: $1, in: $2) ?? entered }
            #expect(try world.call(id).participant(ben.user)?.joining?.isConnected == true)
            #expect(try world.call(id).participant(ben.user)?.joining?.setupUntil == nil)
            let left = try #require(try world.leave(id, door))
            #expect(try world.state(of: ben, in: id) == "left")
            #expect(left.effects.contains(.leaseEnded(id, ben.user)))
            #expect(try world.leave(id, door) == nil)
        }
    }

    @Test(arguments: Backing.allCases)
    func aDoorOfSomebodyWhoIsThereChangesNothing(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            let before = try world.call(id)
            let door = world.another(ben)
            #expect(try world.enter(id, door).effects.isEmpty)
            #expect(try world.leave(id, door) == nil)
            #expect(try world.call(id) == before)
            let track = LegTrack(endpoint: door.endpoint, mid: "0", source: .camera)
            try world.bench.transact {
                _ = try world.commands.legShows(
                    [LegSlot(mid: "1", kind: .video, track: track)], also: [door.endpoint: ben.user], call: id,
                    endpoint: anna.endpoint, in: world.bench.store)
            }
            #expect(try world.mailbox(of: anna, in: id).last?.data.contains("\"user\":\"\(ben.user)\"") == true)
        }
    }

    @Test(arguments: Backing.allCases)
    func oneDoorGoesOnForAnother(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            // In a call of two as well, which ends when one of them leaves.
            let id = try world.create(by: anna, to: [ben], mode: .gateway).call.id
            let first = world.another(ben), again = world.another(ben), player = world.another(ben)
            try world.enter(id, first)
            try world.connected(id, by: first)
            let replaced = try world.enter(id, again, inPlaceOf: first)
            #expect(replaced.effects.contains(.legEnded(id, first.endpoint)))
            #expect(replaced.effects.contains(.leaseStarted(id, ben.user, again.endpoint)))
            let ends = replaced.effects.contains { if case .leaseEnded = $0 { true } else { false } }
            #expect(!ends)
            #expect(try world.call(id).participant(ben.user)?.joining?.isConnected == true)
            try world.enter(id, player)
            _ = try world.leave(id, again, leavingTo: player)
            #expect(try world.call(id).participant(ben.user)?.endpoint == player.endpoint)
            _ = try world.leave(id, player, hasFailed: true)
            #expect(try world.call(id).ending?.reason == .connectionLost)
        }
    }

    @Test(arguments: Backing.allCases)
    func doorsAreForThoseWhoWereInvitedToACallInTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), eve = try world.person("Eve")
            let direct = try world.create(by: anna, to: [ben]).call.id
            #expect(problem { try world.enter(direct, world.another(ben)) } == .conflict)
            let group = try world.create(by: eve, to: [anna, ben], mode: .gateway).call.id
            #expect(problem { try world.enter(group, world.another(try world.person("Finn"))) } == .notFound)
            try world.hangUp(group, .end, by: eve)
            #expect(problem { try world.enter(group, world.another(ben)) } == .callEnded)
        }
    }
}

extension World {
    @discardableResult
    fileprivate func enter(_ id: CallID, _ door: Client, inPlaceOf earlier: Client? = nil) throws -> CallOutcome {
        try run {
            try $0.enterByDoor(
                id, as: door.endpoint, inPlaceOf: earlier?.endpoint, by: Principal(user: door.user), at: $1, in: $2)
        }
    }

    fileprivate func leave(
        _ id: CallID, _ door: Client, leavingTo heir: Client? = nil, hasFailed: Bool = false
    ) throws -> CallOutcome? {
        try bench.transact {
            try commands.leaveByDoor(
                id, as: door.endpoint, of: door.user, leavingTo: heir.map { ($0.endpoint, $0.signIn) },
                hasFailed: hasFailed, at: now,
                in: bench.store)
        }
    }
}
