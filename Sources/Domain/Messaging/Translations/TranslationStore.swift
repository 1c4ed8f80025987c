package import Languages
package import Model

/// A translation, or an explanation, that is to be made.
package struct TranslationJob: Hashable, Sendable {
    package var conversation: ConversationID
    package var number: Int64
    package var target: TranslationTarget
    /// The `textVersion` that is to be translated.
    package var of: Int64
    package var author: UserID
    package var source: LanguageTag
    /// Whose budget it draws on.
    package var payer: UserID
    package var purpose: Purpose

    package enum Purpose: String, Hashable, Sendable, CaseIterable {
        case translation
        /// `MessageHints` in the target's language, by a model.
        case hints
    }

    package init(
        conversation: ConversationID, number: Int64, target: TranslationTarget, of: Int64, author: UserID,
        source: LanguageTag, payer: UserID, purpose: Purpose = .translation
    ) {
        self.purpose = purpose
        self.conversation = conversation
        self.number = number
        self.target = target
        self.of = of
        self.author = author
        self.source = source
        self.payer = payer
    }
}

/// A job that somebody works at until the lease ends. A result counts only with the fence of the latest claim.
package struct ClaimedJob: Hashable, Sendable {
    package var id: Int64
    package var fence: Int64
    /// How often it was begun, this time included.
    package var attempts: Int
    package var firstDemandedAt: Timestamp
    package var job: TranslationJob

    package init(id: Int64, fence: Int64, attempts: Int, firstDemandedAt: Timestamp, job: TranslationJob) {
        self.id = id
        self.fence = fence
        self.attempts = attempts
        self.firstDemandedAt = firstDemandedAt
        self.job = job
    }
}

/// The storage of what is derived from messages, and of what is to be derived.
package protocol TranslationStore: HintStore, SummaryStore {
    /// What the user chose for all conversations, and the store's counter when that last changed.
    func languageChoices(of user: UserID) throws -> (choices: LanguageChoices, since: Int64)

    func translations(
        of numbers: [Int64], into target: TranslationTarget, in conversation: ConversationID
    ) throws -> [MessageTranslation]
    /// Those touched after a counter, in the order of their counters.
    func translations(
        in conversation: ConversationID, into target: TranslationTarget, touchedAfter counter: Int64, limit: Int
    ) throws -> [MessageTranslation]
    func translation(
        of number: Int64, textVersion: Int64, into target: TranslationTarget, in conversation: ConversationID
    ) throws -> MessageTranslation?
    /// Inserts or replaces.
    ///
    /// - Parameter audience: who is told.
    func save(_ translation: MessageTranslation, for audience: TranslationAudience) throws
    /// Removes everything that was derived from the message, its jobs, and the summaries that may be based on it.
    func removeTranslations(of number: Int64, in conversation: ConversationID) throws
    /// Of all languages and versions.
    func translations(of number: Int64, in conversation: ConversationID) throws -> [MessageTranslation]

    /// Of all languages and versions, of messages after a number, in the order of their numbers.
    func translations(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [MessageTranslation]

    /// What may be made of the conversation's messages has changed: see `ConversationCommands.enforceLevels`.
    func checkLevels(in conversation: ConversationID) throws
    /// Of all conversations in which something is stored that needs a higher level.
    func checkLevels(above ceiling: IntelligenceLevel) throws
    /// The next one, by turns; nil without one.
    func conversationWithChangedLevels(after last: ConversationID?) throws -> ConversationID?
    /// All of it was looked at. It is looked at once more if levels have changed since that was begun.
    func endLevelCheck(of conversation: ConversationID) throws

    /// What hosted services were given in a day or month, for a user, or for all.
    func providerUsage(of user: UserID?, in period: String) throws -> ProviderUsage
    func addProviderUsage(_ usage: ProviderUsage, of user: UserID?, in period: String) throws
    /// Returns its id.
    func insert(_ call: ProviderCall) throws -> Int64
    func update(_ call: ProviderCall) throws

    /// In the order in which they were set.
    func glossary(of conversation: ConversationID) throws -> [GlossaryEntry]
    func setGlossary(_ entries: [GlossaryEntry], of conversation: ConversationID) throws

    /// Adds a job, or brings the one that there is to the front. A job of another source begins again: the result of a
    /// worker that has the old one is dropped.
    func demand(_ job: TranslationJob) throws
    /// The newest of those that are due, and others of its author, conversation and languages with it; of hints one
    /// alone.
    func claimJobs(limit: Int, until lease: Timestamp) throws -> [ClaimedJob]
    /// Whether the claim is the latest. The job is removed.
    func finish(_ claim: ClaimedJob) throws -> Bool
    /// Whether the claim is the latest. The job waits until that time.
    func postpone(_ claim: ClaimedJob, until time: Timestamp) throws -> Bool
    /// The oldest of those beyond so many.
    func oldestJobs(beyond count: Int, limit: Int) throws -> [ClaimedJob]
    /// When the next one is due, claimed ones when their lease ends; nil if there is none.
    func nextJobDue() throws -> Timestamp?
}
