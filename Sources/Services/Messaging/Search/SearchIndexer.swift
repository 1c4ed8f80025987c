package import Logging
import Messaging
import Model
import ServiceLifecycle
package import Storage
import Synchronization

/// Follows messages with the search index. It is woken by the commits that store messages or change their texts, and sleeps
/// otherwise.
///
/// How far each conversation is indexed is a row, so that a start goes on where the last process ended, and after an
/// upgrade indexes what there is. Searches read what is not indexed yet.
package final class SearchIndexer: Service {
    private static let retryDelay = Duration.seconds(10)
    /// A pause after each batch while there are more, in which others write.
    private static let maxPause = Duration.milliseconds(50)
    /// From the first message that is not indexed until it is.
    private static let delay = Duration.milliseconds(250)
    /// Conversations of one scan and of one batch.
    private static let scanned = 1_000
    private static let batched = 64

    private struct Pending {
        /// With the first commit that is not indexed.
        var conversations: [ConversationID: ContinuousClock.Instant] = [:]
        /// The first commit of what is being indexed, or could not be.
        var oldest: ContinuousClock.Instant? = .now
        /// Whether others may have messages that are not indexed: at the start, and after a failure.
        var needsScan = true
        /// Whether the next wake is set already.
        var isWaking = false
    }

    private let store: Store
    private let indexer = MessageIndexer()
    private let logger: Logger
    private let pending = Mutex(Pending())
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
        store.observeMessages { [weak self] in self?.add($0) }
        store.observeTexts { [weak self] in self?.add(Set($0.keys)) }
        wakes.continuation.yield()
    }

    /// How far searches have to read beside the index.
    package struct Lag: Sendable {
        /// Conversations with messages that are not indexed, of those that have changed since the start.
        package var conversations: Int
        /// Since the oldest commit that is not indexed, in seconds; 0 if all are.
        package var seconds: Double
    }

    package var lag: Lag {
        pending.withLock { pending in
            let oldest = (pending.conversations.values + [pending.oldest].compactMap(\.self)).min()
            return Lag(
                conversations: pending.conversations.count,
                seconds: oldest.map { $0.duration(to: .now) / .seconds(1) } ?? 0)
        }
    }

    /// What is added within a moment becomes one transaction. Searches read meanwhile what is not indexed.
    private func add(_ conversations: Set<ConversationID>) {
        let mustWake = pending.withLock { pending in
            let now = ContinuousClock.now
            for conversation in conversations where pending.conversations[conversation] == nil {
                pending.conversations[conversation] = now
            }
            defer { pending.isWaking = true }
            return !pending.isWaking
        }
        guard mustWake else { return }
        Task {
            try? await Task.sleep(for: Self.delay)
            self.pending.withLock { $0.isWaking = false }
            self.wakes.continuation.yield()
        }
    }

    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            for await _ in wakes.stream {
                do {
                    try await work()
                } catch {
                    // A full disk is logged once, and not every few seconds.
                    if !Task.isCancelled, (error as? SQLError)?.kind != .diskFull {
                        logger.error("messages cannot be indexed", metadata: ["error": "\(error)"])
                    }
                    pending.withLock { $0.needsScan = true }
                    try? await Task.sleep(for: Self.retryDelay)
                    wakes.continuation.yield()
                }
            }
        }
    }

    /// Indexes all that is pending.
    private func work() async throws {
        if pending.withLock({ $0.needsScan }) {
            try await scan()
            pending.withLock { $0.needsScan = false }
        }
        while !Task.isCancelled {
            let next = pending.withLock { pending in
                let next = Array(pending.conversations.prefix(Self.batched))
                for (conversation, _) in next { pending.conversations[conversation] = nil }
                pending.oldest = next.map(\.value).min()
                return next.map(\.key)
            }
            guard !next.isEmpty else { return }
            try await index(next)
            try await forgetDeleted()
        }
    }

    private func forgetDeleted() async throws {
        guard try await !store.read({ try $0.deletedTexts(limit: 1).isEmpty }) else { return }
        while !Task.isCancelled {
            let start = ContinuousClock.now
            guard try await store.write({ [indexer] in try indexer.forgetDeleted(in: $0) }).value else { return }
            try await Task.sleep(for: min(ContinuousClock.now - start, Self.maxPause))
        }
    }

    private func scan() async throws {
        var cursor: ConversationID?
        repeat {
            let after = cursor
            let found = try await store.read { try $0.conversationsToIndex(after: after, limit: Self.scanned) }
            for start in stride(from: 0, to: found.due.count, by: Self.batched) {
                try await index(Array(found.due[start..<min(start + Self.batched, found.due.count)]))
            }
            cursor = found.next
        } while cursor != nil && !Task.isCancelled
        try await forgetDeleted()
    }

    /// One that cannot be indexed does not keep the others from it: it is read until the next start.
    private func index(_ conversations: [ConversationID]) async throws {
        do {
            try await follow(conversations)
        } catch  where Self.isOfRows(error) {
            guard conversations.count > 1 else {
                return logger.error(
                    "a conversation cannot be indexed",
                    metadata: ["conversation": "\(conversations[0])", "error": "\(error)"])
            }
            for conversation in conversations { try await index([conversation]) }
        }
    }

    /// Whether rows cannot be read as they are, rather than the database.
    private static func isOfRows(_ error: any Error) -> Bool {
        (error as? SQLError).map { $0.kind == .unexpectedValue } ?? (error is DecodingError)
    }

    private struct Step: Sendable {
        var batches: [IndexBatch] = []
        var changes: [IndexChange] = []
        /// Those whose index another version has made.
        var outdated: [ConversationID] = []
        var left: [ConversationID] = []
    }

    private func follow(_ conversations: [ConversationID]) async throws {
        var left = conversations
        while !left.isEmpty, !Task.isCancelled {
            let step = try await next(of: left)
            left = step.left + step.batches.filter(\.hasMore).map(\.conversation)
            guard !step.batches.isEmpty || !step.changes.isEmpty || !step.outdated.isEmpty else { continue }
            let start = ContinuousClock.now
            left += try await store.write { [indexer] store in
                var again: [ConversationID] = []
                // Texts have changed since they were read.
                for batch in step.batches where try !indexer.write(batch, in: store) {
                    again.append(batch.conversation)
                }
                for change in step.changes { _ = try indexer.write(change, in: store) }
                // There may be more than one step has, or one of them may have changed once more.
                again += Set(step.changes.map(\.conversation))
                for id in step.outdated {
                    _ = try indexer.clear(id, in: store)
                    again.append(id)
                }
                return again
            }.value
            if !left.isEmpty { try await Task.sleep(for: min(ContinuousClock.now - start, Self.maxPause)) }
        }
    }

    /// Reads batches until there is enough for one transaction. The writer has to insert them, and no more.
    private func next(of conversations: [ConversationID]) async throws -> Step {
        try await store.read { [indexer] store in
            var step = Step()
            var count = 0
            for (position, id) in conversations.enumerated() {
                guard count < MessageIndexer.maxPostings else {
                    step.left = Array(conversations[position...])
                    break
                }
                if try indexer.isOutdated(id, in: store) {
                    step.outdated.append(id)
                    step.left = Array(conversations[(position + 1)...])
                    break
                }
                let changes = try indexer.changes(of: id, in: store)
                step.changes += changes
                count += changes.reduce(0) { $0 + $1.cost }
                guard let batch = try indexer.batch(of: id, in: store) else { continue }
                step.batches.append(batch)
                count += batch.postings.count
            }
            return step
        }
    }
}
