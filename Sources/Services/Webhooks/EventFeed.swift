package import Accounts
package import Model
import ServiceLifecycle
package import Storage
import Synchronization
package import Webhooks

/// The events that pullers read: pages after a position, which wait for the next event if there is none.
///
/// All webhooks without an address are read together: a key with the scope `events` reads every event to which one of
/// them subscribes. Positions are the reader's, so several readers do not disturb each other.
package final class EventFeed: Sendable {
    package static let maxWait = Duration.seconds(30)
    /// Requests of one key that may wait at the same time.
    package static let waitersPerKey = 8

    private struct Waiters: Sendable {
        var continuations: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var counts: [ServerKeyID: Int] = [:]
        var last: UInt64 = 0
    }

    private let store: Store
    private let waiters = Mutex(Waiters())

    package init(store: Store) {
        self.store = store
        store.observeEvents { [weak self] notice in
            guard notice.hasEvents, let self else { return }
            for continuation in waiters.withLock({ Array($0.continuations.values) }) { continuation.yield() }
        }
    }

    package struct Page: Sendable {
        package var events: [EventRecord]
        /// The position after them, to go on from.
        package var next: String
        package var hasMore: Bool
        package var now: Timestamp
    }

    /// Where a reader begins.
    package enum Start: Sendable {
        /// After what has happened so far.
        case now
        /// With the kept events since a time.
        case since(Timestamp)
        /// After a position that a page returned.
        case after(String)
    }

    /// - Parameter wait: how long to wait if there is no event; at most `maxWait`.
    package func read(
        from start: Start, limit: Int, wait: Duration, by key: ServerKeyID
    ) async throws -> Page {
        let first = try await page(from: start, limit: limit)
        guard first.events.isEmpty, wait > .zero else { return first }
        let deadline = ContinuousClock.now + min(wait, Self.maxWait)
        let (number, woken) = try addWaiter(of: key)
        defer { removeWaiter(number, of: key) }
        var page = first
        repeat {
            // The waiter was added before this read, so nothing is missed between the two.
            page = try await self.page(from: .after(page.next), limit: limit)
            guard page.events.isEmpty, ContinuousClock.now < deadline else { break }
            await Self.wait(for: woken, until: deadline)
        } while !Task.isCancelled && !Task.isShuttingDownGracefully && ContinuousClock.now < deadline
        return page
    }

    private func page(from start: Start, limit: Int) async throws -> Page {
        try await store.read { store in
            guard EventType.subscribable.contains(where: store.subscriptions.isPulled) else {
                throw Problem(
                    .conflict,
                    "No events are kept for reading: run `switchboard webhook add` without --url on the server first.")
            }
            let (epoch, last, trimmed) = try store.eventPositions()
            let after: Int64 =
                switch start {
                case .now: last
                case .since(let time): try store.lastEvent(before: time)
                case .after(let text):
                    try EventPosition(text).number(epoch: epoch, trimmed...last)
                }
            let events = try store.pulledEvents(after: after, limit: limit)
            let hasMore = events.count == limit
            let next = EventPosition(epoch: epoch, number: hasMore ? events.last?.number ?? last : last)
            return Page(events: events, next: next.text, hasMore: hasMore, now: store.now)
        }
    }

    private func addWaiter(of key: ServerKeyID) throws -> (number: UInt64, woken: AsyncStream<Void>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return try waiters.withLock { waiters in
            guard waiters.counts[key, default: 0] < Self.waitersPerKey else {
                throw Problem(
                    .rateLimited, "At most \(Self.waitersPerKey) requests of a key may wait for events.", field: "wait",
                    retryAfter: 1000)
            }
            waiters.counts[key, default: 0] += 1
            waiters.last += 1
            waiters.continuations[waiters.last] = continuation
            return (waiters.last, stream)
        }
    }

    private func removeWaiter(_ number: UInt64, of key: ServerKeyID) {
        waiters.withLock { waiters in
            waiters.continuations[number]?.finish()
            waiters.continuations[number] = nil
            let count = waiters.counts[key, default: 0] - 1
            waiters.counts[key] = count > 0 ? count : nil
        }
    }

    /// Returns at an event, at the deadline, or when the server stops.
    private static func wait(for woken: AsyncStream<Void>, until deadline: ContinuousClock.Instant) async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in woken { return } }
                group.addTask { try? await Task.sleep(until: deadline, clock: .continuous) }
                await group.next()
                group.cancelAll()
            }
        }
    }
}
