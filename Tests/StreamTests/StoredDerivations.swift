import Languages
import Messaging
import Model
import Storage

@testable import Services

/// Nothing is stored that was made of a text that is gone, or of one of which it may no longer be made: said again from the
/// messages alone, and read from the tables, whoever may see them.
struct StoredDerivations {
    private let store: StoreTransaction
    private let json: JSONCache
    private var messages: [Key: Known] = [:]

    private struct Key: Hashable {
        var conversation: ConversationID
        var number: Int64
    }

    private struct Known {
        var message: Message
        var conversation: Conversation
        /// That somebody reads, by their versions: an author whom somebody has blocked reads another one than that one.
        var texts: [Int64: String]
    }

    init(_ store: StoreTransaction, _ json: JSONCache) { (self.store, self.json) = (store, json) }

    mutating func violations() throws -> [String] {
        try rowViolations() + blockViolations() + sentenceViolations() + vectorViolations()
    }

    /// Nil if the message is gone.
    private mutating func known(_ number: Int64, in id: ConversationID) throws -> Known? {
        let key = Key(conversation: id, number: number)
        if let known = messages[key] { return known }
        guard let conversation = try store.conversation(id), let message = try store.message(number, in: id),
            message.deletedAt == nil, message.expiresAt.map({ $0 > store.now }) ?? true
        else { return nil }
        var texts = [message.textVersion: message.text ?? ""]
        if message.isTextWithheld, let shown = try store.edits(of: number, in: id).last(where: { !$0.isWithheld }) {
            texts[shown.textVersion] = shown.text
        }
        let known = Known(message: message, conversation: conversation, texts: texts)
        messages[key] = known
        return known
    }

    /// Translations, and hints that a model has written, end with the text that they were made of.
    private mutating func rowViolations() throws -> [String] {
        let translations = try store.sql.query(
            "SELECT conversation_id, number, of_version, engine, text FROM translations WHERE text IS NOT NULL")
        let hints = try store.sql.query(
            "SELECT conversation_id, number, of_version, engine, items, kind FROM hints WHERE items IS NOT NULL")
        var found: [String] = []
        for row in translations {
            let text = try text(of: row, ifHosted: .translate)
            if try text.map({ try row.text(4).hasSuffix($0) }) != true { found.append("stored translation \(row)") }
        }
        for row in hints {
            let text = try text(of: row, ifHosted: .full) ?? formerText(of: row)
            let meanings = try json.value(of: row.text(4)).items.map { $0["meaning"]?.string ?? "" }
            let isModel = try row.text(5) == "model"
            let isRight = text.map { text in !isModel || meanings.first?.hasSuffix(text) == true } ?? false
            if !isRight { found.append("stored hints \(row)") }
            if isModel { found += try earlierViolations(of: row, meanings.dropFirst()) }
        }
        return found
    }

    /// What a model says of the earlier messages that it was shown ends with each of them.
    private mutating func earlierViolations(of row: SQLRow, _ meanings: ArraySlice<String>) throws -> [String] {
        let isHosted = try row.text(3) == StreamHarness.hosted
        return try meanings.compactMap { meaning in
            let references = TextReference.list(meaning) ?? []
            let isRight = try !references.isEmpty && references.allSatisfy { try isStored($0, isHosted: isHosted) }
            return isRight ? nil : "stored hints \(row): \(meaning)"
        }
    }

    /// What something was made of; nil if that is gone, or nothing may be made of it by this engine.
    ///
    /// - Parameter row: begins with `conversation_id, number, of_version, engine`.
    private mutating func text(of row: SQLRow, ifHosted hosted: IntelligenceLevel) throws -> String? {
        guard let known = try known(row.integer(1), in: row.id(0)) else { return nil }
        let level = try ExpectedLevel.level(of: known.message, known.conversation, store)
        let needed: IntelligenceLevel = try row.text(3) == StreamHarness.hosted ? hosted : .local
        return try level < needed ? nil : known.texts[row.integer(2)]
    }

    /// Who has left and come back reads messages of before as they were then, which lexicons explain; a model does not.
    private mutating func formerText(of row: SQLRow) throws -> String? {
        let (id, number, version): (ConversationID, _, _) = try (row.id(0), row.integer(1), row.integer(2))
        guard try row.text(5) == "lexicon", let known = try known(number, in: id),
            try ExpectedLevel.level(of: known.message, known.conversation, store) >= .local
        else { return nil }
        return try store.edits(of: number, in: id).first { $0.textVersion == version && !$0.isWithheld }?.text
    }

    /// Of texts that somebody reads, and that the service may be given.
    private mutating func vectorViolations() throws -> [String] {
        try store.sql.query("SELECT conversation_id, number, of_version FROM vectors").compactMap { row in
            let known = try known(row.integer(1), in: row.id(0))
            let level = try known.map { try ExpectedLevel.level(of: $0.message, $0.conversation, store) }
            return try level == .full && known?.texts[row.integer(2)] != nil ? nil : "stored vector \(row)"
        }
    }

    private mutating func blockViolations() throws -> [String] {
        let rows = try store.sql.query("SELECT conversation_id, block, language, level, items FROM summary_blocks")
        return try rows.compactMap { row in
            let items = try json.value(of: row.text(4)).items
            let references = items.flatMap { TextReference.list($0["text"]?.string ?? "") ?? [] }
            let isHosted = try row.text(3) == "full"
            let wrong = try references.filter { try !isStored($0, isHosted: isHosted) }
            let isRight = wrong.isEmpty && references.count == items.count
            return isRight ? nil : "stored block \(try row.text(2)): rests on \(wrong)"
        }
    }

    /// Those that rest on nothing end with each of the messages that were shown.
    private mutating func sentenceViolations() throws -> [String] {
        let rows = try store.sql.query(
            """
            SELECT s.text, r.is_hosted, s.user_id, s.is_cited FROM assistant_sentences s
            LEFT JOIN assistant_runs r ON r.id = s.run_id WHERE s.text != ''
            """)
        return try rows.compactMap { row in
            let user: UserID = try row.id(2)
            guard let references = TextReference.list(try row.text(0)), let isHosted = try row.integerIfPresent(1)
            else {
                return "stored sentence \(row)"
            }
            let wrong = try references.filter { try !isStored($0, isHosted: isHosted == 1, for: user) }
            return wrong.isEmpty ? nil : "stored sentence (cited: \(try row.bool(3))): rests on \(wrong)"
        }
    }

    /// - Parameter user: whose alone it is: who has left reads what was there then.
    private mutating func isStored(
        _ reference: TextReference, isHosted: Bool, for user: UserID? = nil
    ) throws -> Bool {
        guard let known = try known(reference.number, in: reference.conversation) else { return false }
        let isAllowed = try ExpectedLevel.allowsModel(
            known.message, isHosted: isHosted, known.conversation, store)
        guard isAllowed else { return false }
        if let text = known.texts[reference.of] { return text == reference.words }
        guard let user else { return false }
        let former = try store.edits(of: reference.number, in: reference.conversation).filter { !$0.isWithheld }
        let span = try store.spans(of: user, in: reference.conversation).span(of: reference.number)
        // Who has cleared the conversation since reads nothing that rests on it: it ends with the message's next text.
        guard let span else { return former.contains { $0.textVersion == reference.of } }
        guard let until = span.untilSequence, known.message.textVersion > until else { return false }
        return former.last { $0.textVersion <= until }?.textVersion == reference.of
    }
}
