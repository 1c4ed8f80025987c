import Calls
import Model
import Testing

@Suite struct SignalTests {
    @Test(arguments: Backing.allCases)
    func whatIsSentWhileItRingsGoesToWhoeverAccepts(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let tablet = harness.another(ben)
            let id = try harness.create(by: anna, to: [ben], offer: "offer").call.id
            #expect(try harness.signal(id, from: anna, .candidates, generation: 1).status == .pending)
            #expect(try harness.signal(id, from: anna, .candidates, generation: 1).status == .pending)
            try harness.accept(id, by: tablet)
            #expect(try harness.mailbox(of: tablet, in: id).map(\.type) == ["offer", "candidates", "candidates"])
            #expect(try harness.mailbox(of: ben, in: id).isEmpty)
            #expect(try harness.signal(id, from: tablet, .answer, generation: 1).status == .delivered)
            #expect(try harness.signal(id, from: tablet, .candidates, generation: 1).status == .delivered)
            #expect(try harness.mailbox(of: anna, in: id).map(\.type) == ["answer", "candidates"])
            let data = try #require(try harness.mailbox(of: anna, in: id).first?.data)
            #expect(data.hasPrefix(#"{"from":{"user":""# + ben.user.text + #"","endpoint":""# + tablet.endpoint.text))
        }
    }

    @Test(arguments: Backing.allCases)
    func anOfferRenewedWhileItRingsReplacesTheFirst(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.create(by: anna, to: [ben], offer: "offer").call.id
            try harness.signal(id, from: anna, .candidates, generation: 1)
            #expect(try harness.signal(id, from: anna, .offer, generation: 1) == .init(status: .pending, generation: 2))
            try harness.signal(id, from: anna, .candidates, generation: 2)
            // Ahead of an offer that is still to come.
            try harness.signal(id, from: anna, .candidates, generation: 3)
            try harness.accept(id, by: ben)
            let mail = try harness.mailbox(of: ben, in: id)
            #expect(mail.map(\.type) == ["offer", "candidates"])
            #expect(mail.allSatisfy { $0.data.contains(#""generation":2"#) })
            try harness.signal(id, from: ben, .answer, generation: 2)
            try harness.signal(id, from: anna, .offer, generation: 2)
            #expect(try harness.mailbox(of: ben, in: id).map(\.type) == ["offer", "candidates", "offer", "candidates"])
        }
    }

    @Test(arguments: Backing.allCases)
    func ofTwoCollidingOffersTheFirstWins(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            #expect(
                try harness.signal(id, from: anna, .offer, generation: 0) == .init(status: .delivered, generation: 1))
            let refused = rejection { try harness.signal(id, from: ben, .offer, generation: 0) }
            #expect(refused?.kind == .conflict)
            let winner = try #require(refused?.members["winner"])
            #expect(winner == (try harness.mailbox(of: ben, in: id).last?.data))
            #expect(problem { try harness.signal(id, from: ben, .offer, generation: 1) } == .conflict)
            #expect(try harness.signal(id, from: ben, .answer, generation: 1).status == .delivered)
            #expect(try harness.signal(id, from: ben, .offer, generation: 1).generation == 2)
            // A stale base collides with what was answered long ago, too.
            try harness.signal(id, from: anna, .answer, generation: 2)
            #expect(problem { try harness.signal(id, from: anna, .offer, generation: 1) } == .conflict)
            #expect(rejection { try harness.signal(id, from: anna, .offer, generation: 3) }?.field == "generation")
        }
    }

    @Test(arguments: Backing.allCases)
    func anUnansweredOfferIsVoidAfterTenSeconds(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            try harness.signal(id, from: anna, .offer, generation: 0)
            try harness.advance(seconds: 9, renewing: [anna, ben])
            #expect(problem { try harness.signal(id, from: ben, .offer, generation: 0) } == .conflict)
            try harness.advance(seconds: 1, renewing: [anna, ben])
            #expect(try harness.signal(id, from: ben, .offer, generation: 0).generation == 2)
            #expect(try harness.signal(id, from: ben, .answer, generation: 1).status == .ignored)
        }
    }

    @Test(arguments: Backing.allCases)
    func aLateAnswerCountsWhileNothingNewerWasOffered(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            try harness.signal(id, from: anna, .offer, generation: 0)
            try harness.advance(seconds: 15, renewing: [anna, ben])
            #expect(try harness.signal(id, from: ben, .answer, generation: 1).status == .delivered)
            #expect(try harness.signal(id, from: ben, .answer, generation: 1).status == .ignored)
            #expect(rejection { try harness.signal(id, from: anna, .answer, generation: 1) }?.field == "generation")
            #expect(rejection { try harness.signal(id, from: ben, .answer, generation: 2) }?.field == "generation")
        }
    }

    @Test(arguments: Backing.allCases)
    func candidatesKeepToTheirGeneration(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            // They overtake the offer: 64 at most are kept.
            #expect(try harness.signal(id, from: anna, .candidates, generation: 1, candidates: 60).status == .pending)
            #expect(try harness.signal(id, from: anna, .candidates, generation: 1, candidates: 5).status == .ignored)
            #expect(try harness.signal(id, from: anna, .candidates, generation: 1, candidates: 4).status == .pending)
            #expect(try harness.signal(id, from: anna, .candidates, generation: 1, candidates: 0).status == .ignored)
            #expect(rejection { try harness.signal(id, from: anna, .candidates, generation: 2) }?.field == "generation")
            // These belong to an offer that comes second.
            #expect(try harness.signal(id, from: ben, .candidates, generation: 1).status == .pending)
            #expect(try harness.mailbox(of: ben, in: id).isEmpty)
            try harness.signal(id, from: anna, .offer, generation: 0)
            #expect(try harness.mailbox(of: ben, in: id).map(\.type) == ["offer", "candidates", "candidates"])
            try harness.signal(id, from: ben, .answer, generation: 1)
            try harness.signal(id, from: ben, .offer, generation: 1)
            #expect(try harness.mailbox(of: anna, in: id).map(\.type) == ["answer", "offer"])
            #expect(try harness.signal(id, from: ben, .candidates, generation: 1).status == .ignored)
            #expect(
                rejection { try harness.signal(id, from: ben, .candidates, generation: 2, candidates: 65) }?.field
                    == "payload.candidates")
        }
    }

    @Test(arguments: Backing.allCases)
    func aRepeatIsDeliveredOnce(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            let offer: ClientID = harness.id(), candidates: ClientID = harness.id()
            let first = try harness.signal(id, from: anna, .offer, generation: 0, clientID: offer)
            let again = try harness.signal(id, from: anna, .offer, generation: 0, clientID: offer)
            #expect(again.isDuplicate && again.generation == first.generation && again.status == first.status)
            try harness.signal(id, from: anna, .candidates, generation: 1, clientID: candidates)
            #expect(try harness.signal(id, from: anna, .candidates, generation: 1, clientID: candidates).isDuplicate)
            #expect(
                problem {
                    try harness.signal(id, from: anna, .candidates, generation: 1, candidates: 2, clientID: candidates)
                }
                    == .clientIDReused)
            #expect(try harness.mailbox(of: ben, in: id).map(\.type) == ["offer", "candidates"])
        }
    }

    @Test(arguments: Backing.allCases)
    func inAGroupEachPairNegotiatesByItself(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            #expect(rejection { try harness.signal(id, from: anna, .offer, generation: 0) }?.field == "to")
            #expect(rejection { try harness.signal(id, from: anna, to: anna, .offer, generation: 0) }?.field == "to")
            #expect(try harness.signal(id, from: anna, to: ben, .offer, generation: 0).generation == 1)
            #expect(try harness.signal(id, from: anna, to: cleo, .offer, generation: 0).generation == 1)
            #expect(try harness.signal(id, from: cleo, to: ben, .offer, generation: 0).generation == 1)
            #expect(try harness.mailbox(of: ben, in: id).count == 2)
            // A closed mailbox takes nothing, and comes back empty.
            try harness.hangUp(id, by: ben)
            #expect(try harness.mailbox(of: ben, in: id).isEmpty)
            #expect(rejection { try harness.signal(id, from: anna, to: ben, .offer, generation: 1) }?.field == "to")
            try harness.accept(id, by: ben)
            #expect(try harness.signal(id, from: anna, to: ben, .offer, generation: 0).generation == 1)
            #expect(try harness.mailbox(of: ben, in: id).count == 1)
        }
    }

    /// Entries keep their numbers, so that nobody has to start over, and hold nothing that is void.
    @Test(arguments: Backing.allCases)
    func whatIsSupersededLosesItsPayload(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            func kept(_ client: Client) throws -> [String] {
                try harness.mailbox(of: client, in: id).map { $0.data == MailboxLimits.superseded ? "-" : $0.type }
            }
            try harness.signal(id, from: anna, .offer, generation: 0)
            try harness.signal(id, from: anna, .candidates, generation: 1)
            try harness.signal(id, from: ben, .answer, generation: 1)
            try harness.signal(id, from: ben, .candidates, generation: 1)
            #expect(try kept(ben) == ["offer", "candidates"])
            #expect(try kept(anna) == ["answer", "candidates"])
            // Ben's new offer builds on an answer that Anna may not have read.
            try harness.signal(id, from: ben, .offer, generation: 1)
            #expect(try kept(anna) == ["answer", "-", "offer"])
            #expect(try kept(ben) == ["-", "candidates"])
            try harness.signal(id, from: ben, .offer, generation: 2)
            #expect(try kept(anna) == ["answer", "-", "-", "offer"])
            try harness.signal(id, from: anna, .answer, generation: 3)
            #expect(try kept(anna) == ["-", "-", "-", "offer"])
            #expect(try kept(ben) == ["-", "-", "answer"])
        }
    }

    @Test(arguments: Backing.allCases)
    func nothingIsKeptWhenTheCallEnds(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            let clientID: ClientID = harness.id()
            try harness.signal(id, from: anna, .offer, generation: 0, clientID: clientID)
            try harness.hangUp(id, by: ben)
            #expect(try harness.mailbox(of: ben, in: id).isEmpty)
            #expect(try harness.backend.store.sentSignal(clientID, of: anna.user, in: id) == nil)
            #expect(problem { try harness.signal(id, from: anna, .offer, generation: 1) } == .callEnded)
        }
    }

    /// The server was restored from a backup that knows nothing of what the two agreed on.
    @Test(arguments: Backing.allCases)
    func whatWasForgottenIsGoneOnFrom(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            #expect(
                try harness.signal(id, from: anna, .offer, generation: 7) == .init(status: .delivered, generation: 8))
            #expect(problem { try harness.signal(id, from: ben, .offer, generation: 7) } == .conflict)
            #expect(try harness.signal(id, from: ben, .answer, generation: 8).status == .delivered)
            #expect(rejection { try harness.signal(id, from: ben, .offer, generation: 9) }?.field == "generation")
        }
    }
}
