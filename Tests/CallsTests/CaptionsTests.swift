import Calls
import Model
import Testing

/// Live captions of calls in the gateway: who begins and ends them, who is told, and what becomes of them.
@Suite struct CaptionsTests {
    private static func rules(epoch: Int64 = 7) -> CallRules {
        var rules = GatewayModeTests.rules(epoch: epoch)
        rules.hasTranscription = true
        return rules
    }

    @Test(arguments: Backing.allCases)
    func everybodyIsShownThatThereAreCaptions(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            #expect(try world.caption(id, by: ben).call.captions == .init(by: ben.user, since: world.now))
            #expect(world.captioned == [id])
            let told = try #require(try world.bench.entries(of: .call(id)).last)
            #expect(told.type == "call" && told.data.contains("\"captions\":{\"by\":\"\(ben.user)\""))
            #expect(try world.call(id).captions?.by == ben.user, "The store has it.")
            #expect(try world.caption(id, by: anna).isDuplicate)
            try world.stopCaptions(id, by: cleo)
            #expect(world.captioned.isEmpty)
            #expect(try world.call(id).captions == nil)
            #expect(try world.bench.entries(of: .call(id)).last?.data.contains("captions") == false)
            #expect(try world.stopCaptions(id, by: cleo).effects.isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyWhoIsInTheCallBeginsAndEnds(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let eve = try world.person("Eve")
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.accept(id, by: ben)
            #expect(problem { try world.caption(id, by: cleo) } == .conflict, "She has not accepted.")
            #expect(problem { try world.caption(id, by: eve) } == .notFound)
            #expect(problem { try world.caption(id, by: world.another(ben)) } == .answeredElsewhere)
            try world.caption(id, by: anna)
            #expect(problem { try world.stopCaptions(id, by: cleo) } == .conflict)
            #expect(problem { try world.stopCaptions(id, by: eve) } == .notFound)
            #expect(world.captioned == [id])
            let direct = try world.talk(try world.person("Dora"), [try world.person("Emil")])
            let caller = try #require(try world.call(direct).participants.first)
            let dora = Client(user: caller.user, endpoint: try #require(caller.endpoint))
            #expect(problem { try world.caption(direct, by: dora) } == .conflict, "Its media goes past the server.")
        }
    }

    @Test(arguments: Backing.allCases)
    func whatIsSaidGoesToWhoWasJoinedWhileThereAreCaptions(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let ringing = try world.person("Ringing"), declined = try world.person("Declined")
            let publisher: EndpointID = world.id()
            let id = try world.create(by: anna, to: [ben, cleo, ringing, declined]).call.id
            for person in [ben, cleo] { try world.accept(id, by: person) }
            try world.decline(id, by: declined)
            let begin = world.now
            func say(_ text: String, on endpoint: EndpointID, at start: Timestamp) throws -> [CallEffect] {
                try world.commands.said(
                    text, on: endpoint, .microphone, in: id, from: start, lasting: 1_200, language: "en",
                    also: [publisher: cleo.user], at: world.now, in: world.bench.store)?.effects ?? []
            }
            let entries = try world.bench.entries(of: .call(id)).count
            #expect(try say("hello", on: ben.endpoint, at: begin).isEmpty, "Nobody wants it.")

            try world.caption(id, by: anna)
            let version = try world.call(id).version
            let json = """
                {"user":"\(ben.user)","source":"microphone","startedAt":"\(begin)","durationMs":1200,\
                "text":"good \\"morning\\"","language":"en"}
                """
            let three: Set = [anna.endpoint, ben.endpoint, cleo.endpoint]
            #expect(try say("good \"morning\"", on: ben.endpoint, at: begin) == [.caption(id, json, to: three)])
            #expect(try world.call(id).version == version, "The document is the same.")
            guard case .caption(_, let text, _)? = try say("by WHIP", on: publisher, at: begin).first else {
                return #expect(Bool(false))
            }
            #expect(text.contains("\(cleo.user)"))
            #expect(try say("who?", on: world.id(), at: begin).isEmpty, "Nobody knows whose it is.")
            #expect(try world.bench.entries(of: .call(id)).count == entries + 1, "Only that there are captions.")

            // Who comes later did not hear it begin; who goes hears nothing any more, and comes back as somebody new.
            try world.advance(seconds: 1, renewing: [anna, ben, cleo])
            let second = world.now
            try world.accept(id, by: ringing)
            try world.hangUp(id, by: cleo)
            try world.advance(seconds: 1, renewing: [anna, ben, cleo, ringing])
            try world.accept(id, by: cleo)
            func audience(at start: Timestamp) throws -> Set<EndpointID> {
                guard case .caption(_, _, let audience)? = try say("so", on: ben.endpoint, at: start).first else {
                    return []
                }
                return audience
            }
            #expect(try audience(at: begin) == [anna.endpoint, ben.endpoint])
            #expect(try audience(at: second) == [anna.endpoint, ben.endpoint, ringing.endpoint])
            #expect(
                try audience(at: world.now) == [anna.endpoint, ben.endpoint, ringing.endpoint, cleo.endpoint])
        }
    }

    /// The server lets joined endpoints listen, and stops when they go.
    @Test(arguments: Backing.allCases)
    func endpointsListenWhileTheyAreJoined(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            let captions = StreamName.captions(id)
            func attached(_ outcome: CallOutcome) -> Set<EndpointID> {
                Set(outcome.effects.compactMap { if case .attachEndpoint(let one, captions) = $0 { one } else { nil } })
            }
            func mayListen(_ client: Client) throws -> Bool {
                problem { try world.commands.checkCaptions(of: id, by: client.principal, in: world.bench.store) } == nil
            }
            let first = try world.accept(id, by: ben)
            #expect(attached(first).isEmpty)
            let begun = try world.caption(id, by: anna)
            #expect(attached(begun) == [anna.endpoint, ben.endpoint])
            #expect(try mayListen(cleo) == false, "She rings.")
            let second = try world.accept(id, by: cleo)
            #expect(attached(second) == [cleo.endpoint])
            #expect(try mayListen(cleo))
            #expect(try mayListen(world.another(cleo)) == false, "Only the endpoint that is in the call.")
            // Another endpoint takes over.
            let tablet = world.another(cleo)
            let taken = try world.accept(id, by: tablet)
            #expect(attached(taken) == [tablet.endpoint])
            #expect(taken.effects.contains(.dropEndpoint(cleo.endpoint, captions)))
            #expect(try mayListen(tablet))
            #expect(try mayListen(cleo) == false)
            let gone = try world.hangUp(id, by: tablet)
            #expect(gone.effects.contains(.dropEndpoint(tablet.endpoint, captions)))
            #expect(try mayListen(tablet) == false)
            let over = try world.hangUp(id, .end, by: anna)
            #expect(over.effects.contains(.detach(captions)))
            #expect(try mayListen(anna) == false)
        }
    }

    @Test(arguments: Backing.allCases)
    func aFailureIsShownUntilSomebodyIsUnderstoodAgain(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            func fail(_ why: String) throws -> CallOutcome? {
                try world.commands.captionsFailed(id, why, at: world.now, in: world.bench.store)
            }
            #expect(try fail("It is late.") == nil, "There are no captions.")
            try world.caption(id, by: anna)
            #expect(try fail("It is late.")?.effects.isEmpty == true, "They go on.")
            #expect(try world.call(id).captions?.failure == "It is late.")
            #expect(try world.bench.entries(of: .call(id)).last?.data.contains("\"failure\":\"It is late.\"") == true)
            #expect(try fail("It is late.") == nil, "That is known.")
            let outcome = try world.commands.said(
                "hello", on: ben.endpoint, .microphone, in: id, from: world.now, lasting: 10, language: nil, also: [:],
                at: world.now, in: world.bench.store)
            #expect(outcome?.call.captions?.failure == nil)
            #expect(try world.call(id).captions == .init(by: anna.user, since: world.now))
            #expect(try world.bench.entries(of: .call(id)).last?.data.contains("failure") == false)
        }
    }

    @Test(arguments: Backing.allCases)
    func theyEndWithTheCallAndGoOnInTheNextLifeOfTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules()) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let first = try world.talk(anna, [ben, cleo])
            try world.caption(first, by: anna)
            try world.hangUp(first, .end, by: anna)
            #expect(world.captioned.isEmpty)
            #expect(try world.call(first).captions == nil)
            #expect(problem { try world.caption(first, by: anna) } == .callEnded)
            #expect(try world.stopCaptions(first, by: anna).effects.isEmpty, "It has ended.")

            let second = try world.talk(anna, [ben, cleo])
            try world.caption(second, by: anna)
            func restart(_ rules: CallRules) throws {
                world.restart(with: rules)
                for outcome in try world.commands.renewGateway(at: world.now, in: world.bench.store) {
                    try world.run { _, _, _ in outcome }
                }
            }
            try restart(Self.rules(epoch: 8))
            #expect(world.captioned == [second])
            try restart(GatewayModeTests.rules(epoch: 9))
            #expect(world.captioned.isEmpty, "Nobody can write anything down any more.")
            #expect(try world.call(second).captions == nil)
            #expect(problem { try world.caption(second, by: anna) } == .providerNotConfigured)
        }
    }
}
