import Model
import Notifications
import TestSupport
import Testing
import Wire

@testable import Services

/// The decisions alone, with transactions that the test makes up.
@Suite struct PushQueueTests {
    /// The queue, by reference: macros of the tests take no mutating methods.
    private final class Queue {
        private var queue: PushQueue

        init(lanes: PushLanes.Limits = PushLanes.Limits()) { queue = PushQueue(lanes: lanes) }

        var isFinished: Bool { queue.isFinished }
        func work(at now: Timestamp) -> PushQueue.Work? { queue.work(at: now) }
        func deadline(at now: Timestamp) -> Timestamp? { queue.deadline(at: now) }
        func begin(_ host: String, for user: UserID, at now: Timestamp) -> PushLanes.Decision {
            queue.begin(host, for: user, isRing: false, at: now)
        }
        func settle(_ settlement: PushSettlement, at now: Timestamp) { queue.settle(settlement, at: now) }
        func fail(_ work: PushQueue.Work, at now: Timestamp) { queue.fail(work, at: now) }
        func notify(due: Timestamp) { queue.notify(due: due) }
        func expanded(_ expansion: PushQueue.Expansion = .conversation) { queue.expanded(expansion) }
        func becomeLarge() -> Bool { queue.becomeLarge() }
        func stop() { queue.stop() }

        func complete(
            _ work: PushQueue.Work, sources: Int = 0, calls: Int = 0, pushes: Int = 0, next: Timestamp? = nil,
            at now: Timestamp
        ) { queue.complete(work, sources: sources, calls: calls, pushes: pushes, next: next, at: now) }
    }

    private let start = Timestamp(milliseconds: 1_800_000_000_000)
    private let limits = PushQueue.Limits()

    private func record(_ id: Int64) -> PushRecord {
        PushRecord(
            id: id, topic: .conversation(.make(at: start)),
            registration: PushRegistration(
                id: id, user: .make(at: start), device: .make(at: start), kind: .web, sealed: [], digest: [],
                createdAt: start, updatedAt: start),
            after: 0, upTo: 1, createdAt: start, changedAt: start, fence: 1)
    }

    private func at(_ milliseconds: Int64) -> Timestamp { start.adding(milliseconds: milliseconds) }

    /// A queue whose first transaction has claimed so many pushes.
    private func claimed(_ pushes: Int, next: Timestamp? = nil) throws -> Queue {
        let queue = Queue()
        let work = try #require(queue.work(at: start))
        queue.complete(work, pushes: pushes, next: next, at: start)
        return queue
    }

    @Test func whatTheLastProcessLeftIsClaimedAtOnce() throws {
        let queue = Queue()
        let work = try #require(queue.work(at: start))
        #expect(work.sources == limits.sources && work.pushes == limits.pushes && work.settlements.isEmpty)
        #expect(work.leaseUntil == at(limits.leaseMilliseconds))
        #expect(queue.work(at: start) == nil && queue.deadline(at: start) == nil, "one transaction at a time")
    }

    @Test func nothingIsDoneWithoutACause() throws {
        let queue = try claimed(0)
        #expect(queue.work(at: at(limits.pollMilliseconds - 1)) == nil)
        #expect(queue.deadline(at: start) == at(limits.pollMilliseconds))
        #expect(queue.work(at: at(limits.pollMilliseconds)) != nil, "the rows are read now and then")
    }

    @Test func whatIsDueLaterIsClaimedThen() throws {
        let queue = try claimed(0, next: at(5_000))
        #expect(queue.work(at: at(4_999)) == nil && queue.deadline(at: start) == at(5_000))
        #expect(queue.work(at: at(5_000))?.sources == limits.sources)
    }

    @Test func whatWasWrittenIsClaimedAtOnce() throws {
        let queue = try claimed(0)
        queue.notify(due: start)
        let work = try #require(queue.work(at: start))
        // Something is written while the transaction runs: it may have come too late for it.
        queue.notify(due: start)
        queue.complete(work, sources: 1, at: start)
        let second = try #require(queue.work(at: start))
        queue.complete(second, at: start)
        #expect(queue.work(at: start) == nil)
        // The pushes of the source are written.
        queue.notify(due: start)
        queue.expanded()
        #expect(queue.work(at: start) != nil)
    }

    @Test func whatWasWrittenForLaterIsClaimedThen() throws {
        let queue = try claimed(0)
        queue.notify(due: at(250))
        queue.notify(due: at(300))
        #expect(queue.work(at: at(249)) == nil && queue.deadline(at: start) == at(250))
        let work = try #require(queue.work(at: at(250)))
        // This came too late for the transaction, which saw what is due at 300.
        queue.notify(due: at(280))
        queue.complete(work, sources: 1, next: at(300), at: at(251))
        #expect(queue.deadline(at: at(251)) == at(280))
        queue.complete(try #require(queue.work(at: at(280))), next: at(300), at: at(281))
        // A source without a device leaves nothing to claim.
        queue.expanded()
        #expect(queue.deadline(at: at(281)) == at(300))
    }

    @Test func aFullTransactionIsFollowedByAnother() throws {
        let queue = try claimed(limits.pushes, next: start)
        #expect(queue.work(at: start)?.pushes ?? 0 > 0)
    }

    @Test func settlementsShareATransaction() throws {
        let queue = try claimed(3)
        for id in 1...3 { queue.settle(PushSettlement(record(Int64(id)), .done(next: start)), at: at(Int64(id))) }
        #expect(queue.deadline(at: at(3)) == at(1 + limits.settleMilliseconds))
        #expect(queue.work(at: at(limits.settleMilliseconds)) == nil)
        let work = try #require(queue.work(at: at(1 + limits.settleMilliseconds)))
        #expect(work.settlements.map(\.push) == [1, 2, 3])
        queue.complete(work, at: at(30))
        #expect(queue.work(at: at(30)) == nil)
    }

    @Test func manySettlementsDoNotWait() throws {
        let queue = try claimed(limits.settlements)
        for id in 1..<Int64(limits.settlements) { queue.settle(PushSettlement(record(id), .rings), at: start) }
        #expect(queue.work(at: start) == nil)
        queue.settle(PushSettlement(record(0), .rings), at: start)
        #expect(queue.work(at: start)?.settlements.count == limits.settlements)
    }

    /// What a settlement makes due again is not known by the transaction that claimed it.
    @Test func whatIsSettledForLaterIsClaimedThen() throws {
        let queue = try claimed(1, next: at(limits.leaseMilliseconds))
        queue.settle(PushSettlement(record(1), .retry(at: at(250))), at: at(100))
        let work = try #require(queue.work(at: at(120)))
        #expect(work.settlements.count == 1)
        queue.complete(work, next: at(250), at: at(121))
        #expect(queue.deadline(at: at(121)).map { $0 <= at(250) } ?? false)
        #expect(queue.work(at: at(250)).map { $0.pushes > 0 } ?? false)
    }

    /// A source for which there is no room waits until one of those under way is written.
    @Test func whatCannotBeClaimedIsNotAskedForAgainAndAgain() throws {
        let queue = Queue()
        for _ in 0..<limits.expansions / limits.sources {
            let work = try #require(queue.work(at: start))
            #expect(work.sources == limits.sources)
            queue.complete(work, sources: limits.sources, next: start, at: start)
        }
        var count = 0
        while let work = queue.work(at: start), count < 100 {
            count += 1
            queue.complete(work, next: start, at: start)
        }
        #expect(count < 3)
        queue.expanded()
        #expect(queue.work(at: start)?.sources == 1)
    }

    /// However many large groups wait for their pages, other conversations and pushes do not wait for them.
    @Test func largeGroupsTakeNoRoom() throws {
        let queue = Queue()
        for _ in 0..<limits.largeGroups / limits.sources {
            queue.notify(due: start)
            queue.complete(try #require(queue.work(at: start)), sources: limits.sources, at: start)
            for _ in 0..<limits.sources { #expect(queue.becomeLarge()) }
        }
        queue.notify(due: start)
        let work = try #require(queue.work(at: start))
        #expect(work.sources == limits.sources && work.pushes == limits.pushes)
        queue.complete(work, sources: limits.sources, at: start)
        #expect(!queue.becomeLarge(), "they are bounded")
        queue.expanded(.largeGroup)
        #expect(queue.becomeLarge())
        queue.stop()
        for _ in 1..<limits.sources { queue.expanded() }
        #expect(!queue.isFinished)
        for _ in 0..<limits.largeGroups { queue.expanded(.largeGroup) }
        #expect(queue.isFinished)
    }

    @Test func aLargeGroupGivesItsRoomAway() throws {
        let queue = Queue()
        for _ in 0..<limits.expansions / limits.sources {
            queue.complete(try #require(queue.work(at: start)), sources: limits.sources, next: start, at: start)
        }
        queue.complete(try #require(queue.work(at: start)), next: start, at: start)
        #expect(queue.work(at: start) == nil)
        #expect(queue.becomeLarge())
        #expect(queue.work(at: start)?.sources == 1)
    }

    @Test func callsTakeNoRoomOfConversations() throws {
        let queue = Queue()
        queue.complete(try #require(queue.work(at: start)), sources: 32, calls: 32, next: start, at: start)
        #expect(queue.work(at: start)?.sources == limits.sources)
    }

    /// Nothing claims a push without its registration: a row that cannot be claimed is no reason to go on.
    @Test func whatIsDueAndNotThereIsNotAskedForAgainAndAgain() throws {
        let queue = try claimed(0, next: at(-5_000))
        #expect(queue.work(at: start) == nil)
        let deadline = try #require(queue.deadline(at: start))
        #expect(deadline > start && deadline <= at(limits.pauseMilliseconds))
    }

    /// A ring that failed is tried again after 250 ms.
    @Test func whatIsDueSoonIsClaimedThen() throws {
        let queue = try claimed(0, next: at(250))
        #expect(queue.deadline(at: start) == at(250))
        #expect(queue.work(at: at(250)) != nil)
    }

    @Test func aFailureKeepsSettlementsAndPauses() throws {
        let queue = try claimed(2)
        queue.settle(PushSettlement(record(1), .rings), at: start)
        let work = try #require(queue.work(at: at(20)))
        queue.settle(PushSettlement(record(2), .rings), at: at(30))
        queue.fail(work, at: at(40))
        let end = 40 + limits.pauseMilliseconds
        #expect(queue.work(at: at(end - 1)) == nil && queue.deadline(at: at(50)) == at(end))
        let again = try #require(queue.work(at: at(end)))
        #expect(again.settlements.map(\.push) == [1, 2] && again.sources > 0)
    }

    @Test func noMoreIsClaimedThanCanBeSent() throws {
        var lanes = PushLanes.Limits()
        lanes.all = 3
        let queue = Queue(lanes: lanes)
        let work = try #require(queue.work(at: start))
        #expect(work.pushes == 3)
        queue.complete(work, pushes: 3, next: start, at: start)
        queue.notify(due: start)
        #expect(queue.work(at: start) == nil && queue.deadline(at: start) == nil)
        queue.settle(PushSettlement(record(1), .rings), at: start)
        #expect(queue.work(at: at(20))?.pushes == 1)
    }

    @Test func whatStopsClaimsNothingAndSettlesAtOnce() throws {
        let queue = try claimed(2)
        queue.notify(due: start)
        queue.stop()
        #expect(!queue.isFinished && queue.work(at: start) == nil)
        #expect(queue.begin("host", for: .make(at: start), at: start) == .wait(0), "it is released at once")
        for id: Int64 in 1...2 { queue.settle(PushSettlement(record(id), .released(at: start)), at: start) }
        let work = try #require(queue.work(at: start))
        #expect(work.settlements.count == 2 && work.sources == 0 && work.pushes == 0 && !queue.isFinished)
        queue.complete(work, at: start)
        #expect(queue.isFinished && queue.work(at: at(1_000_000)) == nil)
    }

    @Test func whatCannotBeSettledWhenItStopsIsLeft() throws {
        let queue = try claimed(1)
        queue.settle(PushSettlement(record(1), .rings), at: start)
        queue.stop()
        let work = try #require(queue.work(at: start))
        queue.fail(work, at: start)
        #expect(queue.isFinished)
    }

    /// However it goes, it neither forgets what waits nor repeats a transaction without a cause.
    @Test func itNeitherSpinsNorStalls() throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        let queue = Queue()
        var now = start
        var waiting: [Timestamp] = []
        var underWay: [Int64] = []
        var settled = 0
        var last: Int64 = 0
        for _ in 0..<5_000 {
            now = now.adding(milliseconds: Int64.random(in: 0...100, using: &random))
            if Int.random(in: 0..<10, using: &random) == 0 {
                waiting.append(now)
                queue.notify(due: now)
            }
            if let index = underWay.indices.randomElement(using: &random), Bool.random(using: &random) {
                let id = underWay.remove(at: index)
                let isLater = Int.random(in: 0..<4, using: &random) == 0
                let next = now.adding(milliseconds: Int64.random(in: 0...3_000, using: &random))
                if isLater { waiting.append(next) }
                queue.settle(PushSettlement(record(id), isLater ? .retry(at: next) : .rings), at: now)
                settled += 1
            }
            var transactions = 0
            while let work = queue.work(at: now) {
                transactions += 1
                try #require(transactions < 10, "seed \(seed)")
                settled -= work.settlements.count
                guard Int.random(in: 0..<20, using: &random) > 0 else {
                    settled += work.settlements.count
                    queue.fail(work, at: now)
                    continue
                }
                let due = waiting.filter { $0 <= now }.prefix(work.pushes)
                for time in due { waiting.remove(at: waiting.firstIndex(of: time) ?? 0) }
                for _ in due {
                    last += 1
                    underWay.append(last)
                }
                queue.complete(work, pushes: due.count, next: waiting.min(), at: now)
            }
            // Something is due: there is a time at which it is claimed, and it is near.
            if let earliest = waiting.min() {
                let deadline = try #require(queue.deadline(at: now), "seed \(seed)")
                let latest = max(earliest, now).adding(milliseconds: limits.pauseMilliseconds)
                try #require(deadline <= latest, "seed \(seed)")
            }
            if settled > 0 { try #require(queue.deadline(at: now) != nil, "seed \(seed)") }
        }
    }
}
