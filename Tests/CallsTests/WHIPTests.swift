import Calls
import Model
import Testing

/// The part that WHIP and WHEP sessions have in a call.
@Suite struct WHIPTests {
    static let rules = GatewayModeTests.rules

    @Test(arguments: Backing.allCases)
    func aUserJoinsAndLeavesByWHIP(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            let session = harness.another(ben)
            let entered = try harness.enter(id, session)
            #expect(entered.call.participant(ben.user)?.endpoint == session.endpoint)
            #expect(entered.effects.contains(.leaseStarted(id, ben.user, session.endpoint)))
            try harness.run { try $0.legConnected(call: id, endpoint: session.endpoint, at: $1, in: $2) ?? entered }
            #expect(try harness.call(id).participant(ben.user)?.joining?.isConnected == true)
            #expect(try harness.call(id).participant(ben.user)?.joining?.setupUntil == nil)
            let left = try #require(try harness.leave(id, session))
            #expect(try harness.state(of: ben, in: id) == "left")
            #expect(left.effects.contains(.leaseEnded(id, ben.user)))
            #expect(try harness.leave(id, session) == nil)
        }
    }

    @Test(arguments: Backing.allCases)
    func aSessionOfAJoinedUserChangesNothing(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            let before = try harness.call(id)
            let session = harness.another(ben)
            #expect(try harness.enter(id, session).effects.isEmpty)
            #expect(try harness.leave(id, session) == nil)
            #expect(try harness.call(id) == before)
            let track = LegTrack(endpoint: session.endpoint, mid: "0", source: .camera)
            try harness.backend.transact {
                _ = try harness.commands.legSlotsChanged(
                    [LegSlot(mid: "1", kind: .video, track: track)], also: [session.endpoint: ben.user], call: id,
                    endpoint: anna.endpoint, in: harness.backend.store)
            }
            #expect(try harness.mailbox(of: anna, in: id).last?.data.contains("\"user\":\"\(ben.user)\"") == true)
        }
    }

    @Test(arguments: Backing.allCases)
    func oneSessionReplacesAnother(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            // In a call of two as well, which ends when one of them leaves.
            let id = try harness.create(by: anna, to: [ben], mode: .gateway).call.id
            let first = harness.another(ben), again = harness.another(ben), player = harness.another(ben)
            try harness.enter(id, first)
            try harness.connected(id, by: first)
            let replaced = try harness.enter(id, again, replacing: first)
            #expect(replaced.effects.contains(.legEnded(id, first.endpoint)))
            #expect(replaced.effects.contains(.leaseStarted(id, ben.user, again.endpoint)))
            let ends = replaced.effects.contains { if case .leaseEnded = $0 { true } else { false } }
            #expect(!ends)
            #expect(try harness.call(id).participant(ben.user)?.joining?.isConnected == true)
            try harness.enter(id, player)
            _ = try harness.leave(id, again, successor: player)
            #expect(try harness.call(id).participant(ben.user)?.endpoint == player.endpoint)
            _ = try harness.leave(id, player, hasFailed: true)
            #expect(try harness.call(id).ending?.reason == .connectionLost)
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyInvitedUsersOfGatewayCallsMayUseWHIP(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), eve = try harness.person("Eve")
            let direct = try harness.create(by: anna, to: [ben]).call.id
            #expect(problem { try harness.enter(direct, harness.another(ben)) } == .conflict)
            let group = try harness.create(by: eve, to: [anna, ben], mode: .gateway).call.id
            #expect(problem { try harness.enter(group, harness.another(try harness.person("Finn"))) } == .notFound)
            try harness.hangUp(group, .end, by: eve)
            #expect(problem { try harness.enter(group, harness.another(ben)) } == .callEnded)
        }
    }
}

extension CallsHarness {
    @discardableResult
    fileprivate func enter(_ id: CallID, _ session: Client, replacing earlier: Client? = nil) throws -> CallOutcome {
        try run {
            try $0.joinByWHIP(
                id, as: session.endpoint, replacing: earlier?.endpoint, by: Principal(user: session.user), at: $1,
                in: $2)
        }
    }

    fileprivate func leave(
        _ id: CallID, _ session: Client, successor: Client? = nil, hasFailed: Bool = false
    ) throws -> CallOutcome? {
        try backend.transact {
            try commands.leaveByWHIP(
                id, as: session.endpoint, of: session.user, successor: successor.map { ($0.endpoint, $0.signIn) },
                hasFailed: hasFailed, at: now,
                in: backend.store)
        }
    }
}
