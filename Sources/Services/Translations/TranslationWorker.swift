internal import Assistant
internal import Languages
package import Logging
package import Messaging
import Model
internal import ServiceLifecycle
package import Storage
import Synchronization

/// Makes the translations that are demanded, the newest demand first. Jobs are rows, which are claimed with a lease and a
/// fence, so that several processes may work at them: what one leaves undone another does, and nothing is stored twice.
package final class TranslationWorker: Service {
    package struct Limits: Sendable {
        /// Requests to engines at a time.
        package var running = 4
        /// Of one request.
        package var timeout = Duration.seconds(30)
        /// Until a job that failed for now is given up, from its first demand.
        package var maxAgeSeconds: Int64 = 86_400
        /// Between attempts: doubled from the first to the last.
        package var firstDelay: Int64 = 5
        package var lastDelay: Int64 = 600
        /// Jobs that wait; beyond it the oldest are given up.
        package var jobs = 100_000
        /// They are counted no more often.
        package var countInterval = Duration.seconds(10)

        package init() {}
    }

    let store: Store
    let commands: ConversationCommands
    private let translator: TextTranslator
    let models: ModelCalls
    private let phrases: PhraseMemory?
    let limits: Limits
    private let logger: Logger
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// When jobs were last counted.
    /// Steps of looking at levels between two claims.
    private static let stepsAtOnce = 10
    private let levelCheck = Mutex<LevelCheck?>(nil)
    private let counted = Mutex<ContinuousClock.Instant?>(nil)

    package init(
        store: Store, commands: ConversationCommands, translator: TextTranslator, models: ModelCalls? = nil,
        phrases: PhraseMemory? = nil, limits: Limits = Limits(), logger: Logger
    ) {
        self.store = store
        self.commands = commands
        self.translator = translator
        self.models = models ?? ModelCalls(store: store, commands: commands, model: nil, logger: logger)
        self.phrases = phrases
        self.limits = limits
        self.logger = logger
        store.observeJobs { [wakes] in wakes.continuation.yield() }
        wakes.continuation.yield()
    }

    package func run() async {
        let ceiling = commands.intelligence.ceiling
        _ = try? await store.write { try $0.checkLevels(above: ceiling) }
        await cancelWhenGracefulShutdown { [self] in
            for await _ in wakes.stream {
                do {
                    try await work()
                } catch {
                    if !Task.isCancelled {
                        logger.error("translations cannot be made", metadata: ["error": "\(error)"])
                        try? await Task.sleep(for: .seconds(5))
                        wakes.continuation.yield()
                    }
                }
            }
        }
    }

    /// Where a look at the levels of a conversation goes on.
    private struct LevelCheck {
        var conversation: ConversationID
        var after: Int64?
    }

    /// Erases what may not be there any more: some steps, between which others write.
    ///
    /// - Returns: whether there is more.
    private func enforceLevels() async throws -> Bool {
        let commands = commands
        for _ in 0..<Self.stepsAtOnce {
            let last = levelCheck.withLock { $0 }
            let id: ConversationID
            if let last, last.after != nil {
                id = last.conversation
            } else {
                guard
                    let next = try await store.read({
                        try $0.conversationWithChangedLevels(after: last?.conversation)
                    })
                else { return false }
                id = next
            }
            let after = last?.after ?? 0
            let next = try await store.write { store in
                let next = [
                    try commands.enforceLevels(in: id, after: after, limit: 1_000, store: store),
                    try AssistantCommands(conversations: commands).enforceLevels(
                        in: id, after: after, limit: 1_000, store: store),
                ].compactMap(\.self).min()
                if next == nil { try store.endLevelCheck(of: id) }
                return next
            }.value
            levelCheck.withLock { $0 = LevelCheck(conversation: id, after: next) }
        }
        return true
    }

    /// Works until nothing is due, and sets the next wake.
    private func work() async throws {
        let isLeft = try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            var isLeft = false
            while !Task.isCancelled {
                // By turns: whoever changes their level again and again keeps nobody from reading.
                isLeft = try await enforceLevels()
                let claims = try await claim()
                if claims.isEmpty {
                    // What is running may leave something due.
                    guard running > 0 else { break }
                    try await group.next()
                    running -= 1
                    continue
                }
                group.addTask { try await self.make(claims) }
                running += 1
                if running >= limits.running {
                    try await group.next()
                    running -= 1
                }
            }
            try await group.waitForAll()
            return isLeft
        }
        if isLeft { wakes.continuation.yield() }
        let delay = try await store.read { store in
            try store.nextJobDue().map { max(0, $0.milliseconds - store.now.milliseconds) }
        }
        if let delay { wake(after: .milliseconds(delay)) }
    }

    private func wake(after delay: Duration) {
        Task { [wakes] in
            try? await Task.sleep(for: delay)
            wakes.continuation.yield()
        }
    }

    private func claim() async throws -> [ClaimedJob] {
        // No transaction of the writer if there is nothing to do.
        let isDue = try await store.read { store in try store.nextJobDue().map { $0 <= store.now } ?? false }
        guard isDue else { return [] }
        let (limits, commands, counts) = (limits, commands, isTimeToCount())
        let seconds = limits.timeout.components.seconds + 30
        return try await store.write { store in
            while try counts && commands.dropOldJobs(beyond: limits.jobs, limit: 1_000, in: store) == 1_000 {}
            return try store.claimJobs(limit: TranslationRequest.maxTexts, until: store.now.adding(seconds: seconds))
        }.value
    }
}

extension TranslationWorker {
    /// Counting reads all jobs.
    private func isTimeToCount() -> Bool {
        counted.withLock { counted in
            if let last = counted, last + limits.countInterval > .now { return false }
            counted = .now
            return true
        }
    }
}

// One batch: texts of one author in one conversation, into one language.
extension TranslationWorker {
    private func make(_ claims: [ClaimedJob]) async throws {
        let commands = commands
        // A claim of hints comes alone.
        if let claim = claims.first, claim.job.purpose == .hints { return try await makeHints(claim) }
        let works = try await store.read { try commands.work(for: claims, in: $0) }
        let (allowed, withdrawn) = (works.filter { $0.level > .off }, works.filter { $0.level == .off })
        var ends: [(ClaimedJob, End)] = withdrawn.map { ($0.claim, .outcome(.unavailable(.consentRequired))) }
        for isHosted in [true, false] {
            let some = allowed.filter { $0.level.allowsTranslation(byHosted: true) == isHosted }
            if !some.isEmpty { ends += try await translate(some, allowsHosted: isHosted) }
        }
        let (ended, phrases) = (ends, phrases)
        // Claims without work are of messages that have changed: they end too.
        let left = claims.filter { claim in !works.contains { $0.claim.id == claim.id } }
        let recalled = try await store.write { store -> [TranslationJob] in
            var recalled: [TranslationJob] = []
            for claim in left { _ = try store.finish(claim) }
            for (claim, end) in ended {
                switch end {
                case .outcome(let outcome, let phrase):
                    let terms = works.first { $0.claim.id == claim.id }?.terms ?? []
                    let isStored = try commands.complete(claim, outcome, with: terms, in: store)
                    guard isStored, let phrase, let phrases else { continue }
                    try Self.note(phrase, of: claim.job, phrases, store)
                    if case .recalled = phrase { recalled.append(claim.job) }
                case .postponed(let seconds):
                    try commands.postpone(claim, until: store.now.adding(seconds: seconds), in: store)
                }
            }
            return recalled
        }.value
        translator.counters.count(recalled: recalled)
    }

    private static func note(
        _ phrase: PhraseMemory.Use, of job: TranslationJob, _ phrases: PhraseMemory, _ store: StoreTransaction
    ) throws {
        switch phrase {
        case .recalled(let hash): try store.usePhrase(hash)
        case .made(let hash, let text):
            // Of who was deleted meanwhile nothing is kept.
            guard try store.isActive(job.author) else { return }
            try store.remember(
                phrase: hash, into: job.target.language, as: text, by: phrases.author(job.author))
        }
    }

    private enum End: Sendable {
        case outcome(TranslationOutcome, PhraseMemory.Use? = nil)
        /// In seconds.
        case postponed(Int64)
    }

    private func translate(_ works: [TranslationWork], allowsHosted: Bool) async throws -> [(ClaimedJob, End)] {
        let (engines, job) = (translator.engines, works[0].claim.job)
        guard let engine = engines.engine(from: job.source, into: job.target.language, allowsHosted: allowsHosted)
        else {
            let isConsent = engines.engine(from: job.source, into: job.target.language, allowsHosted: true) != nil
            return works.map { ($0.claim, .outcome(.unavailable(isConsent ? .consentRequired : .pairNotSupported))) }
        }
        var ends = try await recall(works, engine)
        let unknown = works.filter { work in !ends.contains { $0.0.id == work.claim.id } }
        guard !unknown.isEmpty else { return ends }
        if let pause = translator.pause(of: engine) { return ends + unknown.map { ($0.claim, .postponed(pause)) } }
        // Of a hosted one each is on somebody's budget.
        let batches =
            engine.isHosted ? Array(Dictionary(grouping: unknown, by: \.claim.job.payer).values) : [unknown]
        for works in batches {
            let results = try await translator.translate(
                works.map { TranslatableText($0.text, terms: $0.terms) }, from: job.source, into: job.target,
                by: engine,
                paidBy: works[0].claim.job.payer, purpose: "translation", timeout: limits.timeout)
            if let results {
                let isAlone = works.count == 1
                ends += zip(works, results).map { ($0.claim, end($1, $0, engine, isAlone: isAlone)) }
            } else {
                ends += works.map { ($0.claim, .outcome(.unavailable(.budgetExhausted))) }
            }
        }
        return ends
    }

    /// Those that the engine need not be asked for. The level allows it, or it would not be the engine.
    private func recall(
        _ works: [TranslationWork], _ engine: any TranslationEngine
    ) async throws -> [(ClaimedJob, End)] {
        let known = works.compactMap { work in
            phrases?.hash(of: work, by: engine).map { (claim: work.claim, hash: $0) }
        }
        guard !known.isEmpty else { return [] }
        return try await store.read { store in
            var ends: [(ClaimedJob, End)] = []
            for (claim, hash) in known {
                guard let text = try store.phrase(hash) else { continue }
                let outcome = TranslationOutcome.translated(
                    text, engine: engine.name, kind: engine.kind, isHosted: engine.isHosted)
                ends.append((claim, .outcome(outcome, .recalled(hash))))
            }
            return ends
        }
    }

    /// - Parameter isAlone: whether the engine was given no other text with it.
    private func end(
        _ result: TranslationResult, _ work: TranslationWork, _ engine: any TranslationEngine, isAlone: Bool
    ) -> End {
        let failure: TranslationFailure
        switch result {
        case .text(let text):
            let hash = isAlone ? phrases?.hash(of: work, by: engine) : nil
            return .outcome(
                .translated(text, engine: engine.name, kind: engine.kind, isHosted: engine.isHosted),
                hash.map { .made($0, text: text) })
        case .failed(let one): failure = one
        }
        switch failure {
        case .damaged: return .outcome(.failed(.damaged))
        case .unknownWords: return .outcome(.unavailable(.unknownWords))
        case .pairNotSupported: return .outcome(.unavailable(.pairNotSupported))
        case .textTooLong: return .outcome(.unavailable(.textTooLong))
        case .invalidResponse, .refused, .ended: return .outcome(.failed(.providerFailed))
        case .unavailable, .limited, .cancelled:
            return delay(after: work.claim).map { .postponed($0) } ?? .outcome(.failed(.providerFailed))
        }
    }

    /// Until the next attempt, in seconds; nil if there is none any more.
    func delay(after claim: ClaimedJob) -> Int64? {
        let age = Timestamp.systemClock().milliseconds - claim.firstDemandedAt.milliseconds
        guard age < limits.maxAgeSeconds * 1000 else { return nil }
        return min(limits.firstDelay << min(Int64(claim.attempts - 1), 20), limits.lastDelay)
    }
}
