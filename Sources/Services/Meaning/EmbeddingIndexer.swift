package import Languages
package import Logging
package import Messaging
import Metrics
internal import Model
internal import ServiceLifecycle
package import Storage
import Synchronization

/// Follows messages with vectors, by which they are found by their meaning; and compares both each night, and when levels
/// have changed.
///
/// How far each conversation was embedded is a row, so that a start goes on where the last process ended. Conversations take
/// turns, a batch each: one in which much is written does not keep the others waiting.
package final class EmbeddingIndexer: Service {
    package struct Limits: Sendable {
        /// Of one request.
        package var timeout = Duration.seconds(30)
        /// From the first message that has no vectors until it is looked at.
        package var delay = Duration.milliseconds(250)
        /// After a failure; doubled up to the last.
        package var firstRetry = Duration.seconds(5)
        package var lastRetry = Duration.seconds(300)
        /// Messages of one step of a repair.
        package var compared = 100

        package init() {}
    }

    /// Conversations of one scan.
    private static let scanned = 1_000

    private struct Pending {
        /// Each once, in the order in which they came.
        private var conversations: Set<ConversationID> = []
        private var order: [ConversationID] = []
        private var taken = 0
        /// Whether others may have messages without vectors: at the start, and after a failure.
        var needsScan = true
        var needsCheck = true
        var lastChecked: ConversationID?
        var isWaking = false

        mutating func add(_ id: ConversationID) {
            if conversations.insert(id).inserted { order.append(id) }
        }

        mutating func next() -> ConversationID? {
            guard taken < order.count else { return nil }
            let first = order[taken]
            taken += 1
            // What was taken is removed now and then.
            if taken >= 1_024, 2 * taken > order.count {
                order.removeFirst(taken)
                taken = 0
            }
            conversations.remove(first)
            return first
        }
    }

    /// Steps of comparing between two batches that are embedded.
    private static let stepsAtOnce = 20

    private let store: Store
    private let commands: ConversationCommands
    private let accounting: ProviderAccounting
    private let engine: any EmbeddingEngine
    private let index: VectorIndex
    private let limits: Limits
    private let clock: NightlyClock
    private let logger: Logger
    private let pending = Mutex(Pending())
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let embedded = Counter(label: "embeddings_total", dimensions: [("outcome", "done")])
    private let failed = Counter(label: "embeddings_total", dimensions: [("outcome", "failed")])
    private let unpaid = Counter(label: "embeddings_total", dimensions: [("outcome", "budget_exhausted")])
    private let repaired = Counter(label: "embeddings_repaired_total")
    private let duration = Timer(label: "embedding_seconds")

    package init(
        store: Store, commands: ConversationCommands, engine: any EmbeddingEngine, index: VectorIndex,
        limits: Limits = Limits(), clock: NightlyClock = NightlyClock(), logger: Logger
    ) {
        self.store = store
        self.commands = commands
        accounting = ProviderAccounting(store: store, commands: commands)
        self.engine = engine
        self.index = index
        self.limits = limits
        self.clock = clock
        self.logger = logger
        store.observeMessages { [weak self] in self?.add($0) }
        store.observeTexts { [weak self] changed in
            guard let self else { return }
            Task { await self.index.remove(changed) }
            add(Set(changed.keys))
        }
        store.observeJobs { [weak self] in
            guard let self else { return }
            pending.withLock { $0.needsCheck = true }
            wakes.continuation.yield()
        }
        wakes.continuation.yield()
    }

    /// How far conversations were embedded has changed.
    package func restart() {
        pending.withLock { $0.needsScan = true }
        wakes.continuation.yield()
    }

    /// What is added within a moment is looked at together.
    private func add(_ conversations: Set<ConversationID>) {
        let mustWake = pending.withLock { pending in
            for id in conversations { pending.add(id) }
            defer { pending.isWaking = true }
            return !pending.isWaking
        }
        guard mustWake else { return }
        wake(after: limits.delay)
    }

    private func wake(after delay: Duration) {
        Task {
            try? await Task.sleep(for: delay)
            self.pending.withLock { $0.isWaking = false }
            self.wakes.continuation.yield()
        }
    }

    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.repairAtNight() }
                group.addTask { await self.follow() }
                await group.waitForAll()
            }
        }
    }

    private func follow() async {
        var retry = limits.firstRetry
        for await _ in wakes.stream {
            do {
                try await work()
                retry = limits.firstRetry
            } catch {
                if Task.isCancelled { return }
                if (error as? SQLError)?.kind != .diskFull {
                    logger.warning("messages have no vectors yet", metadata: ["reason": "\(error)"])
                }
                pending.withLock { $0.needsScan = true }
                try? await Task.sleep(for: retry)
                retry = min(retry * 2, limits.lastRetry)
                wakes.continuation.yield()
            }
        }
    }

    private func work() async throws {
        let name = engine.model
        let model = try await store.write { try $0.vectorModel(named: name) }.value
        var hasScanned = false
        _ = try await check(model)
        // What asks for another one meanwhile is not forgotten.
        if pending.withLock({ exchange(&$0.needsScan, with: false) }) {
            try await scan(model)
            hasScanned = true
        }
        while !Task.isCancelled {
            let next = pending.withLock { $0.next() }
            if let next {
                do {
                    try await embed(next, model)
                } catch  where SearchIndexer.isOfRows(error) {
                    logger.error(
                        "messages of a conversation cannot be embedded",
                        metadata: ["conversation": "\(next)", "error": "\(error)"])
                }
            }
            // By turns: whoever changes their level again and again keeps nobody from being found.
            let isLeft = try await check(model)
            guard next != nil || isLeft else { break }
        }
        if hasScanned, !Task.isCancelled { try await removeOthers(than: model) }
    }

    private func scan(_ model: VectorModel) async throws {
        var cursor: ConversationID?
        repeat {
            let after = cursor
            let found = try await store.read {
                try $0.conversationsToEmbed(by: model, after: after, limit: Self.scanned)
            }
            pending.withLock { pending in
                for id in found.due { pending.add(id) }
            }
            cursor = found.next
        } while cursor != nil && !Task.isCancelled
    }

    /// Vectors of a model that is in use no more: they were kept until there were others.
    private func removeOthers(than model: VectorModel) async throws {
        guard try await store.read({ try $0.hasOthers(than: model) }) else { return }
        while !Task.isCancelled,
            try await store.write({ try $0.removeVectors(notBy: model, limit: 1_000) }).value == 1_000
        {}
    }
}

// One conversation.
extension EmbeddingIndexer {
    /// The next batch; what is left waits for its turn.
    private func embed(_ id: ConversationID, _ model: VectorModel) async throws {
        let commands = commands
        guard let batch = try await store.longRead({ try commands.embeddingBatch(of: id, by: model, in: $0) }) else {
            return
        }
        let vectors = try await vectors(of: batch)
        let isWritten = try await store.write { try commands.write(vectors, of: batch, by: model, in: $0) }.value
        if isWritten, batch.hasMore { pending.withLock { $0.add(id) } }
    }

    /// Of messages of one author each request.
    private func vectors(of batch: EmbeddingBatch) async throws -> [Int64: [EmbeddingVector]] {
        var vectors: [Int64: [EmbeddingVector]] = [:]
        for (author, passages) in Dictionary(grouping: batch.passages, by: \.author) {
            var texts: [(number: Int64, text: String)] = []
            for passage in passages { texts += passage.texts.map { (passage.number, $0) } }
            var made: [Int64: [EmbeddingVector?]] = [:]
            for start in stride(from: 0, to: texts.count, by: EmbeddingRequest.maxTexts) {
                let part = texts[start..<min(start + EmbeddingRequest.maxTexts, texts.count)]
                guard let results = try await embedOneByOneIfNeeded(part.map(\.text), by: author) else {
                    unpaid.increment(by: part.count)
                    continue
                }
                for (text, vector) in zip(part, results) { made[text.number, default: []].append(vector) }
            }
            for passage in passages {
                // Of a long text either all pieces or none.
                let own = (made[passage.number] ?? []).compactMap(\.self)
                if own.count == passage.texts.count { vectors[passage.number] = own }
            }
        }
        return vectors
    }

    /// What has no usable response together may have one alone; what has none alone has no vector.
    private func embedOneByOneIfNeeded(_ texts: [String], by author: UserID) async throws -> [EmbeddingVector?]? {
        do {
            return try await embed(texts, by: author)
        } catch let error as EmbeddingFailure {
            guard case .invalidResponse = error else { throw error }
            guard texts.count > 1 else { return [nil] }
        }
        var vectors: [EmbeddingVector?] = []
        for text in texts {
            guard let one = try await embedOneByOneIfNeeded([text], by: author) else { return nil }
            vectors += one
        }
        return vectors
    }

    /// Nil if what hosted services may be given is used up: the next repair tries again.
    private func embed(_ texts: [String], by author: UserID) async throws -> [EmbeddingVector?]? {
        let call = ProviderCall(
            at: .systemClock(), payer: author, purpose: EmbeddingCalls.Purpose.search.rawValue, engine: engine.model,
            texts: texts.count, characters: texts.reduce(0) { $0 + Int64($1.count) },
            estimate: engine.estimate(of: texts))
        guard let open = try await accounting.begin(call, isHosted: engine.isHosted) else { return nil }
        let start = ContinuousClock.now
        let request = EmbeddingRequest(texts, .passage)
        switch await open.vectors(of: request, by: engine, deadline: .now + limits.timeout) {
        case .success(let vectors):
            duration.record(duration: ContinuousClock.now - start)
            let count = vectors.count { $0 != nil }
            embedded.increment(by: count)
            failed.increment(by: vectors.count - count)
            try await accounting.end(open, .done)
            return vectors
        case .failure(let error):
            failed.increment(by: texts.count)
            try await accounting.end(open, .refused)
            throw error
        }
    }
}

// Repairs.
extension EmbeddingIndexer {
    private func repairAtNight() async {
        await clock.run {
            do {
                _ = try await store.write { try $0.checkAllVectors() }
            } catch {
                guard !Task.isCancelled else { return }
                logger.error("vectors are compared no sooner than next night", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Compares vectors of conversations that are to be, some steps at a time.
    ///
    /// - Returns: whether there are more.
    private func check(_ model: VectorModel) async throws -> Bool {
        guard pending.withLock({ exchange(&$0.needsCheck, with: false) }) else { return false }
        do {
            for _ in 0..<Self.stepsAtOnce {
                guard !Task.isCancelled, let next = try await nextCheck() else {
                    return false
                }
                do {
                    try await compare(next.conversation, after: next.after, model)
                } catch  where SearchIndexer.isOfRows(error) {
                    // It keeps no other one from it, and is tried again the next night.
                    logger.error(
                        "a conversation cannot be compared with its vectors",
                        metadata: ["conversation": "\(next.conversation)", "error": "\(error)"])
                    _ = try await store.write { try $0.setVectorCheck(of: next.conversation, after: nil) }
                }
            }
            pending.withLock { $0.needsCheck = true }
            return true
        } catch {
            pending.withLock { $0.needsCheck = true }
            throw error
        }
    }

    private func nextCheck() async throws -> (conversation: ConversationID, after: Int64)? {
        let last = pending.withLock { $0.lastChecked }
        let next = try await store.read { try $0.nextVectorCheck(after: last) }
        pending.withLock { $0.lastChecked = next?.conversation }
        return next
    }

    /// One step, during which nobody else writes.
    private func compare(_ id: ConversationID, after number: Int64, _ model: VectorModel) async throws {
        let (commands, limit) = (commands, limits.compared)
        let repair = try await store.write { store in
            let repair = try commands.repairVectors(of: id, by: model, after: number, limit: limit, in: store)
            try store.setVectorCheck(of: id, after: repair.next)
            return repair
        }.value
        repaired.increment(by: repair.removed + repair.missing)
        // What may be found no more is not to be in memory either.
        if repair.removed > 0 { await index.forget(id) }
        if repair.missing > 0 { pending.withLock { $0.add(id) } }
        // Those by another model go when all are made.
        if repair.hasOthers { restart() }
    }
}
