import Model
import Testing
import Webhooks

@Suite struct EventTypeTests {
    @Test func anUnknownEventIsRefusedWithTheList() throws {
        #expect(try EventType.subscribable("call.ringing") == .callRinging)
        for text in ["call.rang", "webhook.test", "", String(repeating: "x", count: 4096)] {
            let problem = #expect(throws: Problem.self) { try EventType.subscribable(text) }
            #expect(problem?.field == "events")
            #expect(problem?.detail.contains("user.created, user.disabled") == true)
            #expect((problem?.detail.utf8.count ?? .max) < 400)
        }
    }

    @Test func thePayloadOfARingHasTheRemainingTime() {
        let at = Timestamp(milliseconds: 1_000)
        var event = EventRecord(
            id: .make(at: at), type: .callRinging, at: at, expiresAt: at.adding(milliseconds: 500),
            data: #"{"call":"c"}"#)
        #expect(
            event.payload(at: at.adding(milliseconds: 200))
                == #"{"type":"call.ringing","timestamp":"1970-01-01T00:00:01.000Z","data":{"call":"c","remainingMs":300}}"#
        )
        #expect(event.payload(at: at.adding(milliseconds: 900)).hasSuffix(#""remainingMs":0}}"#))
        event.expiresAt = nil
        #expect(event.payload(at: at).hasSuffix(#""data":{"call":"c"}}"#))
    }

    @Test func subscriptionsAreThoseOfEnabledWebhooks() {
        let now = Timestamp(milliseconds: 0)
        let all = WebhookRecord(id: .make(at: now), url: "https://a.example", secret: [], createdAt: now)
        let rings = WebhookRecord(
            id: .make(at: now), url: "https://b.example", types: [.callRinging], secret: [], createdAt: now)
        let puller = WebhookRecord(id: .make(at: now), types: [.callEnded], secret: [], createdAt: now)
        var disabled = rings
        disabled.disabledAt = now

        let none = WebhookSubscriptions([disabled])
        #expect(none == WebhookSubscriptions())
        #expect(EventType.allCases.allSatisfy { !none.includes($0) && none.recipients(of: $0).isEmpty })

        let some = WebhookSubscriptions([rings, puller])
        #expect(some.includes(.callRinging) && some.includes(.callEnded) && !some.includes(.userCreated))
        #expect(some.recipients(of: .callRinging) == [rings.id] && some.recipients(of: .callEnded).isEmpty)
        #expect(some.isPulled(.callEnded) && !some.isPulled(.callRinging))

        let both = WebhookSubscriptions([all, rings])
        #expect(both.recipients(of: .callRinging) == [all.id, rings.id])
        #expect(both.includes(.userDeleted) && !both.includes(.webhookTest))
    }
}
