import Calls
import Model
import Testing

@Suite struct CreateTests {
    @Test(arguments: Backing.allCases)
    func aRepeatReturnsTheFirstCall(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let clientID: ClientID = harness.id()
            let first = try harness.create(by: anna, to: [ben], offer: "o", clientID: clientID)
            let entries = try harness.entries(.user(ben.user)).count
            let again = try harness.create(by: anna, to: [ben], offer: "o", clientID: clientID)
            #expect(again.isDuplicate && again.call == first.call && again.effects.isEmpty)
            #expect(try harness.entries(.user(ben.user)).count == entries)
            #expect(
                problem { try harness.create(by: anna, to: [ben], offer: "p", clientID: clientID) } == .clientIDReused)

            try harness.hangUp(first.call.id, by: anna)
            let later = try harness.create(by: anna, to: [ben], offer: "o", clientID: clientID)
            #expect(later.isDuplicate && later.call.ending?.reason == .cancelled)
        }
    }

    @Test(arguments: Backing.allCases)
    func whatIsNotValidIsRefused(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let unknownUser = harness.unknownUser()
            #expect(rejection { try harness.create(by: anna, to: []) }?.field == "callees")
            #expect(rejection { try harness.create(by: anna, to: [anna]) }?.field == "callees")
            #expect(rejection { try harness.create(by: anna, to: [ben, ben]) }?.field == "callees")
            #expect(rejection { try harness.create(by: anna, to: harness.unknownUsers(50)) }?.field == "callees")
            #expect(rejection { try harness.create(by: anna, to: [ben], ringSeconds: 9) }?.field == "ringSeconds")
            #expect(rejection { try harness.create(by: anna, to: [ben], ringSeconds: 121) }?.field == "ringSeconds")
            #expect(rejection { try harness.create(by: anna, to: [ben, cleo], offer: "o") }?.field == "offer")
            let long = String(repeating: "a", count: 256 * 1024 + 1)
            #expect(problem { try harness.create(by: anna, to: [ben], offer: long) } == .payloadTooLarge)
            let unknown = rejection { try harness.create(by: anna, to: [ben, unknownUser]) }
            #expect(unknown?.kind == .notFound && unknown?.field == "callees[1]")
            #expect(rejection { try harness.createWithoutEndpoint(by: anna, to: ben) }?.field == "endpoint")
            #expect(try harness.calls(of: ben).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aBlockedCallerSeesRingingAndTheCalleeIsNotNotified(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            try harness.block(anna, by: ben)
            let created = try harness.create(by: anna, to: [ben], offer: "o")
            let id = created.call.id
            #expect(try harness.state(of: ben, in: id) == "invited")
            #expect(!created.effects.contains { if case .ringPush = $0 { true } else { false } })
            #expect(!created.effects.contains(.attachUser(ben.user, .call(id))))
            #expect(problem { try harness.accept(id, by: ben) } == .notFound)
            #expect(problem { try harness.decline(id, by: ben) } == .notFound)
            #expect(problem { try harness.ringing(id, by: ben) } == .notFound)
            #expect(problem { try harness.commands.get(id, by: ben.principal, in: harness.backend.store) } == .notFound)
            // Calling the other way is a call of its own, and finds the first caller busy.
            #expect(try harness.create(by: ben, to: [anna]).call.ending?.reason == .busy)
            try harness.advance(seconds: 60, renewing: [anna])
            #expect(try harness.call(id).ending?.reason == .missed)
            #expect(try harness.calls(of: ben).count == 1)
            #expect(try harness.calls(of: anna).count == 2)
            #expect(try harness.entries(.user(ben.user)).allSatisfy { !$0.data.contains(id.text) })
        }
    }

    @Test(arguments: Backing.allCases)
    func aUserInACallIsBusyWithoutCallWaiting(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let dora = try harness.person("Dora", callWaiting: true)
            _ = try harness.talk(ben, [dora])
            harness.now = harness.now.adding(seconds: 1)
            let busy = try harness.create(by: anna, to: [ben])
            #expect(busy.call.ending?.reason == .busy)
            #expect(busy.call.participants[1].state == .busy)
            #expect(busy.effects.contains(.ended(busy.call.id)))
            // The missed try is in the history, and on the screen, of who was busy.
            #expect(try harness.calls(of: ben).first?.id == busy.call.id)
            #expect(try harness.create(by: anna, to: [dora]).call.status == .ringing)
            // Who rings out is busy too.
            #expect(try harness.create(by: cleo, to: [anna]).call.ending?.reason == .busy)
        }
    }

    @Test(arguments: Backing.allCases)
    func aGhostKeepsNobodyBusy(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            _ = try harness.talk(ben, [cleo])
            try harness.detach(ben)
            #expect(try harness.create(by: anna, to: [ben]).call.status == .ringing)
        }
    }

    @Test(arguments: Backing.allCases)
    func aDisabledAccountIsUnreachable(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let ringing = try harness.create(by: cleo, to: [ben]).call.id
            try harness.withdraw(ben)
            #expect(try harness.call(ringing).ending?.reason == .unreachable)
            #expect(try harness.create(by: anna, to: [ben]).call.ending?.reason == .unreachable)
        }
    }

    @Test(arguments: Backing.allCases)
    func aConversationHasOneLiveCall(_ backing: Backing) async throws {
        try await backing.run { harness in
            let people = try ["Anna", "Ben", "Cleo"].map { try harness.person($0) }
            let conversation: ConversationID = harness.id()
            try harness.backend.group(people.map(\.user), id: conversation)
            func call(_ caller: Client) throws -> CallOutcome {
                let request = CreateCall(
                    clientID: harness.id(), kind: .video, mode: .direct, conversation: conversation)
                let called = CallConversation(
                    id: conversation, isGroup: true, callees: people.map(\.user).filter { $0 != caller.user })
                let id: CallID = harness.id()
                return try harness.run {
                    try $0.create(request, of: called, by: caller.principal, id: id, at: $1, in: $2)
                }
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
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let first = try harness.create(by: anna, to: [ben], offer: "from anna")
            let clientID: ClientID = harness.id()
            let second = try harness.create(by: ben, to: [anna], kind: .video, offer: "from ben", clientID: clientID)
            #expect(second.hasJoined && !second.isDuplicate)
            #expect(second.call.id == first.call.id && second.call.status.name == "active")
            #expect(second.call.participants[1].media.video)
            #expect(try harness.mailbox(of: ben, in: first.call.id).map(\.type) == ["offer"])
            let again = try harness.create(by: ben, to: [anna], kind: .video, offer: "from ben", clientID: clientID)
            #expect(again.isDuplicate && again.call == second.call)
        }
    }

    @Test(arguments: Backing.allCases)
    func whoCallsAgainAfterACrashIsNotBusy(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            // The same endpoint again, while it rings and while they talk.
            let rang = try harness.create(by: anna, to: [ben]).call.id
            let second = try harness.create(by: anna, to: [ben]).call
            #expect(try harness.call(rang).ending?.reason == .replaced)
            #expect(try harness.state(of: ben, in: rang) == "missed")
            #expect(second.status == .ringing)
            try harness.accept(second.id, by: ben)
            let third = try harness.create(by: ben, to: [anna])
            #expect(!third.hasJoined && third.call.status == .ringing)
            #expect(try harness.call(second.id).ending?.reason == .replaced)
            // Another endpoint, after the first was lost.
            try harness.detach(ben)
            let fourth = try harness.create(by: harness.another(ben), to: [anna]).call
            #expect(fourth.status == .ringing)
            #expect(try harness.call(third.call.id).ending?.reason == .replaced)
        }
    }

    @Test(arguments: Backing.allCases)
    func aCrashedCallersRingDoesNotTrapTheOtherSide(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let ghost = try harness.create(by: anna, to: [ben]).call.id
            try harness.detach(anna)
            let back = try harness.create(by: ben, to: [anna])
            #expect(!back.hasJoined && back.call.status == .ringing)
            #expect(try harness.call(ghost).ending?.reason == .replaced)
        }
    }

    @Test(arguments: Backing.allCases)
    func aSecondEndpointDoesNotStealTheCall(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            #expect(problem { try harness.create(by: harness.another(anna), to: [ben]) } == .answeredElsewhere)
            #expect(try harness.call(id).isLive)
        }
    }
}
