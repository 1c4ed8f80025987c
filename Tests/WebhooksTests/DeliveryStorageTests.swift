import Model
import Storage
import TestSupport
import Testing
import Webhooks

@Suite struct DeliveryStorageTests {
    @Test func nothingIsWrittenWithoutASubscriber() async throws {
        let scratch = try await ScratchWebhooks()
        try await scratch.event()
        let webhook = try await scratch.add(types: [.callRinging])
        try await scratch.event(.callEnded)
        let counts = try await scratch.store.database.read { sql in
            try ["events", "deliveries"].map { try sql.first("SELECT COUNT(*) FROM \($0)")?.int(0) }
        }
        #expect(counts == [0, 0])
        try await scratch.event(.callRinging)
        #expect(try await scratch.claim(webhook).count == 1)
    }

    @Test func aRemovedOrDisabledWebhookGetsNothingMore() async throws {
        let scratch = try await ScratchWebhooks()
        let webhook = try await scratch.add()
        try await scratch.event()
        let claim = try #require(try await scratch.claim(webhook).first)
        try await scratch.event()
        #expect(try await scratch.settle(claim, .disabled(reason: "410")))
        let disabled = try await scratch.webhook(webhook.id)
        #expect(disabled.disabledReason == "410" && disabled.waiting == 1)
        try await scratch.event()
        #expect(try await scratch.claim(webhook).isEmpty)
        #expect(try await scratch.webhook(webhook.id).waiting == 1)
        // What waited is sent once it is enabled.
        try await scratch.write { store in
            var webhook = disabled
            webhook.disabledAt = nil
            try store.update(webhook)
        }
        #expect(try await scratch.claim(webhook).count == 1)
        #expect(try await scratch.write { try $0.removeWebhook(webhook.id) })
        #expect(try await scratch.write { try !$0.removeWebhook(webhook.id) })
        scratch.time.advance(seconds: 120)
        try await scratch.event()
        #expect(try await scratch.claim(webhook).isEmpty)
        #expect(try await scratch.store.read { try $0.webhooks() }.isEmpty)
        // Nothing of it is left after a while.
        while try await scratch.write({ try $0.trimEvents(before: Timestamp(milliseconds: 0), limit: 10) }) > 0 {}
        #expect(
            try await scratch.store.database.read { try $0.first("SELECT COUNT(*) FROM webhooks")?.int(0) } == 0)
    }

    @Test func aClaimIsExclusiveUntilItsLeaseEnds() async throws {
        let scratch = try await ScratchWebhooks()
        let webhook = try await scratch.add()
        try await scratch.event()
        let first = try #require(try await scratch.claim(webhook).first)
        #expect(try await scratch.claim(webhook).isEmpty)
        let next = try await scratch.store.read { try $0.nextDelivery(of: webhook.id) }
        #expect(next == first.delivery.leaseUntil)
        scratch.time.advance(seconds: 60)
        let second = try #require(try await scratch.claim(webhook).first)
        #expect(second.event == first.event && second.delivery.fence > first.delivery.fence)
        // The one who was too late changes nothing, whatever it reports.
        for result: Settlement.Result in [
            .delivered(status: 200), .givenUp(status: 500, reason: "x"), .released, .expired, .disabled(reason: "x"),
            .retry(at: scratch.time.now, status: nil, reason: "x"),
        ] {
            #expect(try await !scratch.settle(first, result))
        }
        #expect(try await scratch.webhook(webhook.id).isEnabled)
        #expect(try await scratch.settle(second, .delivered(status: 204)))
        #expect(try await !scratch.settle(second, .delivered(status: 204)))
        let delivery = try #require(try await scratch.store.read { try $0.deliveries(of: webhook.id, limit: 10) }.first)
        #expect(delivery.outcome == .delivered && delivery.status == 204 && delivery.attempt == 1)
        #expect(try await scratch.webhook(webhook.id).waiting == 0)
        #expect(try await scratch.store.read { try $0.nextDelivery(of: webhook.id) } == nil)
    }

    @Test func aDeliveryMayBeClaimedAsItIsWritten() async throws {
        let scratch = try await ScratchWebhooks()
        let notices = Shared<[EventNotice]>([])
        let allows = Shared(true)
        scratch.store.observeEvents { notice in notices.update { $0.append(notice) } }
        scratch.store.claimNewDeliveries { _, now in allows.value ? now.adding(seconds: 30) : nil }
        let webhook = try await scratch.add()
        notices.update { $0 = [] }
        let event = try await scratch.event(.callRinging, expiresIn: 45)
        let notice = try #require(notices.value.first)
        #expect(notice.hasEvents && notice.webhooks.isEmpty)
        let claim = try #require(notice.claims.first)
        #expect(claim.event.id == event.id && claim.event.number > 0 && claim.event.data == event.data)
        #expect(try await scratch.claim(webhook).isEmpty)
        #expect(try await scratch.webhook(webhook.id).waiting == 1)
        let stored = try await scratch.store.read { try $0.deliveries(of: webhook.id, limit: 10) }
        #expect(stored == [claim.delivery])
        #expect(try await scratch.settle(claim, .delivered(status: 204)))
        #expect(try await scratch.webhook(webhook.id).waiting == 0)

        // One that is lost with its process is claimed after its lease.
        try await scratch.event()
        scratch.time.advance(seconds: 30)
        let again = try #require(try await scratch.claim(webhook).first)
        let lost = try #require(notices.value.last?.claims.first)
        #expect(again.event == lost.event && again.delivery.fence > lost.delivery.fence)
        #expect(try await !scratch.settle(lost, .delivered(status: 204)))

        // What is not committed is not claimed, and what may not be claimed waits.
        struct Failure: Error {}
        notices.update { $0 = [] }
        await #expect(throws: Failure.self) {
            try await scratch.write { store in
                try store.insert(event)
                throw Failure()
            }
        }
        #expect(notices.value.isEmpty)
        allows.update { $0 = false }
        try await scratch.event()
        #expect(notices.value.map(\.webhooks) == [[webhook.id]] && notices.value.first?.claims == [])
        #expect(try await scratch.claim(webhook).count == 1)
    }

    @Test func aRetryWaitsAndAReleasedClaimDoesNot() async throws {
        let scratch = try await ScratchWebhooks()
        let webhook = try await scratch.add()
        try await scratch.event()
        var claim = try #require(try await scratch.claim(webhook).first)
        let at = scratch.time.now.adding(seconds: 5)
        #expect(try await scratch.settle(claim, .retry(at: at, status: 503, reason: "busy")))
        #expect(try await scratch.claim(webhook).isEmpty)
        #expect(try await scratch.store.read { try $0.nextDelivery(of: webhook.id) } == at)
        scratch.time.advance(seconds: 5)
        claim = try #require(try await scratch.claim(webhook).first)
        #expect(claim.delivery.attempt == 1 && claim.delivery.status == 503 && claim.delivery.reason == "busy")
        #expect(try await scratch.settle(claim, .released))
        claim = try #require(try await scratch.claim(webhook).first)
        #expect(claim.delivery.attempt == 1)
        #expect(try await scratch.settle(claim, .givenUp(status: nil, reason: "no response")))
        #expect(try await scratch.webhook(webhook.id).waiting == 0)
    }

    @Test func ringsAreFirstAndNeverLate() async throws {
        let scratch = try await ScratchWebhooks()
        let webhook = try await scratch.add()
        for _ in 0..<3 { try await scratch.event(.callEnded) }
        try await scratch.event(.callRinging, expiresIn: 10)
        #expect(try await scratch.claim(webhook, limit: 2).map(\.event.type) == [.callRinging, .callEnded])
        try await scratch.event(.callRinging, expiresIn: 10)
        scratch.time.advance(seconds: 10)
        #expect(try await scratch.claim(webhook).map(\.event.type) == [.callEnded, .callEnded])
        let expired = try await scratch.store.read { try $0.deliveries(of: webhook.id, limit: 10) }
            .filter { $0.outcome == .expired }
        #expect(expired.count == 1)
    }

    @Test func theOldestAreDroppedBeyondTheLimit() async throws {
        let scratch = try await ScratchWebhooks()
        let webhook = try await scratch.add()
        try await scratch.event(.userCreated)
        try await scratch.event(.userDisabled)
        // As if the limit had been reached.
        _ = try await scratch.write { store in
            try store.sql.execute(
                "UPDATE webhooks SET waiting = ?1 WHERE id = ?2", [.integer(WebhookLimits.waiting), .id(webhook.id)])
        }
        try await scratch.event(.callEnded)
        let after = try await scratch.webhook(webhook.id)
        #expect(after.dropped == 1 && after.waiting == WebhookLimits.waiting)
        #expect(try await scratch.claim(webhook).map(\.event.type) == [.userDisabled, .callEnded])
    }

    @Test func oldRowsAreTrimmedAndCounted() async throws {
        let scratch = try await ScratchWebhooks()
        let webhook = try await scratch.add()
        for _ in 0..<25 { try await scratch.event() }
        scratch.time.advance(seconds: 100)
        let cutoff = scratch.time.now
        try await scratch.event(.userCreated)
        while try await scratch.write({ try $0.trimEvents(before: cutoff, limit: 10) }) > 0 {}
        let positions = try await scratch.store.read { try $0.eventPositions() }
        #expect(positions.trimmed == 25 && positions.last == 26)
        let after = try await scratch.webhook(webhook.id)
        #expect(after.dropped == 25 && after.waiting == 1)
        #expect(try await scratch.claim(webhook).map(\.event.type) == [.userCreated])
    }

    @Test func aReplayMakesNewDeliveriesOfTheSameEvents() async throws {
        let scratch = try await ScratchWebhooks()
        let webhook = try await scratch.add(types: [.callEnded, .callRinging])
        _ = try await scratch.add(types: [.userCreated])
        let early = try await scratch.event()
        scratch.time.advance(seconds: 10)
        let since = scratch.time.now
        var expected: [EventID] = []
        for _ in 0..<7 {
            expected.append(try await scratch.event().id)
            try await scratch.event(.userCreated)
            try await scratch.event(.callRinging, expiresIn: 1)
            scratch.time.advance(seconds: 1)
        }
        for claim in try await scratch.claim(webhook) { try await scratch.settle(claim, .delivered(status: 200)) }
        var (after, count) = (try await scratch.store.read { try $0.lastEvent(before: since) }, 0)
        #expect(after == 1)
        let last = try await scratch.store.read { try $0.eventPositions().last }
        var more = true
        while more {
            let from = after
            let (next, made) = try await scratch.write { store in
                var made = 0
                let next = try store.replay(to: webhook, after: from, upTo: last, limit: 4, count: &made)
                return (next, made)
            }
            count += made
            more = next != nil
            after = next ?? after
        }
        #expect(count == 7)
        let again = try await scratch.claim(webhook)
        #expect(again.map(\.event.id) == expected && !again.contains { $0.event.id == early.id })
        #expect(again.allSatisfy { $0.delivery.attempt == 0 })
        // An event that was trimmed meanwhile is not delivered, and does not block.
        for claim in again { try await scratch.settle(claim, .released) }
        _ = try await scratch.write { try $0.sql.execute("DELETE FROM events") }
        #expect(try await scratch.claim(webhook).isEmpty)
        #expect(try await scratch.store.read { try $0.nextDelivery(of: webhook.id) } == nil)
        #expect(try await scratch.webhook(webhook.id).dropped == 7)
    }

    @Test func pullersReadInOrderAndOnlyWhatOneSubscribesTo() async throws {
        let scratch = try await ScratchWebhooks()
        _ = try await scratch.add(types: [.userCreated, .callEnded])
        let puller = try await scratch.add(url: nil, types: [.callEnded])
        var ended: [EventID] = []
        for _ in 0..<5 {
            try await scratch.event(.userCreated)
            ended.append(try await scratch.event(.callEnded).id)
        }
        let events = try await scratch.pulled()
        #expect(events.map(\.id) == ended && events.map(\.number) == [2, 4, 6, 8, 10])
        #expect(try await scratch.pulled(after: 6).map(\.number) == [8, 10])
        #expect(try await scratch.webhook(puller.id).waiting == 0)
    }

    @Test func aPositionThatIsGoneSaysWhereToGoOn() throws {
        let position = try EventPosition("e1.7")
        #expect(position.text == "e1.7")
        #expect(try position.number(epoch: "e1", 7...9) == 7)
        for kept in [8...9, 3...6] as [ClosedRange<Int64>] {
            let problem = #expect(throws: Problem.self) { try position.number(epoch: "e1", kept) }
            #expect(problem?.kind == .gone && problem?.members["next"] == "\"e1.\(kept.lowerBound)\"")
        }
        #expect(throws: Problem.self) { try position.number(epoch: "e2", 7...9) }
        for text in ["", ".", "e1", "e1.", ".7", "e1.-7", "e1.7.8", "e1.99999999999999999999", "e1.٧"] {
            let problem = #expect(throws: Problem.self) { try EventPosition(text) }
            #expect(problem?.field == "after")
        }
    }
}
