import Model
import Testing
import Webhooks

@testable import Services

/// The decisions alone, with transactions that the test makes up.
@Suite struct DeliveryQueueTests {
    let start = Timestamp(milliseconds: 1_800_000_000_000)

    /// The rows, as a database would have them, and the queue over them.
    private struct Harness {
        var queue = DeliveryQueue()
        var now: Timestamp
        let targets: [DeliveryTarget]
        var waiting: [WebhookID: [Int64]] = [:]
        var lastID: Int64 = 0
        var settled: [Settlement] = []
        var expiresAt: Timestamp?

        init(webhooks: Int, at now: Timestamp) {
            self.now = now
            targets = (0..<webhooks).compactMap { index in
                WebhookURL("https://a.example").map { url in
                    DeliveryTarget(
                        webhook: .make(at: now.adding(milliseconds: Int64(index))), url: url, secret: [1])
                }
            }
        }

        mutating func add(_ count: Int, to index: Int) {
            for _ in 0..<count {
                lastID += 1
                waiting[targets[index].webhook, default: []].append(lastID)
            }
            queue.notify([targets[index].webhook])
        }

        /// Runs transactions until none has a reason. Returns how many ran.
        @discardableResult mutating func commit() -> Int {
            var count = 0
            while let work = queue.work(at: now) {
                count += 1
                settled += work.settlements
                for settlement in work.settlements where settlement.result == .released {
                    waiting[settlement.webhook, default: []].append(settlement.delivery)
                }
                var claimed: [WebhookID: DeliveryQueue.Claimed] = [:]
                for (webhook, limit) in work.claims {
                    let ids = (waiting[webhook] ?? []).prefix(limit)
                    waiting[webhook]?.removeFirst(ids.count)
                    claimed[webhook] = DeliveryQueue.Claimed(
                        deliveries: ids.map { claim($0, of: webhook, until: work.leaseUntil) },
                        next: waiting[webhook]?.isEmpty == false ? now : nil)
                }
                queue.complete(work, targets: work.reloads ? targets : nil, claimed: claimed, at: now)
            }
            return count
        }

        func claim(_ id: Int64, of webhook: WebhookID, until lease: Timestamp) -> ClaimedDelivery {
            ClaimedDelivery(
                delivery: DeliveryRecord(
                    id: id, webhook: webhook, event: id, notBefore: lease, leaseUntil: lease, fence: 1, createdAt: now),
                event: EventRecord(
                    id: .make(at: now), number: id, type: .callEnded, at: now, expiresAt: expiresAt, data: "{}"))
        }

        mutating func finish(
            _ attempts: some Sequence<DeliveryQueue.Attempt>, _ result: Settlement.Result = .delivered(status: 200),
            milliseconds: Int = 1
        ) {
            for attempt in attempts { queue.finish(attempt, result, duration: .milliseconds(milliseconds), at: now) }
        }
    }

    @Test func aWebhookHasItsSlotsAndNoMore() {
        var harness = Harness(webhooks: 1, at: start)
        harness.add(100, to: 0)
        harness.commit()
        let attempts = harness.queue.begin(at: start)
        #expect(attempts.count == 16)
        #expect(harness.queue.inFlight == 16)
        #expect(harness.waiting.values.first?.count == 84)
        #expect(harness.commit() == 0)
        #expect(harness.queue.begin(at: start).isEmpty)
        // Slow responses: what is claimed has a slot.
        harness.finish(attempts.prefix(3), milliseconds: 1_000)
        #expect(harness.commit() == 1)
        #expect(harness.settled.count == 3)
        #expect(harness.queue.begin(at: start).count == 3)
        #expect(harness.waiting.values.first?.count == 81)
    }

    @Test func oneThatNeverRespondsHoldsUpNoOther() throws {
        var harness = Harness(webhooks: 3, at: start)
        harness.add(1_000, to: 0)
        harness.add(1_000, to: 1)
        harness.commit()
        var attempts = harness.queue.begin(at: start)
        #expect(attempts.count == 32)
        // The first is silent; the second responds, and empties its queue meanwhile.
        let silent = harness.targets[0].webhook
        var delivered = 0
        while delivered < 1_000 {
            let responding = attempts.filter { $0.target.webhook != silent }
            #expect(responding.count <= 16)
            try #require(!responding.isEmpty)
            harness.finish(responding)
            delivered += responding.count
            harness.commit()
            attempts = harness.queue.begin(at: start)
        }
        #expect(harness.queue.inFlight == 16)
        // A new event of the third begins with the next transaction.
        harness.add(1, to: 2)
        #expect(harness.commit() == 1)
        #expect(harness.queue.begin(at: start).map(\.target.webhook) == [harness.targets[2].webhook])
    }

    @Test func aQuickOneIsClaimedAheadInBatches() {
        var harness = Harness(webhooks: 1, at: start)
        harness.add(2_000, to: 0)
        harness.commit()
        var delivered = 0
        var transactions = 0
        var attempts = harness.queue.begin(at: start)
        while let attempt = attempts.popLast() {
            harness.finish([attempt])
            delivered += 1
            attempts += harness.queue.begin(at: start)
            transactions += harness.commit()
            attempts += harness.queue.begin(at: start)
            #expect(attempts.count <= 16)
        }
        #expect(delivered == 2_000)
        #expect(transactions < 100)
        // The last settlements wait for others, but not for long.
        harness.now = start.adding(milliseconds: 100)
        harness.commit()
        #expect(harness.settled.count == 2_000)
        #expect(Set(harness.settled.map(\.delivery)).count == 2_000)
    }

    @Test func whatCannotBeginSoonIsReleased() {
        var harness = Harness(webhooks: 1, at: start)
        harness.add(16, to: 0)
        harness.commit()
        harness.finish(harness.queue.begin(at: start))
        harness.add(100, to: 0)
        harness.commit()
        let attempts = harness.queue.begin(at: start)
        #expect(attempts.count == 16)
        #expect(harness.waiting.values.first?.count == 20)
        // Now it stalls, and all time out.
        harness.now = start.adding(seconds: 15)
        harness.finish(attempts, .retry(at: harness.now, status: nil, reason: "late"), milliseconds: 15_000)
        #expect(harness.queue.begin(at: harness.now).isEmpty)
        harness.commit()
        #expect(harness.settled.filter { $0.result == .released }.count == 64)
        #expect(harness.queue.begin(at: harness.now).count == 16)
    }

    @Test func aRingThatIsOverIsNotSent() {
        var harness = Harness(webhooks: 1, at: start)
        harness.expiresAt = start.adding(milliseconds: 5)
        harness.add(1, to: 0)
        harness.commit()
        #expect(harness.queue.begin(at: start.adding(milliseconds: 5)).isEmpty)
        harness.now = start.adding(seconds: 1)
        harness.commit()
        #expect(harness.settled.map(\.result) == [.expired])
    }

    @Test func aDisabledOneIsForgottenUntilItIsReadAgain() {
        var harness = Harness(webhooks: 1, at: start)
        harness.add(40, to: 0)
        harness.commit()
        let attempts = harness.queue.begin(at: start)
        harness.finish(attempts.prefix(1), .disabled(reason: "gone"))
        #expect(harness.queue.begin(at: start).isEmpty)
        #expect(harness.queue.inFlight == 15)
        // It is enabled again while its attempts go on: they keep their slots.
        harness.queue.reload()
        harness.now = start.adding(milliseconds: 100)
        harness.commit()
        #expect(harness.queue.begin(at: start).count == 1)
        harness.finish(attempts.dropFirst())
        #expect(harness.queue.inFlight == 1)
    }

    @Test func aFailedTransactionIsRepeatedAfterAWhile() {
        var harness = Harness(webhooks: 1, at: start)
        harness.add(1, to: 0)
        harness.commit()
        harness.finish(harness.queue.begin(at: start))
        harness.now = start.adding(milliseconds: 100)
        guard let work = harness.queue.work(at: harness.now) else {
            Issue.record("There is nothing to settle.")
            return
        }
        #expect(harness.queue.work(at: harness.now) == nil)
        harness.queue.fail(work, at: harness.now)
        #expect(harness.queue.work(at: harness.now) == nil)
        #expect(harness.queue.deadline(at: harness.now) == start.adding(milliseconds: 1_100))
        harness.now = start.adding(seconds: 2)
        harness.commit()
        #expect(harness.settled.count == 1)
    }

    @Test func aRetryIsClaimedWhenItIsDue() {
        var harness = Harness(webhooks: 1, at: start)
        harness.add(2, to: 0)
        harness.commit()
        let attempts = harness.queue.begin(at: start)
        let webhook = harness.targets[0].webhook
        // One fails before the next transaction, one while it runs.
        let (first, second) = (start.adding(seconds: 7), start.adding(seconds: 5))
        harness.finish(attempts.prefix(1), .retry(at: first, status: 500, reason: "no"))
        harness.queue.notify([webhook])
        guard let work = harness.queue.work(at: start) else {
            Issue.record("There is nothing to claim.")
            return
        }
        harness.finish(attempts.dropFirst(), .retry(at: second, status: 500, reason: "no"))
        harness.queue.complete(work, targets: nil, claimed: [webhook: .init(deliveries: [], next: first)], at: start)
        harness.now = start.adding(milliseconds: 100)
        harness.commit()
        #expect(harness.queue.deadline(at: harness.now) == second)
        #expect(harness.queue.work(at: second)?.claims.count == 1)
    }

    @Test func anEventDuringATransactionIsNotMissed() {
        var harness = Harness(webhooks: 1, at: start)
        harness.commit()
        harness.queue.notify([harness.targets[0].webhook])
        guard let work = harness.queue.work(at: start) else {
            Issue.record("There is nothing to claim.")
            return
        }
        // Committed after the claim, before the queue knows its result.
        harness.queue.notify([harness.targets[0].webhook])
        harness.queue.complete(
            work, targets: nil, claimed: [harness.targets[0].webhook: .init(deliveries: [])], at: start)
        #expect(harness.queue.work(at: start)?.claims.count == 1)
    }

    @Test func newDeliveriesAreClaimedAsTheyAreWritten() {
        var harness = Harness(webhooks: 1, at: start)
        let webhook = harness.targets[0].webhook
        // Unknown, and then with others that may wait before them.
        #expect(harness.queue.reserve(webhook, at: start) == nil)
        harness.commit()
        let until = start.adding(seconds: 30)
        for _ in 0..<16 { #expect(harness.queue.reserve(webhook, at: start) == until) }
        #expect(harness.queue.reserve(webhook, at: start) == nil)
        harness.queue.accept((1...10).map { harness.claim($0, of: webhook, until: until) }, at: start)
        let attempts = harness.queue.begin(at: start)
        #expect(attempts.map(\.claim.delivery.id) == Array(1...10))
        #expect(harness.queue.reserve(webhook, at: start) == nil)
        // The transactions of six have failed. A quick response allows more.
        harness.finish(attempts)
        harness.now = start.adding(milliseconds: 100)
        #expect(harness.commit() == 1)
        for _ in 0..<80 { #expect(harness.queue.reserve(webhook, at: start) == until) }
        #expect(harness.queue.reserve(webhook, at: start) == nil)
        // What waits in the database comes first.
        harness.queue.accept((11...90).map { harness.claim($0, of: webhook, until: until) }, at: start)
        harness.finish(harness.queue.begin(at: start))
        harness.queue.notify([webhook])
        #expect(harness.queue.reserve(webhook, at: start) == nil)
        // After a stop they are released.
        harness.queue.stop(at: start)
        harness.queue.accept([harness.claim(91, of: webhook, until: until)], at: start)
        harness.commit()
        #expect(harness.settled.last { $0.delivery == 91 }?.result == .released)
    }

    @Test func stoppingReleasesAndSettles() {
        var harness = Harness(webhooks: 1, at: start)
        harness.add(16, to: 0)
        harness.commit()
        harness.finish(harness.queue.begin(at: start))
        harness.add(40, to: 0)
        harness.commit()
        let attempts = harness.queue.begin(at: start)
        harness.queue.stop(at: start)
        #expect(!harness.queue.isFinished)
        harness.finish(attempts.prefix(10))
        harness.finish(attempts.dropFirst(10), .released)
        harness.commit()
        #expect(harness.queue.isFinished)
        #expect(harness.settled.filter { $0.result == .released }.count == 30)
        #expect(harness.settled.count == 56)
        #expect(harness.queue.deadline(at: start) == nil)
    }
}
