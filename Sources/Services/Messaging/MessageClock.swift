package import Logging
import Messaging
import Model
import ServiceLifecycle
import Storage
import Synchronization

/// Removes messages that disappear when they are due, and sends those that are scheduled. It sleeps until the earliest
/// is. Some time after texts were erased it empties the database's log, which still has them.
///
/// All of its state is derived from rows, and each batch is one transaction: after a start, it goes on where the last
/// process ended. Nobody waits for a removal, since reads hide messages that are due.
package final class MessageClock: Service {
    /// Messages of one transaction: some milliseconds of the writer's time.
    private static let batch = 100
    /// The wall clock may be set forward: it is looked at so often.
    private static let maxSleep = Duration.seconds(60)
    private static let retryDelay = Duration.seconds(10)
    /// From an erasure to the checkpoint after which no byte of it is left: once for many.
    private static let checkpointDelay = Duration.seconds(30)

    private let store: Store
    private let commands: ConversationCommands
    private let logger: Logger
    /// What the clock sleeps for; nil for nothing.
    private let next = Mutex<Timestamp?>(nil)
    /// Whether texts were erased since the last checkpoint.
    private let hasErased = Mutex(false)
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init(service: ConversationService, logger: Logger) {
        store = service.store
        commands = service.commands
        self.logger = logger
        store.observeDue { [weak self] due in self?.note(due) }
        store.observeErasures { [weak self] in self?.noteErasure() }
        wakes.continuation.yield()
    }

    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            var timer: Task<Void, Never>?
            // The last process may have ended before its checkpoint.
            var checkpointAt: ContinuousClock.Instant? = .now + Self.checkpointDelay
            for await _ in wakes.stream {
                timer?.cancel()
                var (removed, delay) = await work()
                if removed > 0 || hasErased.withLock({ $0 }), checkpointAt == nil {
                    checkpointAt = .now + Self.checkpointDelay
                }
                if let time = checkpointAt, time <= .now {
                    // Messages that are erased from now on are left for the next one.
                    hasErased.withLock { $0 = false }
                    checkpointAt = await checkpoint() ? nil : .now + Self.retryDelay
                }
                if let time = checkpointAt { delay = min(delay, max(.zero, time - .now)) }
                timer = Task { [wakes, delay] in
                    try? await Task.sleep(for: delay)
                    if !Task.isCancelled { wakes.continuation.yield() }
                }
            }
            timer?.cancel()
        }
    }

    private func note(_ due: Timestamp) {
        let isEarlier = next.withLock { next in
            guard next.map({ due < $0 }) ?? true else { return false }
            next = due
            return true
        }
        if isEarlier { wakes.continuation.yield() }
    }

    /// It wakes the clock once for all that is erased until the checkpoint.
    private func noteErasure() {
        let isFirst = hasErased.withLock { hasErased in
            defer { hasErased = true }
            return !hasErased
        }
        if isFirst { wakes.continuation.yield() }
    }

    /// Removes and sends the messages that are due. Returns how many were removed, and how long to sleep.
    private func work() async -> (removed: Int, delay: Duration) {
        var removed = 0
        do {
            while !Task.isCancelled {
                let count = try await expire()
                guard count > 0 else { break }
                removed += count
            }
            while !Task.isCancelled, try await send() {}
            // It is cleared before reading: messages that are stored meanwhile wake the clock.
            next.withLock { $0 = nil }
            let (times, now) = try await store.read { store in
                ([try store.nextExpiry(), try store.nextScheduled()].compactMap(\.self), store.now)
            }
            guard let due = times.min() else { return (removed, Self.maxSleep) }
            next.withLock { next in next = next.map { min($0, due) } ?? due }
            // Messages that are still due cannot be removed.
            guard due > now else { return (removed, Self.retryDelay) }
            return (removed, min(.milliseconds(due.milliseconds(since: now)), Self.maxSleep))
        } catch {
            // A full disk is logged once, and not every few seconds.
            if !Task.isCancelled, (error as? SQLError)?.kind != .diskFull {
                logger.error("messages could not be removed or sent at their time", metadata: ["error": "\(error)"])
            }
            return (removed, Self.retryDelay)
        }
    }

    private func expire() async throws -> Int {
        let commands = commands
        return try await store.write { try commands.expireMessages(limit: Self.batch, in: $0) }.value
    }

    /// Sends the messages that are due, each in a transaction of its own. Returns whether there may be more.
    private func send() async throws -> Bool {
        let commands = commands
        let due = try await store.read { try $0.dueScheduled(limit: Self.batch) }
        for message in due {
            let (clientID, author) = (message.clientID, message.author)
            do {
                _ = try await store.write { try commands.sendDue(clientID, by: author, in: $0) }
            } catch let problem as Problem {
                _ = try await store.write { try commands.fail(clientID, by: author, because: problem, in: $0) }
            }
        }
        return due.count == Self.batch
    }

    /// Empties the write-ahead log, which still has the texts. False if that has to be tried again, as during a backup.
    private func checkpoint() async -> Bool {
        do {
            try await store.database.checkpoint()
            return true
        } catch {
            return false
        }
    }
}
