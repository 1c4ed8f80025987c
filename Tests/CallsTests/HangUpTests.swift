import Calls
import Model
import Testing

@Suite struct HangUpTests {
    static let wishes = Backing.allCases.flatMap { backing in Call.HangUp.allCases.map { (backing, $0) } }

    @Test(arguments: wishes)
    func whicheverWishArrivesEndsACallBetweenTwo(_ backing: Backing, _ wish: Call.HangUp) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let unanswered = try world.create(by: anna, to: [ben]).call.id
            let cancelled = try world.hangUp(unanswered, wish, by: anna)
            #expect(cancelled.call.ending?.reason == .cancelled && cancelled.call.ending?.by == anna.user)
            #expect(try world.state(of: ben, in: unanswered) == "missed")
            #expect(try world.entries(.user(ben.user)).last?.data.contains("cancelled") == true)
            #expect(try world.hangUp(unanswered, wish, by: anna).effects.isEmpty)
            #expect(try world.hangUp(unanswered, wish, by: ben).effects.isEmpty)

            let refused = try world.create(by: anna, to: [ben]).call.id
            #expect(try world.hangUp(refused, wish, by: ben).call.ending?.reason == .declined)

            let talked = try world.talk(anna, [ben])
            #expect(try world.hangUp(talked, wish, by: ben).call.ending?.reason == .hungUp)
        }
    }

    @Test(arguments: Backing.allCases)
    func withoutAnEndpointTheUserHangsUp(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.talk(anna, [ben])
            try world.run { try $0.hangUp(id, .leave, by: Principal(user: ben.user), at: $1, in: $2) }
            #expect(try world.call(id).ending?.by == ben.user)
        }
    }

    @Test(arguments: Backing.allCases)
    func strangersLearnNothing(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), eve = try world.person("Eve")
            let id = try world.talk(anna, [ben])
            #expect(problem { try world.hangUp(id, by: eve) } == .notFound)
            #expect(problem { try world.accept(id, by: eve) } == .notFound)
            #expect(problem { try world.connected(id, by: eve) } == .notFound)
            #expect(problem { try world.invite([ben], to: id, by: eve) } == .notFound)
            #expect(problem { try world.signal(id, from: eve, .offer, generation: 0) } == .notFound)
            #expect(
                problem {
                    try world.commands.checkMailbox(
                        of: ben.endpoint, in: id, by: eve.principal, store: world.bench.store)
                } == .notFound)
            #expect(
                problem {
                    try world.commands.checkMailbox(
                        of: ben.endpoint, in: id, by: world.another(ben).principal, store: world.bench.store)
                } == .notFound)
            try world.commands.checkMailbox(of: ben.endpoint, in: id, by: ben.principal, store: world.bench.store)
        }
    }
}

@Suite struct GroupTests {
    @Test(arguments: Backing.allCases)
    func theFirstToJoinMakesItActiveWhileOthersRing(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let dora = try world.person("Dora")
            let id = try world.create(by: anna, to: [ben, cleo, dora]).call.id
            try world.decline(id, by: cleo)
            #expect(try world.call(id).status == .ringing)
            try world.accept(id, by: ben)
            #expect(try world.call(id).status.name == "active")
            #expect(try world.state(of: dora, in: id) == "invited")
            // Who declined may come later, and so may who left.
            try world.accept(id, by: cleo)
            try world.hangUp(id, by: ben)
            #expect(try world.state(of: ben, in: id) == "left")
            try world.accept(id, by: ben)
            for client in [anna, ben, cleo] { try world.connected(id, by: client) }
            try world.advance(seconds: 60, renewing: [anna, ben, cleo])
            #expect(try world.state(of: dora, in: id) == "missed")
            try world.accept(id, by: dora)
            #expect(try world.call(id).participants.map(\.state.name) == ["joined", "joined", "joined", "joined"])
        }
    }

    @Test(arguments: Backing.allCases)
    func itEndsWhenNobodyAnswersOrNobodyIsLeft(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let refused = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.decline(refused, by: ben)
            try world.decline(refused, by: cleo)
            #expect(try world.call(refused).ending?.reason == .declined)

            let left = try world.talk(anna, [ben, cleo])
            try world.hangUp(left, by: anna)
            try world.hangUp(left, by: ben)
            #expect(try world.call(left).isLive)
            try world.hangUp(left, by: cleo)
            #expect(try world.call(left).ending?.reason == .hungUp)

            // Somebody still rings: they have twenty seconds to find somebody.
            let empty = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.accept(empty, by: ben)
            try world.hangUp(empty, by: anna)
            try world.hangUp(empty, by: ben)
            try world.advance(seconds: 19)
            #expect(try world.call(empty).isLive)
            try world.accept(empty, by: cleo)
            try world.connected(empty, by: cleo)
            try world.advance(seconds: 25, renewing: [cleo])
            #expect(try world.call(empty).isLive)
            try world.hangUp(empty, by: cleo)
            #expect(!(try world.call(empty).isLive))
        }
    }

    @Test(arguments: Backing.allCases)
    func anEmptyCallEndsThoughSomebodyRings(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.accept(id, by: ben)
            try world.hangUp(id, by: anna)
            try world.hangUp(id, by: ben)
            try world.advance(seconds: 20)
            #expect(try world.call(id).ending?.reason == .hungUp)
            #expect(try world.state(of: cleo, in: id) == "missed")
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyTheCallerEndsItForAll(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.accept(id, by: ben)
            #expect(problem { try world.hangUp(id, .end, by: ben) } == .forbidden)
            // Who rings has nothing to end but the ringing.
            try world.hangUp(id, .end, by: cleo)
            #expect(try world.state(of: cleo, in: id) == "declined")
            try world.hangUp(id, .end, by: anna)
            #expect(try world.call(id).ending?.reason == .hungUp)
            let cancelled = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.hangUp(cancelled, .leave, by: anna)
            #expect(try world.call(cancelled).ending?.reason == .cancelled)
        }
    }

    @Test(arguments: Backing.allCases)
    func aSecondEndpointTakesOver(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            let tablet = world.another(ben)
            let outcome = try world.accept(id, by: tablet)
            #expect(outcome.call.participants[1].endpoint == tablet.endpoint)
            #expect(outcome.effects.contains(.leaseStarted(id, ben.user, tablet.endpoint)))
            #expect(problem { try world.connected(id, by: ben) } == .answeredElsewhere)
        }
    }

    @Test(arguments: Backing.allCases)
    func peopleAreInvitedIntoACallBetweenTwo(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let dora = try world.person("Dora")
            let id = try world.talk(anna, [ben])
            let invited = try world.invite([cleo, dora], to: id, by: ben)
            #expect(invited.effects.contains(.ringPush(cleo.user, id, remainingMs: 60_000)))
            #expect(problem { try world.invite([dora], to: id, by: cleo) } == .conflict)
            try world.accept(id, by: cleo)
            try world.hangUp(id, by: anna)
            #expect(try world.call(id).isLive)
            // The two may call each other again now, since this is no call between two any more.
            #expect(try world.create(by: anna, to: [ben]).call.id != id)
            // Whoever does not answer can be rung again.
            try world.decline(id, by: dora)
            try world.invite([dora], to: id, by: ben)
            #expect(try world.state(of: dora, in: id) == "invited")
        }
    }

    @Test(arguments: Backing.allCases)
    func whoHasBlockedTheCallerIsShownTheCallBySomebodyElse(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            try world.block(anna, by: cleo)
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.accept(id, by: ben)
            #expect(try world.calls(of: cleo).isEmpty)
            let invited = try world.invite([cleo], to: id, by: ben)
            #expect(invited.effects.contains(.attachUser(cleo.user, .call(id))))
            #expect(try world.liveCalls(of: cleo).map(\.id) == [id])
        }
    }
}
