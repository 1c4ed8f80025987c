import Calls
import Model
import Testing

@Suite struct HangUpTests {
    static let requests = Backing.allCases.flatMap { backing in Call.HangUp.allCases.map { (backing, $0) } }

    @Test(arguments: requests)
    func everyHangUpEndsACallBetweenTwo(_ backing: Backing, _ request: Call.HangUp) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let unanswered = try harness.create(by: anna, to: [ben]).call.id
            let cancelled = try harness.hangUp(unanswered, request, by: anna)
            #expect(cancelled.call.ending?.reason == .cancelled && cancelled.call.ending?.by == anna.user)
            #expect(try harness.state(of: ben, in: unanswered) == "missed")
            #expect(try harness.entries(.user(ben.user)).last?.data.contains("cancelled") == true)
            #expect(try harness.hangUp(unanswered, request, by: anna).effects.isEmpty)
            #expect(try harness.hangUp(unanswered, request, by: ben).effects.isEmpty)

            let refused = try harness.create(by: anna, to: [ben]).call.id
            #expect(try harness.hangUp(refused, request, by: ben).call.ending?.reason == .declined)

            let talked = try harness.talk(anna, [ben])
            #expect(try harness.hangUp(talked, request, by: ben).call.ending?.reason == .hungUp)
        }
    }

    @Test(arguments: Backing.allCases)
    func withoutAnEndpointTheUserHangsUp(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            try harness.run { try $0.hangUp(id, .leave, by: Principal(user: ben.user), at: $1, in: $2) }
            #expect(try harness.call(id).ending?.by == ben.user)
        }
    }

    @Test(arguments: Backing.allCases)
    func unknownUsersGetNotFound(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), eve = try harness.person("Eve")
            let id = try harness.talk(anna, [ben])
            #expect(problem { try harness.hangUp(id, by: eve) } == .notFound)
            #expect(problem { try harness.accept(id, by: eve) } == .notFound)
            #expect(problem { try harness.connected(id, by: eve) } == .notFound)
            #expect(problem { try harness.invite([ben], to: id, by: eve) } == .notFound)
            #expect(problem { try harness.signal(id, from: eve, .offer, generation: 0) } == .notFound)
            #expect(
                problem {
                    try harness.commands.checkMailbox(
                        of: ben.endpoint, in: id, by: eve.principal, store: harness.backend.store)
                } == .notFound)
            #expect(
                problem {
                    try harness.commands.checkMailbox(
                        of: ben.endpoint, in: id, by: harness.another(ben).principal, store: harness.backend.store)
                } == .notFound)
            try harness.commands.checkMailbox(of: ben.endpoint, in: id, by: ben.principal, store: harness.backend.store)
        }
    }
}

@Suite struct GroupTests {
    @Test(arguments: Backing.allCases)
    func theFirstToJoinMakesItActiveWhileOthersRing(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let dora = try harness.person("Dora")
            let id = try harness.create(by: anna, to: [ben, cleo, dora]).call.id
            try harness.decline(id, by: cleo)
            #expect(try harness.call(id).status == .ringing)
            try harness.accept(id, by: ben)
            #expect(try harness.call(id).status.name == "active")
            #expect(try harness.state(of: dora, in: id) == "invited")
            // Who declined may come later, and so may who left.
            try harness.accept(id, by: cleo)
            try harness.hangUp(id, by: ben)
            #expect(try harness.state(of: ben, in: id) == "left")
            try harness.accept(id, by: ben)
            for client in [anna, ben, cleo] { try harness.connected(id, by: client) }
            try harness.advance(seconds: 60, renewing: [anna, ben, cleo])
            #expect(try harness.state(of: dora, in: id) == "missed")
            try harness.accept(id, by: dora)
            #expect(try harness.call(id).participants.map(\.state.name) == ["joined", "joined", "joined", "joined"])
        }
    }

    @Test(arguments: Backing.allCases)
    func itEndsWhenNobodyAnswersOrNobodyIsLeft(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let refused = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.decline(refused, by: ben)
            try harness.decline(refused, by: cleo)
            #expect(try harness.call(refused).ending?.reason == .declined)

            let left = try harness.talk(anna, [ben, cleo])
            try harness.hangUp(left, by: anna)
            try harness.hangUp(left, by: ben)
            #expect(try harness.call(left).isLive)
            try harness.hangUp(left, by: cleo)
            #expect(try harness.call(left).ending?.reason == .hungUp)

            // Somebody still rings: they have twenty seconds to find somebody.
            let empty = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.accept(empty, by: ben)
            try harness.hangUp(empty, by: anna)
            try harness.hangUp(empty, by: ben)
            try harness.advance(seconds: 19)
            #expect(try harness.call(empty).isLive)
            try harness.accept(empty, by: cleo)
            try harness.connected(empty, by: cleo)
            try harness.advance(seconds: 25, renewing: [cleo])
            #expect(try harness.call(empty).isLive)
            try harness.hangUp(empty, by: cleo)
            #expect(!(try harness.call(empty).isLive))
        }
    }

    @Test(arguments: Backing.allCases)
    func anEmptyCallEndsThoughSomebodyRings(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.accept(id, by: ben)
            try harness.hangUp(id, by: anna)
            try harness.hangUp(id, by: ben)
            try harness.advance(seconds: 20)
            #expect(try harness.call(id).ending?.reason == .hungUp)
            #expect(try harness.state(of: cleo, in: id) == "missed")
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyTheCallerEndsItForAll(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.accept(id, by: ben)
            #expect(problem { try harness.hangUp(id, .end, by: ben) } == .forbidden)
            // Who rings has nothing to end but the ringing.
            try harness.hangUp(id, .end, by: cleo)
            #expect(try harness.state(of: cleo, in: id) == "declined")
            try harness.hangUp(id, .end, by: anna)
            #expect(try harness.call(id).ending?.reason == .hungUp)
            let cancelled = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.hangUp(cancelled, .leave, by: anna)
            #expect(try harness.call(cancelled).ending?.reason == .cancelled)
        }
    }

    @Test(arguments: Backing.allCases)
    func aSecondEndpointTakesOver(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            let tablet = harness.another(ben)
            let outcome = try harness.accept(id, by: tablet)
            #expect(outcome.call.participants[1].endpoint == tablet.endpoint)
            #expect(outcome.effects.contains(.leaseStarted(id, ben.user, tablet.endpoint)))
            #expect(problem { try harness.connected(id, by: ben) } == .answeredElsewhere)
        }
    }

    @Test(arguments: Backing.allCases)
    func peopleAreInvitedIntoACallBetweenTwo(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let dora = try harness.person("Dora")
            let id = try harness.talk(anna, [ben])
            let invited = try harness.invite([cleo, dora], to: id, by: ben)
            #expect(invited.effects.contains(.ringPush(cleo.user, id, remainingMs: 60_000)))
            #expect(problem { try harness.invite([dora], to: id, by: cleo) } == .conflict)
            try harness.accept(id, by: cleo)
            try harness.hangUp(id, by: anna)
            #expect(try harness.call(id).isLive)
            // The two may call each other again now, since this is no call between two any more.
            #expect(try harness.create(by: anna, to: [ben]).call.id != id)
            // Whoever does not answer can be rung again.
            try harness.decline(id, by: dora)
            try harness.invite([dora], to: id, by: ben)
            #expect(try harness.state(of: dora, in: id) == "invited")
        }
    }

    @Test(arguments: Backing.allCases)
    func whoHasBlockedTheCallerIsShownTheCallBySomebodyElse(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            try harness.block(anna, by: cleo)
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.accept(id, by: ben)
            #expect(try harness.calls(of: cleo).isEmpty)
            let invited = try harness.invite([cleo], to: id, by: ben)
            #expect(invited.effects.contains(.attachUser(cleo.user, .call(id))))
            #expect(try harness.liveCalls(of: cleo).map(\.id) == [id])
        }
    }
}
