package import Languages
package import Logging
package import Messaging
package import Model
internal import ServiceLifecycle
package import Storage
import Synchronization

/// Answers who asks what a message means, and has new messages explained for who wants that unasked.
///
/// What lexicons know is there at once; their files are read when somebody first asks, who waits for them: what is stored
/// without them would stay so. A language model is asked by `TranslationWorker`, once for all who wait.
package final class HintService: Service {
    private let store: Store
    private let commands: ConversationCommands
    private let models: ModelCalls
    private let loadLexicon: @Sendable () -> HintLexicon
    private let logger: Logger
    private let loading = Mutex<Task<HintLexicon, Never>?>(nil)
    private let reading: AutomaticReading
    private let counts = Mutex<[String: Int64]>([:])

    /// - Parameters:
    ///   - loadLexicon: reads what is on disk.
    ///   - isListened: whether a session listens to a stream.
    package init(
        store: Store, commands: ConversationCommands, models: ModelCalls,
        loadLexicon: @escaping @Sendable () -> HintLexicon, isListened: @escaping @Sendable (StreamName) -> Bool,
        logger: Logger
    ) {
        self.store = store
        self.commands = commands
        self.models = models
        self.loadLexicon = loadLexicon
        self.logger = logger
        reading = AutomaticReading(of: store, isListened: isListened)
    }

    /// Requests since the start, by what became of them: the kind of what was there, `queued`, or `none`.
    package var values: [String: Int64] { counts.withLock { $0 } }

    private func support() async -> HintSupport {
        HintSupport(lexicon: await lexicon(), isModelHosted: models.model?.isHosted)
    }

    /// It is read once.
    private func lexicon() async -> HintLexicon {
        let task = loading.withLock { [loadLexicon] loading in
            if let task = loading { return task }
            // Reading takes a moment: not on a thread that others wait for.
            let task = Task.detached(priority: .utility) { loadLexicon() }
            loading = task
            return task
        }
        return await task.value
    }

    /// Hints on a message: what lexicons know at once; `queued` while a model is asked, whose hints follow on the stream.
    ///
    /// - Throws: `not_found` if the user does not see it, `consent_required` if nothing may be made of it.
    package func request(_ number: Int64, in id: ConversationID, by user: UserID) async throws -> MessageHints {
        let hints = try await hints(on: number, in: id, by: user)
        let result = hints.status == .queued ? "queued" : hints.items.isEmpty ? "none" : hints.kind?.rawValue ?? "none"
        counts.withLock { $0[result, default: 0] += 1 }
        guard hints.status == .unavailable, hints.reason == .consentRequired else { return hints }
        let commands = commands
        throw try await store.read { store in
            try commands.consentProblem(
                "machines explain this", of: number, in: id, levels: [.local], by: user, field: "number", store: store)
        }
    }

    private func hints(on number: Int64, in id: ConversationID, by user: UserID) async throws -> MessageHints {
        let (commands, support) = (commands, await support())
        let known = try await store.read { store in
            try commands.hints(on: number, in: id, by: user, support: support, writes: false, store: store)
        }
        if let known { return known }
        let made = try await store.write { store in
            try commands.hints(on: number, in: id, by: user, support: support, writes: true, store: store)
        }.value
        guard let made else { throw Problem.notFound("message", field: "number") }
        return made
    }

    /// Somebody listens to what is derived in a conversation: who wants it explained unasked has the newest explained.
    package func listens(_ user: UserID, to id: ConversationID) async throws {
        let commands = commands
        let (reader, lastNumber) = try await store.read { store in
            let found = try commands.listen(id, by: user, in: store)
            return (try commands.translationReader(user, in: id, store), found.conversation.lastNumber)
        }
        guard reader.hints == .automatic else { return reading.remove(user, in: id) }
        reading.add(user, reader.hintAudience, in: id, upTo: lastNumber)
        try await explain(nil, after: 0, in: id, for: user)
    }

    private func explain(_ numbers: [Int64]?, after: Int64, in id: ConversationID, for user: UserID) async throws {
        let (commands, support) = (commands, await support())
        let wanted = try await store.read { store in
            try commands.unexplained(of: numbers, after: after, in: id, for: user, store: store).filter { number in
                // Most messages have nothing to explain: for those nothing is written.
                try commands.hints(
                    on: number, in: id, by: user, support: support, isAutomatic: true, writes: false, store: store)
                    == nil
            }
        }
        guard !wanted.isEmpty else { return }
        _ = try await store.write { store in
            for number in wanted {
                _ = try commands.hints(
                    on: number, in: id, by: user, support: support, isAutomatic: true, writes: true, store: store)
            }
        }
    }

    package func run() async {
        await reading.follow { id, numbers in await self.follow(id, numbers) }
    }

    /// - Parameter numbers: of messages with another text than before, or with a transcript; nil for new messages.
    func follow(_ id: ConversationID, _ numbers: [Int64]? = nil) async {
        do {
            try await reading.forEachLanguage(in: id, numbers) { user, after in
                try await self.explain(numbers, after: after, in: id, for: user)
                // The others may see more of them.
                return false
            }
        } catch {
            logger.error("messages cannot be explained", metadata: ["error": "\(error)"])
        }
    }
}
