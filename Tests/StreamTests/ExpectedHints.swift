import Accounts
import Languages
import Messaging
import Model
import Storage

@testable import Services

/// What a user is to be shown of the hints on messages of one conversation, said again from messages and rights, without the
/// code that decides it.
struct ExpectedHints {
    struct Shown {
        /// Of the text that the user sees.
        var textVersion: Int64
        var text: String
        /// As it is sent; nil if there are none.
        var row: JSONValue?
        /// Whether the user sees an older text than others: what was made of it may be kept.
        var isSuperseded: Bool

        fileprivate var isByModel: Bool { row?["kind"]?.string == "model" }
    }

    /// The user's.
    private(set) var language = LanguageTag(wellFormed: "en")
    private(set) var mode = TranslationMode.onRequest
    private(set) var shown: [Int64: Shown] = [:]
    /// What the user sees, without words too.
    private var seen: Set<Int64> = []
    /// Those that are queued, and no model will ever be asked for.
    private var lost: [MessageHints] = []

    /// Messages with hints.
    var shownCount: Int { shown.values.count { $0.row?["items"]?.items.isEmpty == false } }
    /// Of those, the ones that also say what earlier messages say.
    var onEarlierCount: Int { shown.values.count { $0.row?["items"]?.items.count ?? 0 > 1 && $0.isByModel } }

    /// - Parameter messages: all that the user sees, as they see them.
    init(of messages: [Message], in id: ConversationID, for user: UserID, _ store: StoreTransaction) throws {
        guard let conversation = try store.conversation(id), let record = try store.user(user) else { return }
        let own = try store.membership(of: user, in: id).choices
        let into = (own.translation ?? record.choices.translation)?.into
        language = into ?? record.languages.compactMap { LanguageTag(wellFormed: $0) }.first ?? language
        mode = own.hints ?? record.choices.hints ?? mode
        guard let language else { return }
        let jobs = try store.oldestJobs(beyond: 0, limit: .max).map(\.job).filter { $0.purpose == .hints }
        let rows = try store.hints(in: id, after: 0, limit: .max)
        lost = rows.filter { row in row.status == .queued && !jobs.contains { $0.isFor(row) } }
        seen = Set(messages.map(\.number))
        for message in messages where message.text != nil {
            var row = rows.first {
                ($0.number, $0.of, $0.language) == (message.number, message.textVersion, language)
            }
            if let one = row, one.status == .done || one.status == .queued || !one.items.isEmpty {
                let level = try ExpectedLevel.level(of: message, conversation, store)
                if level == .off || one.engine == StreamHarness.hosted && level < .full {
                    row = MessageHints(
                        conversation: id, number: one.number, language: one.language, of: one.of, status: .unavailable,
                        reason: .consentRequired, level: one.level, touched: one.touched)
                } else if try one.earlier.contains(where: { number in
                    guard let earlier = try store.message(number, in: id) else { return true }
                    let level = try ExpectedLevel.level(of: earlier, conversation, store)
                    return level == .off || one.engine == StreamHarness.hosted && level < .full
                }) {
                    // It may say what that says.
                    row = MessageHints(
                        conversation: id, number: one.number, language: one.language, of: one.of, status: .done,
                        engine: HintLexicon.name, kind: .lexicon, touched: one.touched)
                }
            }
            let current = try store.message(message.number, in: id)
            shown[message.number] = Shown(
                textVersion: message.textVersion, text: message.text ?? "", row: try row.map(Self.json),
                isSuperseded: current.map { $0.textVersion != message.textVersion && !$0.isTextWithheld } ?? false)
        }
    }

    private static func json(_ row: MessageHints) throws -> JSONValue {
        var writer = JSONWriter(capacity: 256)
        row.write(to: &writer)
        return try JSONValue(writer.bytes)
    }
}

extension ExpectedHints {
    /// How what a client shows differs from it. It shows what it holds of the very text that it holds.
    ///
    /// - Parameters:
    ///   - held: by number.
    ///   - since: the position when the client was last sent a window; what is older may be beyond it.
    func differences(of held: [Int64: JSONValue], mode: String?, since: Int64) -> [String] {
        var found = lost.map { "hints on \($0.number) in \($0.language.string): queued without a job" }
        if mode != self.mode.rawValue { found.append("hints \(mode ?? "never"), expected \(self.mode.rawValue)") }
        for (number, row) in held where !seen.contains(number) {
            found.append("hints of a message that the user does not see: \(row)")
        }
        for (number, message) in shown {
            let mine = held[number]
            if let of = mine?["of"]?.integer, of > message.textVersion {
                found.append("hints \(mine ?? .null): on a text that the user does not see")
            }
            let row = mine?["of"]?.integer == message.textVersion ? mine : nil
            if let row, !isRight(row, message) {
                found.append(
                    "hints \(row): the text is \(message.text), the reader's language \(language?.string ?? "")")
            }
            guard row != message.row else { continue }
            let isBeyondWindow = row == nil && message.row?["touched"]?.integer ?? 0 <= since
            if isBeyondWindow || message.isSuperseded { continue }
            found.append("hints on \(number): held \(row ?? .null), expected \(message.row ?? .null)")
        }
        return found
    }

    /// Whether they are in the reader's language and explain this very text.
    private func isRight(_ row: JSONValue, _ message: Shown) -> Bool {
        guard let language, row["language"]?.string == language.string else { return false }
        if row["kind"]?.string == "model", let items = row["items"]?.items {
            // What the others say is compared where they are stored.
            let meanings = items.map { $0["meaning"]?.string ?? "" }
            return meanings.first
                == StreamHarness.hint(on: message.text, in: language, by: row["engine"]?.string ?? "").meaning
        }
        return row["items"]?.items.allSatisfy { item in
            guard let start = item["start"]?.integer, let length = item["length"]?.integer else { return false }
            let text = Array(message.text.utf16).dropFirst(Int(start)).prefix(Int(length))
            return String(decoding: text, as: UTF16.self) == StreamHarness.abbreviation
        } ?? true
    }
}

extension TranslationJob {
    fileprivate func isFor(_ row: MessageHints) -> Bool {
        (conversation, number, of, target.language) == (row.conversation, row.number, row.of, row.language)
    }
}
