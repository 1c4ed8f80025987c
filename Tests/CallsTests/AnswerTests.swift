import Calls
import Model
import Testing

@Suite struct AnswerTests {
    @Test(arguments: Backing.allCases)
    func oneEndpointWinsAndTheOthersLearnIt(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let tablet = harness.another(ben)
            let id = try harness.create(by: anna, to: [ben]).call.id
            let accepted = try harness.accept(id, by: ben)
            #expect(accepted.call.participants[1].endpoint == ben.endpoint)
            let refused = rejection { try harness.accept(id, by: tablet) }
            #expect(refused?.kind == .answeredElsewhere)
            #expect(refused?.members["call"]?.contains(ben.endpoint.text) == true)
            let last = try #require(try harness.entries(.user(ben.user)).last)
            #expect(last.type == "call" && last.data.contains(ben.endpoint.text))
            // The winner may ask again; its siblings can neither decline nor hang up what it has taken.
            #expect(try harness.accept(id, by: ben).isDuplicate)
            try harness.decline(id, by: tablet)
            try harness.hangUp(id, .end, by: tablet)
            #expect(try harness.call(id).isLive)
            #expect(problem { try harness.connected(id, by: tablet) } == .answeredElsewhere)
            #expect(problem { try harness.signal(id, from: tablet, .answer, generation: 1) } == .answeredElsewhere)
        }
    }

    @Test(arguments: Backing.allCases)
    func aNewEndpointTakesOverFromALostOne(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            try harness.signal(id, from: anna, .offer, generation: 0)
            try harness.detach(ben)
            #expect(try harness.call(id).participants[1].joining?.detachedAt != nil)
            let reopened = harness.another(ben)
            let outcome = try harness.accept(id, by: reopened)
            #expect(outcome.call.participants[1].joining?.hasTakenOver == true)
            #expect(outcome.callJSON.contains("taken_over"))
            #expect(outcome.effects.contains(.detach(.signals(id, ben.endpoint))))
            #expect(try harness.mailbox(of: ben, in: id).isEmpty)
            // Endpoints are a new pair: generations begin anew.
            #expect(try harness.signal(id, from: anna, .offer, generation: 0).generation == 1)
        }
    }

    @Test(arguments: Backing.allCases)
    func otherCallsAreHeldOrEndedWithTheAccept(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben", callWaiting: true)
            let cleo = try harness.person("Cleo"), dora = try harness.person("Dora")
            let first = try harness.talk(anna, [ben])
            let second = try harness.create(by: cleo, to: [ben]).call.id
            try harness.accept(second, by: ben, other: .hold)
            #expect(try harness.call(first).participants[1].media.held)
            let third = try harness.create(by: dora, to: [ben]).call.id
            try harness.accept(third, by: ben, other: .end)
            #expect(try harness.call(first).ending?.reason == .hungUp)
            #expect(try harness.call(second).ending?.reason == .hungUp)
            #expect(try harness.call(third).isLive)
        }
    }

    @Test(arguments: Backing.allCases)
    func withoutAWordTheEndpointsOtherCallIsHeldOnAcceptAndReplacedOnCreate(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben", callWaiting: true)
            let cleo = try harness.person("Cleo"), dora = try harness.person("Dora")
            let first = try harness.talk(anna, [ben])
            let second = try harness.create(by: cleo, to: [ben]).call.id
            try harness.accept(second, by: ben)
            #expect(try harness.call(first).participants[1].media.held)
            try harness.create(by: ben, to: [dora])
            #expect(try harness.call(first).ending?.reason == .replaced)
            #expect(try harness.call(second).ending?.reason == .replaced)
        }
    }

    @Test(arguments: Backing.allCases)
    func declineIsForAllEndpoints(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.create(by: anna, to: [ben]).call.id
            try harness.ringing(id, by: ben)
            let declined = try harness.decline(id, by: harness.another(ben))
            #expect(declined.call.ending?.reason == .declined && declined.call.ending?.by == ben.user)
            #expect(declined.call.participants.map(\.state.name) == ["left", "declined"])
            #expect(try harness.entries(.user(ben.user)).last?.data.contains("declined") == true)
            #expect(problem { try harness.accept(id, by: ben) } == .callEnded)
            #expect(try harness.decline(id, by: ben).effects.isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aRingEndsAtItsDeadlineAlsoAfterARestart(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.create(by: anna, to: [ben], ringSeconds: 30).call.id
            try harness.advance(seconds: 10, renewing: [anna])
            try harness.restart()
            try harness.advance(seconds: 19, renewing: [anna])
            #expect(try harness.call(id).status == .ringing)
            try harness.advance(seconds: 1, renewing: [anna])
            #expect(try harness.call(id).ending?.reason == .missed)
            #expect(try harness.call(id).ending?.by == nil)
            #expect(try harness.state(of: ben, in: id) == "missed")
        }
    }

    @Test(arguments: Backing.allCases)
    func mediaHasToFlowWithinTheSetupTime(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let lost = try harness.create(by: anna, to: [ben]).call.id
            try harness.accept(lost, by: ben)
            try harness.advance(seconds: 20, renewing: [anna, ben])
            #expect(try harness.call(lost).ending?.reason == .setupTimeout)
            let found = try harness.create(by: anna, to: [ben]).call.id
            try harness.accept(found, by: ben)
            try harness.advance(seconds: 19, renewing: [anna, ben])
            try harness.connected(found, by: anna)
            try harness.advance(seconds: 60, renewing: [anna, ben])
            #expect(try harness.call(found).isLive)
        }
    }

    @Test(arguments: Backing.allCases)
    func aLostConnectionEndsTheCallButALostSocketDoesNot(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            try harness.detach(ben)
            // The other side's report that media flows keeps both alive.
            try harness.advance(seconds: 29, renewing: [anna])
            try harness.run { try $0.alive(id, by: anna.principal, at: $1, in: $2) }
            try harness.advance(seconds: 29, renewing: [anna])
            #expect(try harness.call(id).isLive)
            try harness.restart()
            try harness.advance(seconds: 29, renewing: [anna])
            #expect(try harness.call(id).isLive)
            try harness.attach(ben)
            #expect(try harness.call(id).participants[1].joining?.detachedAt == nil)
            try harness.advance(seconds: 30, renewing: [anna])
            #expect(try harness.call(id).ending?.reason == .connectionLost)
        }
    }

    @Test(arguments: Backing.allCases)
    func theCallersCrashStopsTheRinging(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.create(by: anna, to: [ben]).call.id
            try harness.advance(seconds: 30)
            #expect(try harness.call(id).ending?.reason == .connectionLost)
            #expect(try harness.state(of: ben, in: id) == "missed")
        }
    }
}
