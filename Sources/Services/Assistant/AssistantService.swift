internal import Accounts
package import Assistant
package import Bus
internal import Languages
package import Logging
package import Messaging
package import Model
internal import ServiceLifecycle
package import Storage
import Synchronization

/// Answers questions of users about their own messages, by a language model that looks them up with tools.
///
/// Whatever the model writes, it reads what its user may see, within the scope that was fixed with the question, and changes
/// nothing. An answer goes on while somebody listens to it.
package final class AssistantService: Service {
    package struct Limits: Hashable, Sendable {
        /// Of an answer.
        package var timeout = Duration.seconds(60)
        /// After which one that nobody listens to is cancelled.
        package var silence = Duration.seconds(15)
        /// Answers that are worked on at a time, of all users and of one.
        package var running = 8
        package var runningOfUser = 2
        /// Questions that wait or are worked on, of all users and of one.
        package var open = 512
        package var openOfUser = AssistantQuestion.maxBatch * 2

        package init() {}
    }

    private struct Open {
        var live: LiveRun
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private struct State {
        var open: [AssistantRunID: Open] = [:]
    }

    private let store: Store
    private let commands: AssistantCommands
    private let models: ModelCalls
    private let search: MessageSearchService
    private let summaries: SummaryService
    private let translator: TextTranslator
    private let bus: any EventBus
    private let isListened: @Sendable (StreamName) -> Bool
    private let limits: Limits
    private let logger: Logger
    private let turns: KeyedLimiter<UserID>
    private let questions: OpenCounter<UserID>
    private let state = Mutex(State())

    package init(
        store: Store, commands: ConversationCommands, models: ModelCalls, search: MessageSearchService,
        summaries: SummaryService, translator: TextTranslator, bus: any EventBus,
        isListened: @escaping @Sendable (StreamName) -> Bool, limits: Limits = Limits(), logger: Logger
    ) {
        self.store = store
        self.commands = AssistantCommands(conversations: commands)
        self.models = models
        self.search = search
        self.summaries = summaries
        self.translator = translator
        self.bus = bus
        self.isListened = isListened
        self.limits = limits
        self.logger = logger
        turns = KeyedLimiter(maxRunning: limits.running, maxOfKey: limits.runningOfUser)
        questions = OpenCounter(maxOpen: limits.open, maxOfKey: limits.openOfUser)
    }

    /// Questions that wait or are worked on.
    package var openCount: Int { state.withLock { $0.open.count } }

    /// What was not finished when the server ended is not finished any more.
    package func run() async throws {
        do {
            _ = try await store.write { store in
                for id in try store.runningAssistantRuns() {
                    guard var run = try store.assistantRun(id) else { continue }
                    (run.status, run.reason, run.endedAt) = (.failed, .interrupted, store.now)
                    try store.update(run, shown: [])
                }
            }
        } catch {
            logger.error("interrupted answers cannot be marked", metadata: ["error": "\(error)"])
        }
        try? await gracefulShutdown()
        let tasks = state.withLock { $0.open.values.compactMap(\.task) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: Questions

    /// Asks: the answers are written meanwhile, and `run:<id>` tells of it.
    ///
    /// - Throws: `provider_not_configured`, `rate_limited`, and what `AssistantCommands.ask` throws.
    package func ask(_ question: AssistantQuestion, by user: UserID) async throws -> [AssistantRun] {
        guard let model = models.model as? any DialogueModel else {
            throw Problem(.providerNotConfigured, "This server has no language model.")
        }
        let count = question.questions.count
        try enter(user, count)
        let (commands, name, isHosted) = (commands, model.name, model.isHosted)
        var isBegun = false
        // Each that begins leaves when it ends.
        defer { if !isBegun { questions.leave(user, count: count) } }
        let asked = try await store.write { store in
            try commands.ask(question, by: user, model: name, isHosted: isHosted, in: store)
        }.value
        guard asked.isNew else {
            guard let first = asked.runs.first else { return [] }
            let ids = Set(asked.runs.map(\.id))
            return try await store.read { store in
                try commands.runs(of: first.thread, in: store).filter { ids.contains($0.id) }
            }
        }
        isBegun = true
        for run in asked.runs { begin(run, by: model) }
        return asked.runs
    }

    /// What happens to a run from now on, until the session of who reads it ends; nil if nothing does any more.
    package func events(
        of id: AssistantRunID, for principal: Principal
    ) -> AsyncStream<(name: String, json: String)>? {
        guard let live = state.withLock({ $0.open[id]?.live }), live.run.user == principal.user else { return nil }
        let events = live.events(signedInWith: principal.signIn)
        return AsyncStream { continuation in
            let task = Task {
                // It may have ended before there was a reader to be ended.
                guard await isSignedIn(principal) else { return continuation.finish() }
                for await event in events { continuation.yield((event.name, event.json)) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func isSignedIn(_ principal: Principal) async -> Bool {
        let isSignedIn = try? await store.read { store in
            guard try store.isActive(principal.user) else { return false }
            guard let signIn = principal.signIn else { return true }
            return try store.signIn(signIn).map { $0.endedAt == nil } ?? false
        }
        return isSignedIn ?? false
    }

    /// A session has ended, and with it what is streamed to it.
    package func revoke(signIn: SignInID) {
        for live in state.withLock({ $0.open.values.map(\.live) }) { live.endReaders(signedInWith: signIn) }
    }

    /// An account was disabled or deleted: nobody may read its answers any more.
    package func revoke(user: UserID) {
        let open = state.withLock { state in
            let open = state.open.filter { $0.value.live.run.user == user }
            // Also of one whose task is not there yet.
            for id in open.keys { state.open[id]?.isCancelled = true }
            return Array(open.values)
        }
        for one in open {
            one.live.endReaders(signedInWith: nil)
            one.task?.cancel()
        }
    }

    /// A run with what has been written of it, which counts as listening.
    package func run(_ id: AssistantRunID, of user: UserID) async throws -> (run: AssistantRun, text: String) {
        let live = state.withLock { $0.open[id]?.live }
        let (text, tools) = (live?.text ?? "", live?.tools ?? [])
        let commands = commands
        var run = try await store.read { try commands.run(id, of: user, in: $0) }
        live?.noteListener()
        guard run.status == .running else { return (run, "") }
        run.tools = tools
        return (run, text)
    }

    package func thread(
        _ id: AssistantThreadID, of user: UserID
    ) async throws -> (thread: AssistantThread, runs: [AssistantRun]) {
        let commands = commands
        let found = try await store.read { store in
            (thread: try commands.thread(id, of: user, in: store), runs: try commands.runs(of: id, in: store))
        }
        let thread = found.thread
        var runs = found.runs
        for index in runs.indices where runs[index].status == .running {
            let live = state.withLock { $0.open[runs[index].id]?.live }
            live?.noteListener()
            runs[index].tools = live?.tools ?? []
        }
        return (thread, runs)
    }

    /// Those that were used last first.
    package func threads(of user: UserID, after cursor: ThreadCursor?, limit: Int) async throws -> [AssistantThread] {
        try await store.read { try $0.assistantThreads(of: user, after: cursor, limit: limit) }
    }

    /// Ends a run that is worked on; one that has ended stays as it is.
    package func cancel(_ id: AssistantRunID, of user: UserID) async throws -> AssistantRun {
        let commands = commands
        _ = try await store.read { try commands.run(id, of: user, in: $0) }
        await stop([id])
        return try await store.read { try commands.run(id, of: user, in: $0) }
    }

    /// Erases a run, for ever.
    package func eraseRun(_ id: AssistantRunID, of user: UserID) async throws {
        let commands = commands
        _ = try await store.read { try commands.run(id, of: user, in: $0) }
        await stop([id])
        _ = try await store.write { store in
            let run = try commands.run(id, of: user, in: store)
            try store.removeAssistantRun(id)
            if try store.assistantThread(run.thread)?.runs == 0 { try store.removeAssistantThread(run.thread) }
        }
    }

    /// Erases a thread with all that was asked in it, for ever.
    package func eraseThread(_ id: AssistantThreadID, of user: UserID) async throws {
        let commands = commands
        let runs = try await store.read { store in
            _ = try commands.thread(id, of: user, in: store)
            return try store.assistantRuns(of: id).map(\.id)
        }
        await stop(runs)
        _ = try await store.write { store in
            _ = try commands.thread(id, of: user, in: store)
            try store.removeAssistantThread(id)
        }
    }

    private func stop(_ runs: [AssistantRunID]) async {
        let tasks = state.withLock { state in
            runs.compactMap { id in
                state.open[id]?.isCancelled = true
                return state.open[id]?.task
            }
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: Work

    private func enter(_ user: UserID, _ count: Int) throws {
        switch questions.enter(user, count: count) {
        case .ofKey:
            throw Problem(
                .rateLimited, "At most \(limits.openOfUser) questions of a user are open: wait for their answers.",
                retryAfter: 5_000)
        case .all: throw Problem(.rateLimited, "Too many questions are open: try again.", retryAfter: 10_000)
        case nil: break
        }
    }

    private func begin(_ run: AssistantRun, by model: any DialogueModel) {
        let (bus, stream) = (bus, StreamName.run(run.id))
        let live = LiveRun(run) { bus.publish(EphemeralEvent(stream: stream, data: $0.json)) }
        state.withLock { $0.open[run.id] = Open(live: live) }
        let task = Task { [self] in
            await work(on: live, by: model)
            state.withLock { $0.open[run.id] = nil }
            questions.leave(run.user)
        }
        let isCancelled = state.withLock { state in
            state.open[run.id]?.task = task
            return state.open[run.id]?.isCancelled ?? false
        }
        // It was meanwhile, without a task to cancel.
        if isCancelled { task.cancel() }
    }

    private func work(on live: LiveRun, by model: any DialogueModel) async {
        let watch = Task { [self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(100))
                live.flush()
                if isListened(.run(live.run.id)) { live.noteListener() }
                if live.silence > limits.silence { cancelWithoutListener(live.run.id) }
            }
        }
        defer { watch.cancel() }
        let result: (run: AssistantRun, shown: [AnswerCitation])
        do {
            result = try await turns.run(live.run.user) { await answer(live, by: model) }
        } catch {
            var run = live.run
            run.status = .cancelled
            result = (run, [])
        }
        var run = result.run
        if run.status == .cancelled {
            let isCancelled = state.withLock { $0.open[run.id]?.isCancelled ?? false }
            if run.reason == nil { run.reason = isCancelled ? .cancelled : .noListener }
            run.sentences = []
        }
        let (ended, commands, shown) = (run, commands, result.shown)
        do {
            // Also when the server ends: it is written before the database is closed.
            let stored = try await Task { [store] in
                try await store.write { try commands.finish(ended, shown: shown, in: $0) }.value
            }.value
            live.finish(stored ?? ended)
        } catch {
            logger.error("an answer cannot be stored", metadata: ["error": "\(error)"])
            var failed = ended
            (failed.status, failed.reason, failed.sentences) = (.failed, .interrupted, [])
            live.finish(failed)
        }
    }

    private func cancelWithoutListener(_ id: AssistantRunID) {
        let task = state.withLock { $0.open[id]?.task }
        task?.cancel()
    }

    /// Asks the model until it answers.
    ///
    /// - Returns: the messages that it was shown, too, and those that earlier answers rest on.
    private func answer(
        _ live: LiveRun, by model: any DialogueModel
    ) async -> (run: AssistantRun, shown: [AnswerCitation]) {
        var run = live.run
        var inherited: [AnswerCitation] = []
        var reader = AssistantReader(
            run: run, store: store, commands: commands.conversations, search: search, summaries: summaries,
            translator: translator, sources: AssistantSources(question: run.question))
        let deadline = ContinuousClock.now + limits.timeout
        do {
            try Task.checkCancellation()
            let conversations = try await reader.begin()
            let (commands, asked) = (commands, run)
            let (name, earlier) = try await store.read { store in
                // The account may have been disabled or deleted since it has asked.
                guard try store.isActive(asked.user) else { throw CancellationError() }
                return (try store.displayName(of: asked.user) ?? "", try commands.earlier(than: asked, in: store))
            }
            inherited = earlier.sources
            let prompt = AssistantPrompt(
                question: reader.sources.question.shown, by: AssistantReader.line(name), at: run.askedAt,
                scope: run.scope, earlier: earlier.runs, conversations: conversations)
            var dialogue = prompt.dialogue
            var calls = 0
            for step in 1...AssistantPrompt.maxSteps {
                dialogue.hasToAnswer = step == AssistantPrompt.maxSteps || calls >= AssistantPrompt.maxCalls
                live.begin(reader.sources)
                let asked = dialogue
                run.calls += 1
                run.characters += Int64(asked.length)
                let reply = try await models.call(
                    model, Int64(asked.length), estimate: TokenUsage(estimateOf: asked), for: .assistant,
                    payer: run.user
                ) { timeout throws(TranslationFailure) in
                    try await model.reply(to: asked, deadline: min(deadline, timeout + .seconds(30))) { live.add($0) }
                }
                guard !reply.calls.isEmpty, !dialogue.hasToAnswer else {
                    live.end()
                    run.sentences = AnswerText(reply.text, reader.sources).sentences
                    guard !run.sentences.isEmpty else { throw ModelCalls.Failure.model(.invalidResponse("no words")) }
                    run.status = .done
                    return (run, reader.sources.messages.map(\.citation) + inherited)
                }
                let wanted = Array(reply.calls.prefix(AssistantPrompt.maxCalls - calls))
                dialogue.turns.append(.model(text: reply.text, calls: wanted))
                for call in wanted {
                    calls += 1
                    if let tool = AssistantTool(rawValue: call.name) {
                        run.tools.append(tool)
                        live.use(tool)
                    }
                    dialogue.turns.append(.result(of: call, try await reader.use(call)))
                    try Task.checkCancellation()
                    guard ContinuousClock.now < deadline else { throw Timeout() }
                }
            }
            throw ModelCalls.Failure.model(.invalidResponse("no answer"))
        } catch is CancellationError {
            run.status = .cancelled
        } catch is Timeout {
            (run.status, run.reason) = (.failed, .timeout)
        } catch ModelCalls.Failure.budgetExhausted {
            (run.status, run.reason) = (.failed, .budgetExhausted)
        } catch {
            (run.status, run.reason) = (.failed, ContinuousClock.now >= deadline ? .timeout : .providerFailed)
            if !(error is ModelCalls.Failure) {
                logger.warning("a question is not answered", metadata: ["error": "\(error)"])
            }
        }
        if Task.isCancelled { (run.status, run.reason) = (.cancelled, nil) }
        return (run, reader.sources.messages.map(\.citation) + inherited)
    }

    private struct Timeout: Error {}
}
