import Calls
import Model
import Testing

/// Live captions of calls in the gateway: who starts and stops them, who is notified, and how they end.
@Suite struct CaptionsTests {
    private static func rules(epoch: Int64 = 7) -> CallRules {
        var rules = GatewayModeTests.rules(epoch: epoch)
        rules.hasTranscription = true
        return rules
    }

    @Test(arguments: Backing.allCases)
    func everybodyIsShownThatThereAreCaptions(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            #expect(try harness.caption(id, by: ben).call.captions == .init(by: ben.user, since: harness.now))
            #expect(harness.captioned == [id])
            let entry = try #require(try harness.backend.entries(of: .call(id)).last)
            #expect(entry.type == "call" && entry.data.contains("\"captions\":{\"by\":\"\(ben.user)\""))
            #expect(try harness.call(id).captions?.by == ben.user, "The store has it.")
            #expect(try harness.caption(id, by: anna).isDuplicate)
            try harness.stopCaptions(id, by: cleo)
            #expect(harness.captioned.isEmpty)
            #expect(try harness.call(id).captions == nil)
            #expect(try harness.backend.entries(of: .call(id)).last?.data.contains("captions") == false)
            #expect(try harness.stopCaptions(id, by: cleo).effects.isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyWhoIsInTheCallBeginsAndEnds(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let eve = try harness.person("Eve")
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.accept(id, by: ben)
            #expect(problem { try harness.caption(id, by: cleo) } == .conflict, "She has not accepted.")
            #expect(problem { try harness.caption(id, by: eve) } == .notFound)
            #expect(problem { try harness.caption(id, by: harness.another(ben)) } == .answeredElsewhere)
            try harness.caption(id, by: anna)
            #expect(problem { try harness.stopCaptions(id, by: cleo) } == .conflict)
            #expect(problem { try harness.stopCaptions(id, by: eve) } == .notFound)
            #expect(harness.captioned == [id])
            let direct = try harness.talk(try harness.person("Dora"), [try harness.person("Emil")])
            let caller = try #require(try harness.call(direct).participants.first)
            let dora = Client(user: caller.user, endpoint: try #require(caller.endpoint))
            #expect(problem { try harness.caption(direct, by: dora) } == .conflict, "Its media goes past the server.")
        }
    }

    @Test(arguments: Backing.allCases)
    func whatIsSaidGoesToWhoWasJoinedWhileThereAreCaptions(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let ringing = try harness.person("Ringing"), declined = try harness.person("Declined")
            let publisher: EndpointID = harness.id()
            let id = try harness.create(by: anna, to: [ben, cleo, ringing, declined]).call.id
            for person in [ben, cleo] { try harness.accept(id, by: person) }
            try harness.decline(id, by: declined)
            let begin = harness.now
            func say(_ text: String, on endpoint: EndpointID, at start: Timestamp) throws -> [CallEffect] {
                try harness.commands.said(
                    text, on: endpoint, .microphone, in: id, from: start, lasting: 1_200, language: "en",
                    also: [publisher: cleo.user], at: harness.now, in: harness.backend.store)?.effects ?? []
            }
            let entries = try harness.backend.entries(of: .call(id)).count
            #expect(try say("hello", on: ben.endpoint, at: begin).isEmpty, "Nobody wants it.")

            try harness.caption(id, by: anna)
            let version = try harness.call(id).version
            let json = """
                {"user":"\(ben.user)","source":"microphone","startedAt":"\(begin)","durationMs":1200,\
                "text":"good \\"morning\\"","language":"en"}
                """
            let three: Set = [anna.endpoint, ben.endpoint, cleo.endpoint]
            let caption = Caption(
                user: ben.user, source: .microphone, startedAt: begin, duration: 1_200, text: "good \"morning\"",
                language: "en")
            #expect(caption.json == json)
            #expect(try say(caption.text, on: ben.endpoint, at: begin) == [.caption(id, caption, to: three)])
            #expect(try harness.call(id).version == version, "The document is the same.")
            guard case .caption(_, let published, _)? = try say("by WHIP", on: publisher, at: begin).first else {
                return #expect(Bool(false))
            }
            #expect(published.user == cleo.user)
            #expect(try say("who?", on: harness.id(), at: begin).isEmpty, "Nobody knows whose it is.")
            #expect(try harness.backend.entries(of: .call(id)).count == entries + 1, "Only that there are captions.")

            // A participant who joins later gets no earlier utterance; one who left gets none, and rejoins like a new
            // one.
            try harness.advance(seconds: 1, renewing: [anna, ben, cleo])
            let second = harness.now
            try harness.accept(id, by: ringing)
            try harness.hangUp(id, by: cleo)
            try harness.advance(seconds: 1, renewing: [anna, ben, cleo, ringing])
            try harness.accept(id, by: cleo)
            func audience(at start: Timestamp) throws -> Set<EndpointID> {
                guard case .caption(_, _, let audience)? = try say("so", on: ben.endpoint, at: start).first else {
                    return []
                }
                return audience
            }
            #expect(try audience(at: begin) == [anna.endpoint, ben.endpoint])
            #expect(try audience(at: second) == [anna.endpoint, ben.endpoint, ringing.endpoint])
            #expect(
                try audience(at: harness.now) == [anna.endpoint, ben.endpoint, ringing.endpoint, cleo.endpoint])
        }
    }

    /// The server lets joined endpoints listen, and stops when they go.
    @Test(arguments: Backing.allCases)
    func endpointsListenWhileTheyAreJoined(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            let captions = StreamName.captions(id)
            func attached(_ outcome: CallOutcome) -> Set<EndpointID> {
                Set(outcome.effects.compactMap { if case .attachEndpoint(let one, captions) = $0 { one } else { nil } })
            }
            func mayListen(_ client: Client) throws -> Bool {
                problem { try harness.commands.checkCaptions(of: id, by: client.principal, in: harness.backend.store) }
                    == nil
            }
            let first = try harness.accept(id, by: ben)
            #expect(attached(first).isEmpty)
            let begun = try harness.caption(id, by: anna)
            #expect(attached(begun) == [anna.endpoint, ben.endpoint])
            #expect(try mayListen(cleo) == false, "She rings.")
            let second = try harness.accept(id, by: cleo)
            #expect(attached(second) == [cleo.endpoint])
            #expect(try mayListen(cleo))
            #expect(try mayListen(harness.another(cleo)) == false, "Only the endpoint that is in the call.")
            // Another endpoint takes over.
            let tablet = harness.another(cleo)
            let taken = try harness.accept(id, by: tablet)
            #expect(attached(taken) == [tablet.endpoint])
            #expect(taken.effects.contains(.dropEndpoint(cleo.endpoint, captions)))
            #expect(try mayListen(tablet))
            #expect(try mayListen(cleo) == false)
            let gone = try harness.hangUp(id, by: tablet)
            #expect(gone.effects.contains(.dropEndpoint(tablet.endpoint, captions)))
            #expect(try mayListen(tablet) == false)
            let over = try harness.hangUp(id, .end, by: anna)
            #expect(over.effects.contains(.detach(captions)))
            #expect(try mayListen(anna) == false)
        }
    }

    @Test(arguments: Backing.allCases)
    func aFailureIsShownUntilSomebodyIsUnderstoodAgain(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            func fail(_ why: String) throws -> CallOutcome? {
                try harness.commands.captionsFailed(id, why, at: harness.now, in: harness.backend.store)
            }
            #expect(try fail("It is late.") == nil, "There are no captions.")
            try harness.caption(id, by: anna)
            #expect(try fail("It is late.")?.effects.isEmpty == true, "They go on.")
            #expect(try harness.call(id).captions?.failure == "It is late.")
            #expect(
                try harness.backend.entries(of: .call(id)).last?.data.contains("\"failure\":\"It is late.\"") == true)
            #expect(try fail("It is late.") == nil, "That is known.")
            let outcome = try harness.commands.said(
                "hello", on: ben.endpoint, .microphone, in: id, from: harness.now, lasting: 10, language: nil,
                also: [:],
                at: harness.now, in: harness.backend.store)
            #expect(outcome?.call.captions?.failure == nil)
            #expect(try harness.call(id).captions == .init(by: anna.user, since: harness.now))
            #expect(try harness.backend.entries(of: .call(id)).last?.data.contains("failure") == false)
        }
    }

    @Test(arguments: Backing.allCases)
    func theyEndWithTheCallAndGoOnInTheNextLifeOfTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let first = try harness.talk(anna, [ben, cleo])
            try harness.caption(first, by: anna)
            try harness.hangUp(first, .end, by: anna)
            #expect(harness.captioned.isEmpty)
            #expect(try harness.call(first).captions == nil)
            #expect(problem { try harness.caption(first, by: anna) } == .callEnded)
            #expect(try harness.stopCaptions(first, by: anna).effects.isEmpty, "It has ended.")

            let second = try harness.talk(anna, [ben, cleo])
            try harness.caption(second, by: anna)
            func restart(_ rules: CallRules) throws {
                harness.restart(with: rules)
                for outcome in try harness.commands.gatewayRestarted(at: harness.now, in: harness.backend.store) {
                    try harness.run { _, _, _ in outcome }
                }
            }
            try restart(Self.rules(epoch: 8))
            #expect(harness.captioned == [second])
            try restart(GatewayModeTests.rules(epoch: 9))
            #expect(harness.captioned.isEmpty, "Nobody can write anything down any more.")
            #expect(try harness.call(second).captions == nil)
            #expect(problem { try harness.caption(second, by: anna) } == .providerNotConfigured)
        }
    }
}
