import Accounts
import Languages
import Messaging
import Model
import Storage

@testable import Services

/// What a user is to be shown of the translations of one conversation, said again from messages and rights, without the code
/// that decides it.
struct ExpectedTranslations {
    struct Shown {
        /// Of the text that the user sees.
        var textVersion: Int64
        var source: LanguageTag?
        var text: String
        /// As it is sent; nil if there is none.
        var row: JSONValue?
        /// Whether the user sees an older text than others: what was made of it may be kept.
        var isSuperseded: Bool
    }

    private(set) var language: LanguageTag?
    private(set) var tone: TranslationTone?
    private(set) var shown: [Int64: Shown] = [:]
    /// What the user sees, without words too.
    private var seen: Set<Int64> = []
    /// Those that are queued, and nobody will ever make.
    private var lost: [MessageTranslation] = []

    /// - Parameter messages: all that the user sees, as they see them.
    init(of messages: [Message], in id: ConversationID, for user: UserID, _ store: StoreTransaction) throws {
        guard let conversation = try store.conversation(id), let record = try store.user(user) else { return }
        let own = try store.membership(of: user, in: id).choices.translation ?? record.choices.translation
        tone = own?.tone
        language = own?.into ?? record.languages.compactMap { LanguageTag(wellFormed: $0) }.first
        let jobs = try store.oldestJobs(beyond: 0, limit: .max).map(\.job).filter { $0.purpose == .translation }
        seen = Set(messages.map(\.number))
        let target = language.map { TranslationTarget($0, tone: tone) }
        let rows = try store.translations(in: id, after: 0, limit: .max)
        for message in messages where message.text != nil {
            var row = rows.first { ($0.number, $0.of, $0.target) == (message.number, message.textVersion, target) }
            if let one = row, one.status == .queued, !jobs.contains(where: { $0.isFor(one) }) { lost.append(one) }
            if let one = row, one.status == .done || one.status == .queued {
                let level = try ExpectedLevel.level(of: message, conversation, store)
                if level == .off || one.engine == StreamHarness.hosted && level < .translate {
                    row = MessageTranslation(
                        conversation: id, number: one.number, target: one.target, of: one.of, status: .unavailable,
                        reason: .consentRequired, level: one.level, touched: one.touched)
                }
            }
            let current = try store.message(message.number, in: id)
            shown[message.number] = Shown(
                textVersion: message.textVersion, source: message.language?.code, text: message.text ?? "",
                row: try row.map(Self.json),
                isSuperseded: current.map { $0.textVersion != message.textVersion && !$0.isTextWithheld } ?? false)
        }
    }

    private static func json(_ row: MessageTranslation) throws -> JSONValue {
        var writer = JSONWriter(capacity: 256)
        row.write(to: &writer)
        return try JSONValue(writer.bytes)
    }
}

extension ExpectedTranslations {
    /// How what a client shows differs from it. It shows what it holds of the very text that it holds.
    ///
    /// - Parameters:
    ///   - held: by number.
    ///   - since: the position when the client was last sent a window; what is older may be beyond it.
    func differences(of held: [Int64: JSONValue], language: String?, since: Int64) -> [String] {
        var found = lost.map { "translation of \($0.number): queued without a job" }
        if language != self.language?.string { found.append("translations into \(language ?? "nothing")") }
        for (number, row) in held where !seen.contains(number) {
            found.append("translation of a message that the user does not see: \(row)")
        }
        for (number, message) in shown {
            let mine = held[number]
            if let of = mine?["of"]?.integer, of > message.textVersion {
                found.append("translation \(mine ?? .null): of a text that the user does not see")
            }
            let row = mine?["of"]?.integer == message.textVersion ? mine : nil
            if let row, row["status"]?.string == "done", !isRight(row, message) {
                found.append("translation \(row): the text is \(message.text), in \(message.source?.string ?? "none")")
            }
            guard row != message.row else { continue }
            let isBeyondWindow = row == nil && message.row?["touched"]?.integer ?? 0 <= since
            if isBeyondWindow || message.isSuperseded { continue }
            found.append("translation of \(number): held \(row ?? .null), expected \(message.row ?? .null)")
        }
        return found
    }

    private func isRight(_ row: JSONValue, _ message: Shown) -> Bool {
        guard let language, let source = message.source, let engine = row["engine"]?.string else { return false }
        return row["text"]?.string
            == StreamHarness.translation(of: message.text, from: source, into: language, by: engine)
    }
}

extension TranslationJob {
    fileprivate func isFor(_ row: MessageTranslation) -> Bool {
        (conversation, number, of, target) == (row.conversation, row.number, row.of, row.target)
    }
}
