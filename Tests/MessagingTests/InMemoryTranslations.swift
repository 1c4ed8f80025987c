import Languages
import Messaging
import Model

/// Translations and jobs in memory.
struct InMemoryTranslations {
    struct Job {
        var claim: ClaimedJob
        var demandedAt: Timestamp
        var notBefore: Timestamp
    }

    var rows: [MessageTranslation] = []
    /// Whom each change was for, in order.
    var notified: [(row: MessageTranslation, audience: TranslationAudience)] = []
    var hints: [MessageHints] = []
    var summaries: [SummaryBlock] = []
    var jobs: [Job] = []
    var lastJob: Int64 = 0
    var choices: [UserID: LanguageChoices] = [:]
    var levelChecks: [ConversationID] = []
    var usage: [String: ProviderUsage] = [:]
    var calls: [ProviderCall] = []
    var glossaries: [ConversationID: [GlossaryEntry]] = [:]
}

extension InMemoryMessagingStore {
    func languageChoices(of user: UserID) -> (choices: LanguageChoices, since: Int64) {
        (translations.choices[user] ?? LanguageChoices(), 0)
    }

    func translations(
        of numbers: [Int64], into target: TranslationTarget, in conversation: ConversationID
    ) -> [MessageTranslation] {
        translations.rows.filter {
            $0.conversation == conversation && $0.target == target && numbers.contains($0.number)
        }
    }

    func translations(
        in conversation: ConversationID, into target: TranslationTarget, touchedAfter counter: Int64, limit: Int
    ) -> [MessageTranslation] {
        let found = translations.rows.filter {
            $0.conversation == conversation && $0.target == target && $0.touched > counter
        }
        return Array(found.sorted { $0.touched < $1.touched }.prefix(limit))
    }

    func translations(of number: Int64, in conversation: ConversationID) -> [MessageTranslation] {
        translations.rows.filter { $0.conversation == conversation && $0.number == number }
    }

    func translation(
        of number: Int64, textVersion: Int64, into target: TranslationTarget, in conversation: ConversationID
    ) -> MessageTranslation? {
        translations(of: number, in: conversation).first { $0.of == textVersion && $0.target == target }
    }

    func save(_ translation: MessageTranslation, for audience: TranslationAudience) {
        translations.rows.removeAll {
            $0.conversation == translation.conversation && $0.number == translation.number
                && $0.target == translation.target && $0.of == translation.of
        }
        translations.rows.append(translation)
        translations.notified.append((translation, audience))
    }

    func removeTranslations(of number: Int64, in conversation: ConversationID) {
        translations.rows.removeAll { $0.conversation == conversation && $0.number == number }
        translations.hints.removeAll { $0.conversation == conversation && $0.number == number }
        translations.jobs.removeAll { $0.claim.job.conversation == conversation && $0.claim.job.number == number }
        let block = SummaryBlock.block(of: number)
        translations.summaries.removeAll { $0.conversation == conversation && $0.block == block }
    }

    func summary(of block: Int64, in language: LanguageTag, in conversation: ConversationID) -> SummaryBlock? {
        translations.summaries.first {
            $0.conversation == conversation && $0.block == block && $0.language == language
        }
    }

    func save(_ block: SummaryBlock) {
        removeSummary(of: block.block, in: block.language, in: block.conversation)
        translations.summaries.append(block)
    }

    func summaries(in conversation: ConversationID, after number: Int64, limit: Int) -> [SummaryBlock] {
        let found = translations.summaries.filter {
            $0.conversation == conversation && SummaryBlock.numbers(of: $0.block).upperBound > number
        }
        let blocks = Set(found.map(\.block)).sorted().prefix(limit)
        return found.filter { blocks.contains($0.block) }.sorted { $0.block < $1.block }
    }

    func removeSummary(of block: Int64, in language: LanguageTag, in conversation: ConversationID) {
        translations.summaries.removeAll {
            $0.conversation == conversation && $0.block == block && $0.language == language
        }
    }

    func translations(in conversation: ConversationID, after number: Int64, limit: Int) -> [MessageTranslation] {
        let found = translations.rows.filter { $0.conversation == conversation && $0.number > number }
        return Array(found.sorted { $0.number < $1.number }.prefix(limit))
    }

    func hints(
        of numbers: [Int64], in language: LanguageTag, in conversation: ConversationID
    ) -> [MessageHints] {
        translations.hints.filter {
            $0.conversation == conversation && $0.language == language && numbers.contains($0.number)
        }
    }

    func hints(
        in conversation: ConversationID, in language: LanguageTag, touchedAfter counter: Int64, limit: Int
    ) -> [MessageHints] {
        let found = translations.hints.filter {
            $0.conversation == conversation && $0.language == language && $0.touched > counter
        }
        return Array(found.sorted { $0.touched < $1.touched }.prefix(limit))
    }

    func hints(
        of number: Int64, textVersion: Int64, in language: LanguageTag, in conversation: ConversationID
    ) -> MessageHints? {
        hints(of: [number], in: language, in: conversation).first { $0.of == textVersion }
    }

    func hints(in conversation: ConversationID, after number: Int64, limit: Int) -> [MessageHints] {
        let found = translations.hints.filter { $0.conversation == conversation && $0.number > number }
        return Array(found.sorted { $0.number < $1.number }.prefix(limit))
    }

    func hints(restingOn number: Int64, in conversation: ConversationID) -> [MessageHints] {
        translations.hints.filter { $0.conversation == conversation && $0.earlier.contains(number) }
    }

    func save(_ hints: MessageHints, for audience: TranslationAudience) {
        translations.hints.removeAll {
            $0.conversation == hints.conversation && $0.number == hints.number && $0.language == hints.language
                && $0.of == hints.of
        }
        translations.hints.append(hints)
    }

    func latestStart(before number: Int64, in conversation: ConversationID) -> Int64 {
        let spans = rows[conversation]?.spans.values.flatMap(\.spans) ?? []
        return spans.filter { $0.contains(number) }.map(\.from).max() ?? 0
    }

    func earliestEnd(after sequence: Int64, _ number: Int64, in conversation: ConversationID) -> Int64? {
        let spans = rows[conversation]?.spans.values.flatMap(\.spans) ?? []
        return spans.filter { $0.contains(number) }.compactMap(\.untilSequence).filter { $0 >= sequence }.min()
    }

    func checkLevels(in conversation: ConversationID) { translations.levelChecks.append(conversation) }
    func checkLevels(above ceiling: IntelligenceLevel) {
        translations.levelChecks += translations.rows.filter { $0.level > ceiling }.map(\.conversation)
    }
    func conversationWithChangedLevels(after last: ConversationID?) -> ConversationID? {
        translations.levelChecks.first
    }
    func endLevelCheck(of conversation: ConversationID) {
        translations.levelChecks.removeAll { $0 == conversation }
    }

    func providerUsage(of user: UserID?, in period: String) -> ProviderUsage {
        translations.usage["\(user?.text ?? "") \(period)"] ?? ProviderUsage()
    }
    func addProviderUsage(_ usage: ProviderUsage, of user: UserID?, in period: String) {
        let old = providerUsage(of: user, in: period)
        translations.usage["\(user?.text ?? "") \(period)"] = ProviderUsage(
            characters: old.characters + usage.characters, milliseconds: old.milliseconds + usage.milliseconds)
    }
    func insert(_ call: ProviderCall) -> Int64 {
        translations.calls.append(call)
        return Int64(translations.calls.count)
    }
    func update(_ call: ProviderCall) { translations.calls[Int(call.id) - 1] = call }

    func glossary(of conversation: ConversationID) -> [GlossaryEntry] { translations.glossaries[conversation] ?? [] }
    func setGlossary(_ entries: [GlossaryEntry], of conversation: ConversationID) {
        translations.glossaries[conversation] = entries
    }

    func demand(_ job: TranslationJob) {
        if let index = translations.jobs.firstIndex(where: { $0.claim.job.isSame(as: job) }) {
            translations.jobs[index].demandedAt = now
            if translations.jobs[index].claim.job.source != job.source {
                translations.jobs[index].claim.fence += 1
                translations.jobs[index].notBefore = now
            }
            translations.jobs[index].claim.job.source = job.source
            return
        }
        translations.lastJob += 1
        let claim = ClaimedJob(id: translations.lastJob, fence: 0, attempts: 0, firstDemandedAt: now, job: job)
        translations.jobs.append(InMemoryTranslations.Job(claim: claim, demandedAt: now, notBefore: now))
    }

    func claimJobs(limit: Int, until lease: Timestamp) -> [ClaimedJob] {
        let due = translations.jobs.filter { $0.notBefore <= now }
            .sorted { ($0.demandedAt, $0.claim.id) > ($1.demandedAt, $1.claim.id) }
        guard let first = due.first?.claim.job else { return [] }
        let batch = due.filter {
            let job = $0.claim.job
            return (job.conversation, job.author) == (first.conversation, first.author)
                && (job.source, job.target, job.purpose) == (first.source, first.target, first.purpose)
        }
        return batch.prefix(first.purpose == .hints ? 1 : limit).compactMap { one in
            guard let index = translations.jobs.firstIndex(where: { $0.claim.id == one.claim.id }) else { return nil }
            translations.jobs[index].claim.fence += 1
            translations.jobs[index].claim.attempts += 1
            translations.jobs[index].notBefore = lease
            return translations.jobs[index].claim
        }
    }

    private func index(of claim: ClaimedJob) -> Int? {
        translations.jobs.firstIndex { $0.claim.id == claim.id && $0.claim.fence == claim.fence }
    }

    func finish(_ claim: ClaimedJob) -> Bool {
        guard let index = index(of: claim) else { return false }
        translations.jobs.remove(at: index)
        return true
    }

    func postpone(_ claim: ClaimedJob, until time: Timestamp) -> Bool {
        guard let index = index(of: claim) else { return false }
        translations.jobs[index].claim.fence += 1
        translations.jobs[index].notBefore = time
        return true
    }

    func nextJobDue() -> Timestamp? { translations.jobs.map(\.notBefore).min() }

    func oldestJobs(beyond count: Int, limit: Int) -> [ClaimedJob] {
        let oldest = translations.jobs.sorted { ($0.demandedAt, $0.claim.id) < ($1.demandedAt, $1.claim.id) }
        return oldest.prefix(max(0, min(limit, oldest.count - count))).map(\.claim)
    }
}

extension TranslationJob {
    fileprivate func isSame(as other: TranslationJob) -> Bool {
        conversation == other.conversation && number == other.number && target == other.target && of == other.of
            && purpose == other.purpose
    }
}
