import Calls
import Model
import Testing

@Suite struct CreateTests {
    @Test(arguments: Backing.allCases)
    func aRepeatReturnsTheFirstCall(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let clientID: ClientID = world.id()
            let first = try world.create(by: anna, to: [ben], offer: "o", clientID: clientID)
            let entries = try world.entries(.user(ben.user)).count
            let again = try world.create(by: anna, to: [ben], offer: "o", clientID: clientID)
            #expect(again.isDuplicate && again.call == first.call && again.effects.isEmpty)
            #expect(try world.entries(.user(ben.user)).count == entries)
            #expect(
                problem { try world.create(by: anna, to: [ben], offer: "p", clientID: clientID) } == .clientIDReused)

            try world.hangUp(first.call.id, by: anna)
            let later = try world.create(by: anna, to: [ben], offer: "o", clientID: clientID)
            #expect(later.isDuplicate && later.call.ending?.reason == .cancelled)
        }
    }

    @Test(arguments: Backing.allCases)
    func whatIsNotValidIsRefused(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let stranger = world.stranger()
            #expect(refusal { try world.create(by: anna, to: []) }?.field == "callees")
            #expect(refusal { try world.create(by: anna, to: [anna]) }?.field == "callees")
            #expect(refusal { try world.create(by: anna, to: [ben, ben]) }?.field == "callees")
            #expect(refusal { try world.create(by: anna, to: world.strangers(50)) }?.field == "callees")
            #expect(refusal { try world.create(by: anna, to: [ben], ringSeconds: 9) }?.field == "ringSeconds")
            #expect(refusal { try world.create(by: anna, to: [ben], ringSeconds: 121) }?.field == "ringSeconds")
            #expect(refusal { try world.create(by: anna, to: [ben, cleo], offer: "o") }?.field == "offer")
            let long = String(repeating: "a", count: 256 * 1024 + 1)
            #expect(problem { try world.create(by: anna, to: [ben], offer: long) } == .payloadTooLarge)
            let unknown = refusal { try world.create(by: anna, to: [ben, stranger]) }
            #expect(unknown?.kind == .notFound && unknown?.field == "callees[1]")
            #expect(refusal { try world.createWithoutEndpoint(by: anna, to: ben) }?.field == "endpoint")
            #expect(try world.calls(of: ben).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aBlockedCallerHearsItRingAndTheCalleeNeverLearns(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            try world.block(anna, by: ben)
            let created = try world.create(by: anna, to: [ben], offer: "o")
            let id = created.call.id
            #expect(try world.state(of: ben, in: id) == "invited")
            #expect(!created.effects.contains { if case .ringPush = $0 { true } else { false } })
            #expect(!created.effects.contains(.attachUser(ben.user, .call(id))))
            #expect(problem { try world.accept(id, by: ben) } == .notFound)
            #expect(problem { try world.decline(id, by: ben) } == .notFound)
            #expect(problem { try world.ringing(id, by: ben) } == .notFound)
            #expect(problem { try world.commands.get(id, by: ben.principal, in: world.bench.store) } == .notFound)
            // Calling the other way is a call of its own, and finds the first caller busy.
            #expect(try world.create(by: ben, to: [anna]).call.ending?.reason == .busy)
            try world.advance(seconds: 60, renewing: [anna])
            #expect(try world.call(id).ending?.reason == .missed)
            #expect(try world.calls(of: ben).count == 1)
            #expect(try world.calls(of: anna).count == 2)
            #expect(try world.entries(.user(ben.user)).allSatisfy { !$0.data.contains(id.text) })
        }
    }

    @Test(arguments: Backing.allCases)
    func whoIsInACallIsBusyUnlessTheyWantToKnow(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let dora = try world.person("Dora", callWaiting: true)
            _ = try world.talk(ben, [dora])
            world.now = world.now.adding(seconds: 1)
            let busy = try world.create(by: anna, to: [ben])
            #expect(busy.call.ending?.reason == .busy)
            #expect(busy.call.participants[1].state == .busy)
            #expect(busy.effects.contains(.ended(busy.call.id)))
            // The missed try is in the history, and on the screen, of who was busy.
            #expect(try world.calls(of: ben).first?.id == busy.call.id)
            #expect(try world.create(by: anna, to: [dora]).call.status == .ringing)
            // Who rings out is busy too.
            #expect(try world.create(by: cleo, to: [anna]).call.ending?.reason == .busy)
        }
    }

    @Test(arguments: Backing.allCases)
    func aGhostKeepsNobodyBusy(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            _ = try world.talk(ben, [cleo])
            try world.detach(ben)
            #expect(try world.create(by: anna, to: [ben]).call.status == .ringing)
        }
    }

    @Test(arguments: Backing.allCases)
    func aDisabledAccountIsUnreachable(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let ringing = try world.create(by: cleo, to: [ben]).call.id
            try world.withdraw(ben)
            #expect(try world.call(ringing).ending?.reason == .unreachable)
            #expect(try world.create(by: anna, to: [ben]).call.ending?.reason == .unreachable)
        }
    }

    @Test(arguments: Backing.allCases)
    func aConversationHasOneLiveCall(_ backing: Backing) async throws {
        try await backing.run { world in
            let people = try ["Anna", "Ben", "Cleo"].map { try world.person($0) }
            let conversation: ConversationID = world.id()
            func call(_ caller: Client) throws -> CallOutcome {
                let request = CreateCall(
                    clientID: world.id(), callees: people.map(\.user).filter { $0 != caller.user }, kind: .video,
                    mode: .direct, conversation: conversation)
                let id: CallID = world.id()
                return try world.run { try $0.create(request, by: caller.principal, id: id, at: $1, in: $2) }
            }
            let first = try call(people[0])
            let second = try call(people[1])
            #expect(second.hasJoined && second.call.id == first.call.id)
            #expect(second.call.status.name == "active")
        }
    }
}

@Suite struct GlareTests {
    @Test(arguments: Backing.allCases)
    func theSecondOfTwoCrossingCallsJoinsTheFirst(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let first = try world.create(by: anna, to: [ben], offer: "from anna")
            let clientID: ClientID = world.id()
            let second = try world.create(by: ben, to: [anna], kind: .video, offer: "from ben", clientID: clientID)
            #expect(second.hasJoined && !second.isDuplicate)
            #expect(second.call.id == first.call.id && second.call.status.name == "active")
            #expect(second.call.participants[1].media.video)
            #expect(try world.mailbox(of: ben, in: first.call.id).map(\.type) == ["offer"])
            let again = try world.create(by: ben, to: [anna], kind: .video, offer: "from ben", clientID: clientID)
            #expect(again.isDuplicate && again.call == second.call)
        }
    }

    @Test(arguments: Backing.allCases)
    func whoCallsAgainAfterACrashIsNotBusy(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            // The same endpoint again, while it rings and while they talk.
            let rang = try world.create(by: anna, to: [ben]).call.id
            let second = try world.create(by: anna, to: [ben]).call
            #expect(try world.call(rang).ending?.reason == .replaced)
            #expect(try world.state(of: ben, in: rang) == "missed")
            #expect(second.status == .ringing)
            try world.accept(second.id, by: ben)
            let third = try world.create(by: ben, to: [anna])
            #expect(!third.hasJoined && third.call.status == .ringing)
            #expect(try world.call(second.id).ending?.reason == .replaced)
            // Another endpoint, after the first was lost.
            try world.detach(ben)
            let fourth = try world.create(by: world.another(ben), to: [anna]).call
            #expect(fourth.status == .ringing)
            #expect(try world.call(third.call.id).ending?.reason == .replaced)
        }
    }

    @Test(arguments: Backing.allCases)
    func aCrashedCallersRingDoesNotTrapTheOtherSide(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let ghost = try world.create(by: anna, to: [ben]).call.id
            try world.detach(anna)
            let back = try world.create(by: ben, to: [anna])
            #expect(!back.hasJoined && back.call.status == .ringing)
            #expect(try world.call(ghost).ending?.reason == .replaced)
        }
    }

    @Test(arguments: Backing.allCases)
    func aSecondEndpointDoesNotStealTheCall(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.talk(anna, [ben])
            #expect(problem { try world.create(by: world.another(anna), to: [ben]) } == .answeredElsewhere)
            #expect(try world.call(id).isLive)
        }
    }
}
