import Calls
import Model
import Testing

@Suite struct AnswerTests {
    @Test(arguments: Backing.allCases)
    func oneEndpointWinsAndTheOthersLearnIt(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let tablet = world.another(ben)
            let id = try world.create(by: anna, to: [ben]).call.id
            let accepted = try world.accept(id, by: ben)
            #expect(accepted.call.participants[1].endpoint == ben.endpoint)
            let refused = refusal { try world.accept(id, by: tablet) }
            #expect(refused?.kind == .answeredElsewhere)
            #expect(refused?.members["call"]?.contains(ben.endpoint.text) == true)
            let last = try #require(try world.entries(.user(ben.user)).last)
            #expect(last.type == "call" && last.data.contains(ben.endpoint.text))
            // The winner may ask again; its siblings can neither decline nor hang up what it has taken.
            #expect(try world.accept(id, by: ben).isDuplicate)
            try world.decline(id, by: tablet)
            try world.hangUp(id, .end, by: tablet)
            #expect(try world.call(id).isLive)
            #expect(problem { try world.connected(id, by: tablet) } == .answeredElsewhere)
            #expect(problem { try world.signal(id, from: tablet, .answer, generation: 1) } == .answeredElsewhere)
        }
    }

    @Test(arguments: Backing.allCases)
    func aNewEndpointTakesOverFromALostOne(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.talk(anna, [ben])
            try world.signal(id, from: anna, .offer, generation: 0)
            try world.detach(ben)
            #expect(try world.call(id).participants[1].joining?.detachedAt != nil)
            let reopened = world.another(ben)
            let outcome = try world.accept(id, by: reopened)
            #expect(outcome.call.participants[1].joining?.hasTakenOver == true)
            #expect(outcome.callJSON.contains("taken_over"))
            #expect(outcome.effects.contains(.detach(.signals(id, ben.endpoint))))
            #expect(try world.mailbox(of: ben, in: id).isEmpty)
            // Endpoints are a new pair: generations begin anew.
            #expect(try world.signal(id, from: anna, .offer, generation: 0).generation == 1)
        }
    }

    @Test(arguments: Backing.allCases)
    func otherCallsAreHeldOrEndedWithTheAccept(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben", callWaiting: true)
            let cleo = try world.person("Cleo"), dora = try world.person("Dora")
            let first = try world.talk(anna, [ben])
            let second = try world.create(by: cleo, to: [ben]).call.id
            try world.accept(second, by: ben, other: .hold)
            #expect(try world.call(first).participants[1].media.held)
            let third = try world.create(by: dora, to: [ben]).call.id
            try world.accept(third, by: ben, other: .end)
            #expect(try world.call(first).ending?.reason == .hungUp)
            #expect(try world.call(second).ending?.reason == .hungUp)
            #expect(try world.call(third).isLive)
        }
    }

    @Test(arguments: Backing.allCases)
    func withoutAWordTheEndpointsOtherCallIsHeldOnAcceptAndReplacedOnCreate(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben", callWaiting: true)
            let cleo = try world.person("Cleo"), dora = try world.person("Dora")
            let first = try world.talk(anna, [ben])
            let second = try world.create(by: cleo, to: [ben]).call.id
            try world.accept(second, by: ben)
            #expect(try world.call(first).participants[1].media.held)
            try world.create(by: ben, to: [dora])
            #expect(try world.call(first).ending?.reason == .replaced)
            #expect(try world.call(second).ending?.reason == .replaced)
        }
    }

    @Test(arguments: Backing.allCases)
    func declineIsForAllEndpoints(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.create(by: anna, to: [ben]).call.id
            try world.ringing(id, by: ben)
            let declined = try world.decline(id, by: world.another(ben))
            #expect(declined.call.ending?.reason == .declined && declined.call.ending?.by == ben.user)
            #expect(declined.call.participants.map(\.state.name) == ["left", "declined"])
            #expect(try world.entries(.user(ben.user)).last?.data.contains("declined") == true)
            #expect(problem { try world.accept(id, by: ben) } == .callEnded)
            #expect(try world.decline(id, by: ben).effects.isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aRingEndsAtItsDeadlineAlsoAfterARestart(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.create(by: anna, to: [ben], ringSeconds: 30).call.id
            try world.advance(seconds: 10, renewing: [anna])
            try world.restart()
            try world.advance(seconds: 19, renewing: [anna])
            #expect(try world.call(id).status == .ringing)
            try world.advance(seconds: 1, renewing: [anna])
            #expect(try world.call(id).ending?.reason == .missed)
            #expect(try world.call(id).ending?.by == nil)
            #expect(try world.state(of: ben, in: id) == "missed")
        }
    }

    @Test(arguments: Backing.allCases)
    func mediaHasToFlowWithinTheSetupTime(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let lost = try world.create(by: anna, to: [ben]).call.id
            try world.accept(lost, by: ben)
            try world.advance(seconds: 20, renewing: [anna, ben])
            #expect(try world.call(lost).ending?.reason == .setupTimeout)
            let found = try world.create(by: anna, to: [ben]).call.id
            try world.accept(found, by: ben)
            try world.advance(seconds: 19, renewing: [anna, ben])
            try world.connected(found, by: anna)
            try world.advance(seconds: 60, renewing: [anna, ben])
            #expect(try world.call(found).isLive)
        }
    }

    @Test(arguments: Backing.allCases)
    func aLostConnectionEndsTheCallButALostSocketDoesNot(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.talk(anna, [ben])
            try world.detach(ben)
            // The other side's report that media flows keeps both alive.
            try world.advance(seconds: 29, renewing: [anna])
            try world.run { try $0.alive(id, by: anna.principal, at: $1, in: $2) }
            try world.advance(seconds: 29, renewing: [anna])
            #expect(try world.call(id).isLive)
            try world.restart()
            try world.advance(seconds: 29, renewing: [anna])
            #expect(try world.call(id).isLive)
            try world.attach(ben)
            #expect(try world.call(id).participants[1].joining?.detachedAt == nil)
            try world.advance(seconds: 30, renewing: [anna])
            #expect(try world.call(id).ending?.reason == .connectionLost)
        }
    }

    @Test(arguments: Backing.allCases)
    func theCallersCrashStopsTheRinging(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.create(by: anna, to: [ben]).call.id
            try world.advance(seconds: 30)
            #expect(try world.call(id).ending?.reason == .connectionLost)
            #expect(try world.state(of: ben, in: id) == "missed")
        }
    }
}
