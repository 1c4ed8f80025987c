internal import Languages
package import Messaging
package import Model

/// What a user asks.
package struct AssistantQuestion: Hashable, Sendable {
    /// In Unicode scalars.
    package static let maxLength = 4_000
    /// Questions of a batch.
    package static let maxBatch = 10

    package var clientID: ClientID
    /// Of a batch several.
    package var questions: [String]
    /// To be continued; nil for a new one.
    package var thread: AssistantThreadID?
    /// Nil as the thread, or all of the user's for a new one.
    package var scope: AssistantScope?
    /// Of the request, by which a repetition is told from another request.
    package var digest: [UInt8]

    /// - Throws: `invalid_request` that names the field.
    package init(
        clientID: ClientID, questions: [String], field: (Int) -> String, thread: AssistantThreadID?,
        scope: AssistantScope?, digest: [UInt8]
    ) throws(Problem) {
        self.clientID = clientID
        self.questions = []
        self.thread = thread
        self.scope = scope
        self.digest = digest
        for (index, question) in questions.enumerated() {
            let trimmed = question.trimmingCharacters
            guard !trimmed.isEmpty else { throw .invalid(field(index), "A question has at least one character.") }
            guard trimmed.unicodeScalars.count <= Self.maxLength else {
                throw .invalid(field(index), "A question has at most \(Self.maxLength) characters.")
            }
            self.questions.append(trimmed)
        }
        guard scope?.audience != .conversation || scope?.conversation != nil else {
            throw .invalid("conversation", "An answer for a conversation needs one.")
        }
    }
}

extension String {
    fileprivate var trimmingCharacters: String {
        let end = self.reversed().drop(while: \.isWhitespace).count
        return String(self.prefix(end).drop(while: \.isWhitespace))
    }
}

/// The operations on questions and answers, as functions over a store's transaction: all of them are their user's own.
package struct AssistantCommands: Sendable {
    package let conversations: ConversationCommands

    package init(conversations: ConversationCommands) { self.conversations = conversations }

    /// Makes the runs of a question, or of a batch, which are to be worked on; or returns those that the same request has
    /// made before.
    ///
    /// - Throws: `not_found` of the thread or conversation; `conflict` of a thread that is full, or of another scope;
    ///   `consent_required`; `budget_exhausted`; `client_id_reused`.
    package func ask(
        _ question: AssistantQuestion, by user: UserID, model name: String, isHosted: Bool,
        in store: some AssistantStore
    ) throws -> (runs: [AssistantRun], isNew: Bool) {
        let now = store.now
        var thread = try question.thread.map { try self.thread($0, of: user, in: store) }
        let first = AssistantRunID.make(at: now)
        let threadID = thread?.id ?? AssistantThreadID.make(at: now)
        switch try store.rememberQuestion(
            question.clientID, of: user, digest: question.digest, run: first, in: threadID)
        {
        case .new: break
        case .reused:
            throw Problem(.clientIDReused, "This clientID was used for another request.", field: "clientID")
        case .same(let id):
            guard let run = try store.assistantRun(id) else { throw Problem.notFound("run", field: "clientID") }
            let all = try store.assistantRuns(of: run.thread).drop { $0.id != id }
            return (Array(all.prefix(question.questions.count)), false)
        }
        guard try conversations.level(of: user, in: store).allowsModel(isHosted: isHosted) else {
            throw Problem(
                .consentRequired,
                isHosted
                    ? "Your question would be given to the hosted language model \(name): you have to allow the level full."
                    : "You have to allow that machines work with what you write.", field: "intelligence")
        }
        let length = question.questions.reduce(Int64(0)) { $0 + Int64($1.unicodeScalars.count) }
        guard try !isHosted || conversations.isWithinBudget(user, length, in: store) else {
            throw Problem.budgetExhausted(at: now)
        }
        // An answer for others never knows of one that was not.
        let earlier = try thread.map { try store.assistantRuns(of: $0.id) } ?? []
        let scope = question.scope ?? earlier.first?.scope ?? AssistantScope()
        if let id = scope.conversation {
            _ = try conversations.readableConversation(
                id, isForAll: scope.audience == .conversation, by: user, model: name, isHosted: isHosted,
                in: store)
        }
        if let known = thread {
            guard known.runs + question.questions.count <= AssistantThread.maxRuns else {
                throw Problem(
                    .conflict, "A thread has at most \(AssistantThread.maxRuns) questions: begin a new one.",
                    field: "thread")
            }
            guard earlier.allSatisfy({ $0.scope == scope }) else {
                throw Problem(
                    .conflict, "This thread has another conversation, or another audience: begin a new one.",
                    field: scope.audience == .conversation ? "for" : "conversation")
            }
        } else {
            let title = question.questions.first.map { String($0.prefix(AssistantThread.titleLength)) } ?? ""
            let made = AssistantThread(id: threadID, user: user, title: title, createdAt: now)
            try store.insert(made)
            thread = made
        }
        try removeOldest(of: user, besides: threadID, adding: question.questions.count, in: store)
        var runs: [AssistantRun] = []
        for (index, text) in question.questions.enumerated() {
            let run = AssistantRun(
                id: index == 0 ? first : AssistantRunID.make(at: now), thread: threadID, user: user, question: text,
                scope: scope, askedAt: now, model: name, isHosted: isHosted)
            try store.insert(run)
            runs.append(run)
        }
        thread?.updatedAt = now
        if let thread { try store.update(thread) }
        return (runs, true)
    }

    /// The threads that were used longest ago go, where there are too many of them, or too many questions in all.
    private func removeOldest(
        of user: UserID, besides id: AssistantThreadID, adding count: Int, in store: some AssistantStore
    ) throws {
        let threads = try store.assistantThreads(of: user, after: nil, limit: AssistantThread.maxCount + 100)
        var (kept, runs) = (1, count + (threads.first { $0.id == id }?.runs ?? 0))
        for thread in threads where thread.id != id {
            kept += 1
            runs += thread.runs
            guard kept > AssistantThread.maxCount || runs > AssistantThread.maxRunsOfUser else { continue }
            try store.removeAssistantThread(thread.id)
        }
    }

    package func thread(
        _ id: AssistantThreadID, of user: UserID, in store: some AssistantStore
    ) throws -> AssistantThread {
        guard let thread = try store.assistantThread(id), thread.user == user else {
            throw Problem.notFound("thread", field: "thread")
        }
        return thread
    }

    /// The run as its user may see it now: a sentence rests on messages that the user still sees, as they were read.
    package func run(_ id: AssistantRunID, of user: UserID, in store: some AssistantStore) throws -> AssistantRun {
        guard let run = try store.assistantRun(id), run.user == user else {
            throw Problem.notFound("run", field: "run")
        }
        return try seen(run, in: store)
    }

    package func runs(of thread: AssistantThreadID, in store: some AssistantStore) throws -> [AssistantRun] {
        var readable = ReadableCitations(conversations, in: store)
        return try store.assistantRuns(of: thread).map { try seen($0, &readable, in: store) }
    }

    package func seen(_ run: AssistantRun, in store: some AssistantStore) throws -> AssistantRun {
        var readable = ReadableCitations(conversations, in: store)
        return try seen(run, &readable, in: store)
    }

    private func seen<Store: AssistantStore>(
        _ run: AssistantRun, _ readable: inout ReadableCitations<Store>, in store: Store
    ) throws -> AssistantRun {
        var seen = run
        for index in run.sentences.indices where !run.sentences[index].isWithdrawn {
            if try !readable.areAll(run.sentences[index].citations, of: run) { seen.sentences[index].withdraw() }
        }
        // What rests on nothing may rest on all that the model was shown.
        let loose = seen.sentences.indices.filter { index in
            seen.sentences[index].citations.isEmpty && !seen.sentences[index].isWithdrawn
        }
        if !loose.isEmpty, try !readable.areAll(store.assistantSources(of: run.id), of: run) {
            for index in loose { seen.sentences[index].withdraw() }
        }
        return seen
    }

    /// The answers of a thread before a run that its model is shown, and what they rest on: of an answer that repeats one of
    /// them, that is what it rests on too.
    ///
    /// - Returns: the oldest first; no more of them than it can be kept of what they rest on.
    package func earlier(
        than run: AssistantRun, in store: some AssistantStore
    ) throws -> (runs: [AssistantRun], sources: [AnswerCitation]) {
        var readable = ReadableCitations(conversations, isForAll: run.scope.audience == .conversation, in: store)
        let before = try store.assistantRuns(of: run.thread).prefix { $0.id != run.id }
            // What was answered on this machine may rest on what a hosted model may not read.
            .filter { ($0.isHosted || !run.isHosted) && $0.status == .done }
        var (shown, sources): ([AssistantRun], Set<AnswerCitation>) = ([], [])
        for one in before.suffix(AssistantPrompt.maxEarlier).reversed() {
            // What rests on others is shown no more.
            let sourcesOfOne = try store.assistantSources(of: one.id)
            let own = try readable.those(of: sourcesOfOne, of: run)
            // Nor is an answer for all of what those who came later do not see.
            guard run.scope.audience == .me || own.count == sourcesOfOne.count else { continue }
            let all = sources.union(own)
            guard all.count <= AssistantSources.maxInherited else { break }
            sources = all
            shown.insert(try seen(one, &readable, in: store), at: 0)
        }
        return (shown, Array(sources))
    }

    /// Stores what became of a run, unless it is gone.
    ///
    /// - Parameter shown: what the model was shown of it: what has changed meanwhile is left out.
    /// - Returns: the run as it was stored.
    package func finish(
        _ run: AssistantRun, shown: [AnswerCitation], in store: some AssistantStore
    ) throws -> AssistantRun? {
        guard try store.assistantRun(run.id) != nil else { return nil }
        var readable = ReadableCitations(conversations, isForAll: run.scope.audience == .conversation, in: store)
        let current = try readable.those(of: shown, of: run)
        var run = try seen(run, &readable, in: store)
        if current.count < shown.count {
            for index in run.sentences.indices where run.sentences[index].citations.isEmpty {
                run.sentences[index].withdraw()
            }
        }
        run.endedAt = store.now
        try store.update(run, shown: current)
        return run
    }

    /// Erases what was made of messages that may not be made of them any more.
    ///
    /// - Returns: the number after which to go on; nil if that was all.
    package func enforceLevels(
        in id: ConversationID, after number: Int64, limit: Int, store: some AssistantStore
    ) throws -> Int64? {
        guard let conversation = try store.conversation(id) else { return nil }
        let sources = try store.assistantSources(in: id, after: number, limit: limit)
        var levels = MessageLevels(conversation, rules: conversations.intelligence, in: store)
        for source in sources {
            guard let message = try store.message(source.number, in: id) else { continue }
            guard try !levels.level(of: message).allowsModel(isHosted: source.isHosted) else { continue }
            try store.withdrawSentences(restingOn: source.number, in: id)
        }
        return sources.count < limit ? nil : sources.last.map { max($0.number - 1, number + 1) }
    }
}

/// Which messages a user may still be shown, as they were read, looked up once each.
private struct ReadableCitations<Store: AssistantStore> {
    private struct Key: Hashable {
        let citation: AnswerCitation
        let isHosted: Bool
    }

    private let conversations: ConversationCommands
    private let isForAll: Bool
    private let store: Store
    private var known: [Key: Bool] = [:]

    /// - Parameter isForAll: whether all members of the conversation have to see them.
    init(_ conversations: ConversationCommands, isForAll: Bool = false, in store: Store) {
        self.conversations = conversations
        self.isForAll = isForAll
        self.store = store
    }

    /// - Parameter run: for whose user, and whose model.
    mutating func those(of citations: [AnswerCitation], of run: AssistantRun) throws -> [AnswerCitation] {
        try look(up: citations, of: run)
        return citations.filter { known[Key(citation: $0, isHosted: run.isHosted)] == true }
    }

    mutating func areAll(_ citations: [AnswerCitation], of run: AssistantRun) throws -> Bool {
        try those(of: citations, of: run).count == citations.count
    }

    private mutating func look(up citations: [AnswerCitation], of run: AssistantRun) throws {
        let unknown = citations.filter { known[Key(citation: $0, isHosted: run.isHosted)] == nil }
        for (id, wanted) in Dictionary(grouping: unknown, by: \.conversation) {
            let versions = try conversations.readableVersions(
                of: wanted.map(\.number), in: id, isForAll: isForAll, isHosted: run.isHosted, by: run.user, in: store)
            for citation in wanted {
                known[Key(citation: citation, isHosted: run.isHosted)] = versions[citation.number] == citation.of
            }
        }
    }
}
