package import Messaging
package import Model

/// Where a list of threads goes on: after the one that was used then.
package struct ThreadCursor: Hashable, Sendable {
    package var updatedAt: Timestamp
    package var id: AssistantThreadID

    package init(updatedAt: Timestamp, id: AssistantThreadID) {
        self.updatedAt = updatedAt
        self.id = id
    }
}

/// The storage of questions and answers.
package protocol AssistantStore: SearchStore, VectorStore {
    func displayName(of user: UserID) throws -> String?

    func assistantThread(_ id: AssistantThreadID) throws -> AssistantThread?
    /// Those of a user, the ones used last first.
    func assistantThreads(of user: UserID, after cursor: ThreadCursor?, limit: Int) throws -> [AssistantThread]
    func insert(_ thread: AssistantThread) throws
    /// Writes when it was used.
    func update(_ thread: AssistantThread) throws
    /// With all that is in it, and the client ids by which it was asked.
    func removeAssistantThread(_ id: AssistantThreadID) throws

    func assistantRun(_ id: AssistantRunID) throws -> AssistantRun?
    /// Of a thread, the oldest first.
    func assistantRuns(of thread: AssistantThreadID) throws -> [AssistantRun]
    func runningAssistantRuns() throws -> [AssistantRunID]
    func insert(_ run: AssistantRun) throws
    /// Writes what became of it.
    ///
    /// - Parameter shown: all messages that the model was shown: when one of them changes, so do the sentences that rest on
    ///   it, and those that rest on nothing.
    func update(_ run: AssistantRun, shown: [AnswerCitation]) throws
    /// The messages that the model of a run was shown, or that earlier answers rest on which it was shown.
    func assistantSources(of run: AssistantRunID) throws -> [AnswerCitation]
    func removeAssistantRun(_ id: AssistantRunID) throws
    /// Takes away the text of what rests on a message, for ever.
    func withdrawSentences(restingOn number: Int64, in conversation: ConversationID) throws
    /// The messages of a conversation, after a number, that runs were shown.
    ///
    /// - Returns: those that were shown to hosted models, and those that were shown to others.
    func assistantSources(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [(number: Int64, isHosted: Bool)]

    /// Whether the user has used a client id; `entity` is the run, or the first of a batch, that it made.
    func rememberQuestion(
        _ clientID: ClientID, of user: UserID, digest: [UInt8], run: AssistantRunID, in thread: AssistantThreadID
    ) throws -> QuestionMemory
}

package enum QuestionMemory: Hashable, Sendable {
    case new
    /// The same question again.
    case same(AssistantRunID)
    /// The id was used for something else.
    case reused
}
