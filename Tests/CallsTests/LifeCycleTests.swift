import Calls
import Model
import Testing

@Suite struct LifeCycleTests {
    @Test(arguments: Backing.allCases)
    func twoPeopleCallTalkAndHangUp(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let created = try harness.create(by: anna, to: [ben], offer: "v=0 offer")
            #expect(created.call.status == .ringing)
            #expect(created.effects.contains(.attachUser(ben.user, .call(created.call.id))))
            #expect(created.effects.contains(.ringPush(ben.user, created.call.id, remainingMs: 60_000)))
            let id = created.call.id

            #expect(try harness.ringing(id, by: ben).call.participants[1].state.name == "ringing")
            let accepted = try harness.accept(id, by: ben)
            #expect(accepted.call.status.name == "active")
            #expect(try harness.mailbox(of: ben, in: id).map(\.type) == ["offer"])

            #expect(
                try harness.signal(id, from: ben, .answer, generation: 1) == .init(status: .delivered, generation: 1))
            #expect(try harness.mailbox(of: anna, in: id).map(\.type) == ["answer"])
            #expect(try harness.connected(id, by: anna).call.deadlines.isEmpty)

            let ended = try harness.hangUp(id, by: ben)
            #expect(ended.call.ending?.reason == .hungUp)
            #expect(ended.call.ending?.by == ben.user)
            #expect(ended.effects.contains(.ended(id)))
            #expect(try harness.mailbox(of: anna, in: id).isEmpty)
            #expect(try harness.call(id) == ended.call)
            #expect(
                try harness.entries(.call(id)).map(\.type) == [
                    "participant", "participant", "call", "participant", "participant", "participant", "call",
                ])
        }
    }
}
