import Calls
import Model
import Testing

/// Calls that an app's own back end creates between users.
@Suite struct ServerCallTests {
    static let rules = GatewayModeTests.rules(epoch: 7)

    @Test(arguments: Backing.allCases)
    func itRingsBothAndIsActiveOnceBothAccepted(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let created = try harness.createForServer(anna, [ben])
            let id = created.call.id
            #expect(created.call.mode == .gateway(epoch: 7) && created.call.caller == anna.user)
            #expect(try harness.state(of: anna, in: id) == "invited" && harness.state(of: ben, in: id) == "invited")
            #expect(created.effects.contains(.ringPush(anna.user, id, remainingMs: 60_000)))
            #expect(created.effects.contains(.ringPush(ben.user, id, remainingMs: 60_000)))
            try harness.accept(id, by: ben)
            #expect(try harness.call(id).status == .ringing)
            try harness.accept(id, by: anna)
            #expect(try harness.call(id).answeredAt == harness.now)
            for client in [anna, ben] { try harness.connected(id, by: client) }
            try harness.hangUp(id, by: anna)
            #expect(try harness.call(id).ending?.reason == .hungUp)
        }
    }

    @Test(arguments: Backing.allCases)
    func aPairEndsWithWhoeverDoesNotWant(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            for declining in 0...1 {
                let people = [try harness.person("Anna"), try harness.person("Ben")]
                let id = try harness.createForServer(people[0], [people[1]]).call.id
                try harness.decline(id, by: people[declining])
                #expect(try harness.call(id).ending?.reason == .declined)
                #expect(try harness.state(of: people[1 - declining], in: id) == "missed")
            }
            // One accepted and hung up before the other one answered.
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.createForServer(anna, [ben]).call.id
            try harness.accept(id, by: ben)
            try harness.hangUp(id, by: ben)
            #expect(try harness.call(id).ending?.reason == .cancelled)
            // Nobody answered.
            let missed = try harness.createForServer(anna, [ben]).call.id
            try harness.advance(seconds: 61)
            #expect(try harness.call(missed).ending?.reason == .missed)
            #expect(harness.timers.isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aGroupGoesOnWithoutOne(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let people = try (0..<4).map { try harness.person("Person \($0)") }
            let id = try harness.createForServer(people[0], Array(people.dropFirst())).call.id
            try harness.decline(id, by: people[0])
            try harness.accept(id, by: people[1])
            // A callee that cancels leaves, and does not end the call of the others.
            try harness.hangUp(id, .cancel, by: people[1])
            #expect(try harness.call(id).status == .ringing)
            try harness.accept(id, by: people[2])
            #expect(try harness.call(id).status == .ringing)
            try harness.accept(id, by: people[3])
            #expect(try harness.call(id).answeredAt != nil)
            #expect(try harness.state(of: people[0], in: id) == "declined")
        }
    }

    @Test(arguments: Backing.allCases)
    func blocksHold(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            try harness.block(anna, by: ben)
            let created = try harness.createForServer(anna, [ben])
            #expect(try harness.state(of: ben, in: created.call.id) == "invited")
            #expect(try harness.entries(.user(ben.user)).isEmpty)
            #expect(!created.effects.contains { if case .ringPush(ben.user, _, _) = $0 { true } else { false } })
            #expect(problem { try harness.accept(created.call.id, by: ben) } == .notFound)

            try harness.block(cleo, by: anna)
            let refused = rejection { try harness.createForServer(anna, [ben, cleo]) }
            #expect(refused?.kind == .conflict && refused?.field == "callees[1]")
        }
    }

    @Test(arguments: Backing.allCases)
    func aRequestIsExecutedOnce(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let clientID: ClientID = harness.id()
            let first = try harness.createForServer(anna, [ben], clientID: clientID)
            let again = try harness.createForServer(anna, [ben], clientID: clientID)
            #expect(again.isDuplicate && again.call.id == first.call.id && again.effects.isEmpty)
            #expect(problem { try harness.createForServer(anna, [cleo], clientID: clientID) } == .clientIDReused)
            #expect(problem { try harness.createForServer(anna, [ben]) } == .conflict, "They have a live call.")
            #expect(problem { try harness.createForServer(ben, [anna]) } == .conflict, "Whoever calls.")
            #expect(problem { try harness.createForServer(anna, [harness.unknownUser()]) } == .notFound)
            #expect(problem { try harness.createForServer(anna, [anna]) } == .invalidRequest)
            // The users themselves end up in it.
            #expect(try harness.create(by: ben, to: [anna]).call.id == first.call.id)
        }
    }

    @Test(arguments: Backing.allCases)
    func whoeverIsBusyOrDisabledIsNotRung(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let talk = try harness.talk(anna, [cleo])
            let created = try harness.createForServer(anna, [ben]).call
            #expect(created.ending?.reason == .busy)
            #expect(try harness.call(talk).isLive)
            try harness.backend.disable(ben.user)
            #expect(try harness.createForServer(cleo, [ben]).call.isLive == false)
        }
    }

    @Test(arguments: Backing.allCases)
    func theServerEndsAnyCall(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let talk = try harness.talk(anna, [ben, cleo])
            try harness.run { try $0.endForAll(talk, at: $1, in: $2) }
            #expect(try harness.call(talk).ending?.reason == .hungUp && harness.call(talk).ending?.by == nil)
            let version = try harness.call(talk).version
            try harness.run { try $0.endForAll(talk, at: $1, in: $2) }
            #expect(try harness.call(talk).version == version)
            let ringing = try harness.create(by: anna, to: [ben]).call.id
            try harness.run { try $0.endForAll(ringing, at: $1, in: $2) }
            #expect(try harness.call(ringing).ending?.reason == .cancelled)
            let unknown: CallID = harness.id()
            #expect(problem { try harness.run { try $0.endForAll(unknown, at: $1, in: $2) } } == .notFound)
        }
    }

    @Test(arguments: Backing.allCases)
    func withoutAGatewayThereIsNone(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            #expect(problem { try harness.createForServer(anna, [ben]) } == .conflict)
        }
    }
}

extension CallsHarness {
    @discardableResult
    fileprivate func createForServer(
        _ caller: Client, _ callees: [Client], clientID: ClientID? = nil
    ) throws -> CallOutcome {
        let request = CreateServerCall(
            clientID: clientID ?? id(), caller: caller.user, callees: callees.map(\.user), kind: .audio,
            actor: "key:0123456789abcdef")
        let callID: CallID = id()
        return try run { try $0.createServerCall(request, id: callID, at: $1, in: $2) }
    }
}
