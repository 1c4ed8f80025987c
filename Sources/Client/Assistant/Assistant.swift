/// Questions of the signed-in user about their own messages, which a language model of the server answers:
/// ``Switchboard/assistant``.
///
/// The model looks messages up as the user, with tools that only read, and each sentence of an answer names the messages
/// that it rests on. It needs a connection, and a server with a ``ServerDescription/languageModel``.
///
/// What was read of threads and of answers that have ended is kept in the store of the user, for ``storedThreads()`` and
/// ``storedThread(_:)``: at most 100 threads and 16 MiB, of which those that were used longest ago go first.
public struct Assistant: Sendable {
    let realtime: RealtimeEndpoint

    private struct Asking: Encodable, Sendable {
        var clientID = newUUID()
        var question: String?
        var questions: [String]?
        var thread: AssistantThreadID?
        var conversation: ConversationID?
        var `for`: AssistantRun.Audience?
    }
    private struct Listing: Encodable, Sendable { var limit: Int?; var cursor: String? }
    private struct RunMember: Decodable, Sendable { var run: AssistantRun }
    private struct RunsMember: Decodable, Sendable { var runs: [AssistantRun] }
    private struct ThreadMember: Decodable, Sendable { var thread: AssistantThread; var runs: [AssistantRun] }

    /// Asks a question. Iterate over the answer at once: one that nobody listens to for a quarter of a minute is cancelled.
    ///
    /// - Parameters:
    ///   - question: At most 4,000 characters.
    ///   - conversation: The only one that is looked at; nil for all of the user's, or for the thread's.
    ///   - audience: For whom the answer is; nil for the user, or for the thread's.
    ///   - thread: What is continued: what was asked and answered there is known. It keeps its conversation and audience.
    /// - Throws: ``Problem/Kind/providerNotConfigured`` where there is no language model, ``Problem/Kind/consentRequired`` if the
    ///   user does not allow a hosted one to read the question, ``Problem/Kind/rateLimited`` if too many questions wait, and
    ///   ``Problem/Kind/notFound`` for a thread that is gone.
    public func ask(
        _ question: String, in conversation: ConversationID? = nil, for audience: AssistantRun.Audience? = nil,
        continuing thread: AssistantThreadID? = nil
    ) async throws -> AssistantAnswer {
        let owner = await realtime.storeOwner
        let result: RunMember = try await removingGone(thread, of: owner) {
            try await realtime.request(
                "assistant.ask",
                Asking(
                    question: question, thread: thread, conversation: await realtime.resolved(conversation),
                    for: audience))
        }
        await realtime.keep(result.run, for: owner)
        return answer(of: result.run)
    }

    /// Asks questions in one thread that know nothing of each other. They are answered two at a time: iterate over all of
    /// the answers from the beginning, each in a task of its own.
    ///
    /// - Parameters:
    ///   - questions: 1 to 10, each of at most 4,000 characters.
    ///   - conversation: The only one that is looked at; nil for all of the user's, or for the thread's.
    ///   - audience: For whom the answers are; nil for the user, or for the thread's.
    ///   - thread: What is continued.
    /// - Returns: The answers in the order of the questions.
    public func askBatch(
        _ questions: [String], in conversation: ConversationID? = nil, for audience: AssistantRun.Audience? = nil,
        continuing thread: AssistantThreadID? = nil
    ) async throws -> [AssistantAnswer] {
        let owner = await realtime.storeOwner
        let result: RunsMember = try await removingGone(thread, of: owner) {
            try await realtime.request(
                "assistant.batch",
                Asking(
                    questions: questions, thread: thread, conversation: await realtime.resolved(conversation),
                    for: audience))
        }
        await realtime.order(result.runs)
        for run in result.runs { await realtime.keep(run, for: owner) }
        return result.runs.map { answer(of: $0) }
    }

    /// The answer of a run that ``run(_:)`` or ``thread(_:)`` has found, to listen to it again.
    public func answer(of run: AssistantRun) -> AssistantAnswer { AssistantAnswer(run: run, realtime: realtime) }

    /// The user's threads, those that were used last first.
    ///
    /// - Parameters:
    ///   - limit: How many at most, 1 to 100; nil is 50.
    ///   - cursor: ``AssistantThreadPage/nextCursor`` of the previous page.
    public func threads(limit: Int? = nil, after cursor: String? = nil) async throws -> AssistantThreadPage {
        let before = await realtime.answersBefore()
        let page: AssistantThreadPage = try await realtime.request(
            "assistant.threads", Listing(limit: limit, cursor: cursor))
        await realtime.keep(page, isFirst: cursor == nil, before)
        return page
    }

    /// A thread with its questions and answers, the oldest first.
    public func thread(_ id: AssistantThreadID) async throws -> (thread: AssistantThread, runs: [AssistantRun]) {
        let before = await realtime.answersBefore(ofThread: id)
        let result: ThreadMember = try await removingGone(id, of: before.owner) {
            try await realtime.request("assistant.thread", ["thread": id])
        }
        await realtime.keep(result.thread, result.runs, before)
        return (result.thread, result.runs)
    }

    /// A question with its answer. Asking for it keeps it going for a quarter of a minute.
    public func run(_ id: AssistantRunID) async throws -> AssistantRun {
        try await run("assistant.run", id)
    }

    /// Ends an answer that is being written. One that has ended stays as it is.
    @discardableResult
    public func cancel(_ id: AssistantRunID) async throws -> AssistantRun {
        try await run("assistant.cancel", id)
    }

    private func run(_ request: String, _ id: AssistantRunID) async throws -> AssistantRun {
        let owner = await realtime.storeOwner
        let result: RunMember = try await removingGone(id, of: owner) {
            try await realtime.request(request, ["run": id])
        }
        await realtime.keep(result.run, for: owner)
        return result.run
    }

    /// Erases a thread with all that was asked and answered in it, for ever: on the server, then on this device.
    public func erase(thread id: AssistantThreadID) async throws {
        let owner = await realtime.storeOwner
        let _: Nothing = try await removingGone(id, of: owner) {
            try await realtime.request("assistant.eraseThread", ["thread": id])
        }
        await realtime.removeThread(id, of: owner)
    }

    /// Erases a question with its answer, for ever: on the server, then on this device. A thread goes with its last one.
    public func erase(run id: AssistantRunID) async throws {
        let owner = await realtime.storeOwner
        let _: Nothing = try await removingGone(id, of: owner) {
            try await realtime.request("assistant.eraseRun", ["run": id])
        }
        await realtime.removeRun(id, of: owner)
    }
}

// What is kept on this device.
extension Assistant {
    /// The threads that are kept on this device, those that were used last first: as they were read last, and those of
    /// questions that were asked here since. It needs no connection, and opens none.
    public func storedThreads() async -> [AssistantThread] { await realtime.storedThreads() }

    /// What is kept of a thread on this device: its questions whose answers have ended, the oldest first, as they were read
    /// last; those that were not read are missing. It needs no connection, and opens none.
    ///
    /// Sentences are ``AnswerSentence/isWithdrawn`` as soon as this device knows that a message that they rest on was
    /// edited or deleted, has disappeared, or may be seen no more; and those that name no message, or one that is not on
    /// this device, since nothing here tells what becomes of it. ``thread(_:)`` has these.
    ///
    /// - Returns: Nil if nothing is kept of the thread.
    public func storedThread(
        _ id: AssistantThreadID
    ) async -> (thread: AssistantThread, runs: [AssistantRun])? {
        await realtime.storedThread(id)
    }

    /// Removes a thread from the device if the server says that it is gone.
    private func removingGone<Result>(
        _ id: AssistantThreadID?, of owner: UserID?, _ read: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await read()
        } catch SwitchboardError.refused(let problem) where problem.kind == .notFound {
            // A question may name a conversation that is gone, too.
            if let id, problem.field ?? "thread" == "thread" { await realtime.removeThread(id, of: owner) }
            throw SwitchboardError.refused(problem)
        }
    }

    /// Removes a run from the device if the server says that it is gone.
    private func removingGone<Result>(
        _ id: AssistantRunID, of owner: UserID?, _ read: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await read()
        } catch SwitchboardError.refused(let problem) where problem.kind == .notFound {
            await realtime.removeRun(id, of: owner)
            throw SwitchboardError.refused(problem)
        }
    }
}

extension Switchboard {
    /// Questions of the signed-in user about their own messages.
    public var assistant: Assistant { Assistant(realtime: realtime) }
}
