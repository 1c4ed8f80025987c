package import Logging
import Messaging
import Model
import ServiceLifecycle
package import Storage
import Synchronization

/// Follows messages with the search index. It is woken by the commits that store messages or change their texts, and
/// sleeps otherwise.
///
/// How far each conversation is indexed is a row. So after a start, indexing goes on where the last process ended, and
/// after an upgrade it indexes the existing messages. Searches read messages that are not indexed yet.
package final class SearchIndexer: Service {
    private static let retryDelay = Duration.seconds(10)
    /// A pause after each batch while there are more, in which others write: for as long as it took the writer.
    private static let maxPause = Duration.milliseconds(50)
    /// From the first message that is not indexed until it is.
    private static let delay = Duration.milliseconds(250)
    /// Conversations of one scan and of one batch.
    private static let scanned = 1_000
    private static let batched = 64

    private struct Pending {
        /// Those in which something has changed, and those that a scan has found: both take turns.
        var changed = WaitingConversations()
        var found = WaitingConversations()
        /// While there is a scan, at the start and after a failure: the first commit that the index may lack, and the
        /// last conversation that was looked at.
        var scanSince: ContinuousClock.Instant? = .now
        var scanned: ConversationID?
        /// The conversations that are being indexed.
        var turn = Turn()
        /// Whether the next wake is set already.
        var isWaking = false

        var oldest: ContinuousClock.Instant? {
            ([changed.oldest, found.oldest, scanSince] + turn.entries.map(\.since)).compactMap(\.self).min()
        }

        mutating func takeTurn() {
            let isOfFound = !found.isEmpty && (changed.isEmpty || !turn.isOfFound)
            turn = Turn(
                entries: isOfFound ? found.take(SearchIndexer.batched) : changed.take(SearchIndexer.batched),
                isOfFound: isOfFound)
        }

        mutating func endTurn(_ rest: Rest) {
            let queue = turn.isOfFound ? \Self.found : \Self.changed
            for entry in rest.again { self[keyPath: queue].append(entry) }
            self[keyPath: queue].putBack(rest.unreached)
            turn.entries = []
        }

        mutating func scanAnew() {
            scanSince = oldest ?? .now
            scanned = nil
            found = WaitingConversations()
            turn.entries = []
        }
    }

    private struct Turn {
        var entries: [WaitingConversations.Entry] = []
        var isOfFound = false
    }

    /// What of a turn is left.
    private struct Rest {
        /// Those that have more.
        var again: [WaitingConversations.Entry] = []
        /// Those for which there was no room.
        var unreached: [WaitingConversations.Entry] = []

        /// In the writer.
        var time = Duration.zero

        var isEmpty: Bool { again.isEmpty && unreached.isEmpty }
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
        /// Conversations that wait for their turn, as far as they are known.
        package var conversations: Int
        /// Since the oldest commit that is not indexed, in seconds; 0 if all are.
        package var seconds: Double
    }

    package var lag: Lag {
        pending.withLock { pending in
            Lag(
                conversations: pending.changed.count + pending.found.count,
                seconds: pending.oldest.map { $0.duration(to: .now) / .seconds(1) } ?? 0)
        }
    }

    /// Messages that are added within a moment become one transaction. Meanwhile, searches read messages that are not
    /// indexed.
    private func add(_ conversations: Set<ConversationID>) {
        let mustWake = pending.withLock { pending in
            let now = ContinuousClock.now
            for conversation in conversations { pending.changed.append(.init(id: conversation, since: now)) }
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
                    pending.withLock { $0.scanAnew() }
                    try? await Task.sleep(for: Self.retryDelay)
                    wakes.continuation.yield()
                }
            }
        }
    }

    /// Gives turns until everything is indexed, except messages that were added a moment ago and are not due yet.
    private func work() async throws {
        while !Task.isCancelled {
            try await scanFurther()
            let start = ContinuousClock.now
            let entries = pending.withLock { pending in
                pending.takeTurn()
                return pending.turn.entries
            }
            let rest = try await index(entries)
            let isDone = pending.withLock { pending in
                pending.endTurn(rest)
                return rest.isEmpty && pending.found.isEmpty && pending.scanSince == nil
                    && pending.changed.first.map { $0.since > start } ?? true
            }
            let forgotten = try await forgetDeleted()
            if isDone, !forgotten.hasMore { return }
            try await Task.sleep(for: min(rest.time + forgotten.time, Self.maxPause))
        }
    }

    /// - Returns: whether there is more, and the time in the writer.
    private func forgetDeleted() async throws -> (hasMore: Bool, time: Duration) {
        guard try await !store.read({ try $0.deletedTexts(limit: 1).isEmpty }) else { return (false, .zero) }
        return try await store.write { [indexer] store in
            let start = ContinuousClock.now
            return (try indexer.forgetDeleted(in: store), ContinuousClock.now - start)
        }.value
    }

    /// Looks for more when everything that was found is indexed.
    private func scanFurther() async throws {
        while let (since, after) = pending.withLock({ pending in
            pending.found.isEmpty ? pending.scanSince.map { ($0, pending.scanned) } : nil
        }) {
            let page = try await store.read { try $0.conversationsToIndex(after: after, limit: Self.scanned) }
            pending.withLock { pending in
                for id in page.due { pending.found.append(.init(id: id, since: since)) }
                pending.scanned = page.next
                if page.next == nil { pending.scanSince = nil }
            }
        }
    }

    /// A conversation that cannot be indexed does not stop the others: searches read it until the next start.
    private func index(_ entries: [WaitingConversations.Entry]) async throws -> Rest {
        guard !entries.isEmpty else { return Rest() }
        do {
            return try await step(entries)
        } catch  where Self.isOfRows(error) {
            guard entries.count > 1 else {
                logger.error(
                    "a conversation cannot be indexed",
                    metadata: ["conversation": "\(entries[0].id)", "error": "\(error)"])
                return Rest()
            }
            var rest = Rest()
            for entry in entries {
                let one = try await index([entry])
                rest.again += one.again
                rest.time += one.time
            }
            return rest
        }
    }

    /// Whether rows cannot be read as they are, rather than the database.
    static func isOfRows(_ error: any Error) -> Bool {
        (error as? SQLError).map { $0.kind == .unexpectedValue } ?? (error is DecodingError)
    }

    private struct Step: Sendable {
        var batches: [IndexBatch] = []
        var changes: [IndexChange] = []
        /// Conversations whose index was made by another version.
        var outdated: [ConversationID] = []
        /// How many of the conversations were looked at.
        var reached = 0
    }

    /// One transaction.
    private func step(_ entries: [WaitingConversations.Entry]) async throws -> Rest {
        let step = try await next(of: entries.map(\.id))
        var (again, duration) = (Set<ConversationID>(), Duration.zero)
        if !step.batches.isEmpty || !step.changes.isEmpty || !step.outdated.isEmpty {
            (again, duration) = try await store.write { [indexer] store in
                let start = ContinuousClock.now
                // There may be more than one step has, or one of them may have changed once more.
                var again = Set(step.changes.map(\.conversation))
                // Texts have changed since they were read.
                for batch in step.batches where try !indexer.write(batch, in: store) {
                    again.insert(batch.conversation)
                }
                for change in step.changes { _ = try indexer.write(change, in: store) }
                for id in step.outdated {
                    _ = try indexer.clear(id, in: store)
                    again.insert(id)
                }
                return (again, ContinuousClock.now - start)
            }.value
        }
        var rest = Rest(unreached: Array(entries[step.reached...]), time: duration)
        let next = Dictionary(uniqueKeysWithValues: step.batches.map { ($0.conversation, $0.nextSentAt) })
        let (now, time) = (ContinuousClock.now, Timestamp.systemClock())
        for var entry in entries[..<step.reached] {
            if again.contains(entry.id) {
                rest.again.append(entry)
            } else if let sentAt = next[entry.id] ?? nil {
                // What it waited for is indexed. Imported messages are older than their commit.
                entry.since = max(entry.since, now - .milliseconds(max(0, time.milliseconds(since: sentAt))))
                rest.again.append(entry)
            }
        }
        return rest
    }

    /// Reads batches until there is enough for one transaction. The writer only has to insert them.
    private func next(of conversations: [ConversationID]) async throws -> Step {
        try await store.longRead { [indexer] store in
            var step = Step()
            var count = 0
            for id in conversations {
                guard count < MessageIndexer.maxPostings, step.outdated.isEmpty else { break }
                step.reached += 1
                if try indexer.isOutdated(id, in: store) {
                    step.outdated.append(id)
                    continue
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
