import Foundation
import GRDB

/// A sentence or an item that was derived from messages, as it is stored.
struct StoredDerivation {
    var position: Int
    var json: Data
    var citations: [AnswerSentence.Citation]
}

/// Of what something is derived: the key of its derivations.
enum DerivationOwner {
    static func run(_ id: AssistantRunID) -> String { "run:\(id)" }
    static func summary(of id: ConversationID) -> String { "summary:\(id)" }
}

// Results that are derived from messages, and what happens to them when these change.
extension ConversationStore {
    /// Replaces the derivations of an owner. It leaves out those that are based on no messages, on messages that are
    /// known to have changed or to be gone, and on messages that were never stored here, since this device does not
    /// know when they disappear.
    ///
    /// - Parameter deadline: in milliseconds since 1970; until then, derivations that are based on messages that have
    ///   not come yet are kept, if messages of the conversation do not disappear.
    func save(
        _ derivations: [StoredDerivation], of owner: String, awaitingUntil deadline: Int64? = nil, _ database: Database
    ) throws {
        let expiries = try knownExpiries(of: Set(derivations.flatMap(\.citations)), database)
        try database.execute(sql: "DELETE FROM derivations WHERE owner = ?", arguments: [owner])
        for derivation in derivations where !derivation.citations.isEmpty {
            try database.execute(
                sql: "INSERT INTO derivations VALUES (?, ?, ?)",
                arguments: [owner, derivation.position, derivation.json])
            for citation in derivation.citations {
                let expires = expiries[citation]
                try database.execute(
                    sql: """
                        INSERT INTO citations (conversation, number, owner, position, textVersion, isKnown, expires)
                        VALUES (?, ?, ?, ?, ?, ?, ?)
                        ON CONFLICT DO UPDATE SET textVersion = min(textVersion, excluded.textVersion)
                        """,
                    arguments: [
                        citation.conversation.rawValue, citation.number, owner, derivation.position, citation.of,
                        expires != nil, expires ?? nil,
                    ])
            }
        }
        try compare(citationsOf: owner, database)
        for id in Set(derivations.flatMap(\.citations).map(\.conversation)) {
            try compare(citationsOf: owner, in: id, isAwaiting: deadline != nil, database)
        }
        try database.execute(
            sql: "UPDATE citations SET expires = ? WHERE owner = ? AND NOT isKnown", arguments: [deadline, owner])
    }

    /// When messages disappear that are or were stored, nil inside for never. Others are left out.
    private func knownExpiries(
        of citations: Set<AnswerSentence.Citation>, _ database: Database
    ) throws -> [AnswerSentence.Citation: Int64?] {
        var expiries: [AnswerSentence.Citation: Int64?] = [:]
        for citation in citations {
            let row = try Row.fetchOne(
                database,
                sql: "SELECT expires FROM citations WHERE conversation = ? AND number = ? AND isKnown LIMIT 1",
                arguments: [citation.conversation.rawValue, citation.number])
            if let row { expiries.updateValue(row[0], forKey: citation) }
        }
        return expiries
    }

    /// Compares the citations of an owner's derivations with the stored messages.
    private func compare(citationsOf owner: String, _ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE citations SET isStored = 1, isKnown = 1, expires = m.expires FROM messages m
                WHERE citations.owner = ? AND m.conversation = citations.conversation AND m.number = citations.number
                """,
            arguments: [owner])
        try database.execute(
            sql: """
                DELETE FROM citations WHERE owner = ? AND EXISTS (
                    SELECT 1 FROM messages m
                    WHERE m.conversation = citations.conversation AND m.number = citations.number
                        AND (m.textVersion IS NULL OR m.textVersion > citations.textVersion))
                """,
            arguments: [owner])
    }

    /// Compares them with the known state of a conversation.
    private func compare(
        citationsOf owner: String, in id: ConversationID, isAwaiting: Bool, _ database: Database
    ) throws {
        let (head, row) = (try head(of: id, database), try inboxRow(id, database))
        if row?.gone == true { try withdrawAll(in: id, database) }
        let memberships = [head?.membership, row?.membership].compactMap(\.self)
        if let newest = memberships.max(by: { $0.version < $1.version }) {
            try withdraw(unseenBy: newest, in: id, database)
        }
        if let message = row?.lastMessage { try withdraw(restingOn: message, database) }
        let noted = try Data.fetchAll(
            database,
            sql:
                "SELECT o.json FROM citations c JOIN own o USING (conversation, number) WHERE owner = ? AND conversation = ?",
            arguments: [owner, id.rawValue])
        for own in try noted.map({ try StoredJSON.decode(OwnMessage.self, $0) }) where own.hidden == true {
            try withdraw(restingOn: own.number, in: id, database)
        }
        // Messages that were stored before a restore of the server are different ones.
        let isOld = try head?.epoch != nil && head?.epoch != answersEpoch(database)
        let disappears = [row?.conversation, head?.conversation].contains { $0?.disappearAfter != nil }
        guard isOld || disappears || !isAwaiting else { return }
        try database.execute(
            sql: "DELETE FROM citations WHERE conversation = ? AND owner = ? AND (? OR NOT isKnown)",
            arguments: [id.rawValue, owner, isOld])
    }

    /// The derivations of an owner, by their positions, as of a time.
    func derivations(of owner: String, at now: Date, _ database: Database) throws -> [Int: Data] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT position, json FROM derivations d WHERE owner = ?1 AND NOT EXISTS (
                    SELECT 1 FROM citations c WHERE c.owner = ?1 AND c.position = d.position AND c.expires <= ?2)
                """,
            arguments: [owner, Int64(now.timeIntervalSince1970 * 1_000)])
        return Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 })
    }

    private func inboxRow(_ id: ConversationID, _ database: Database) throws -> InboxRow? {
        try Data.fetchOne(database, sql: "SELECT json FROM inbox WHERE conversation = ?", arguments: [id.rawValue])
            .map { try StoredJSON.decode(InboxRow.self, $0) }
    }
}

// What the store hears of messages otherwise than by storing them.
extension ConversationStore {
    /// Nothing of a conversation may be shown any more.
    func withdrawAll(in id: ConversationID) throws { try database.write { try withdrawAll(in: id, $0) } }

    func withdrawAll(in id: ConversationID, _ database: Database) throws {
        for table in ["summaries", "citations"] {
            try database.execute(sql: "DELETE FROM \(table) WHERE conversation = ?", arguments: [id.rawValue])
        }
    }

    /// Withdraws derivations that are based on an older text of a message, which need not be stored.
    func withdraw(restingOn message: Message, _ database: Database) throws {
        try accept(message, database)
        let (id, textVersion) = (message.conversation.rawValue, message.deletedAt == nil ? message.textVersion : nil)
        try database.execute(
            sql: "DELETE FROM citations WHERE conversation = ?1 AND number = ?2 AND (?3 IS NULL OR textVersion < ?3)",
            arguments: [id, message.number, textVersion])
        try database.execute(
            sql: "UPDATE citations SET isKnown = 1, expires = ? WHERE conversation = ? AND number = ?",
            arguments: [message.expiry.map(Self.milliseconds), id, message.number])
    }

    /// A text that was never edited counts as the one that was summarised: there was no other.
    func accept(_ message: Message, _ database: Database) throws {
        guard message.isOriginal else { return }
        try database.execute(
            sql: """
                UPDATE citations SET textVersion = max(textVersion, ?)
                WHERE conversation = ? AND number = ? AND owner = ?
                """,
            arguments: [
                message.textVersion, message.conversation.rawValue, message.number,
                DerivationOwner.summary(of: message.conversation),
            ])
    }

    func withdraw(restingOn number: Int, in id: ConversationID, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM citations WHERE conversation = ? AND number = ?", arguments: [id.rawValue, number])
    }

    /// Withdraws derivations that are based on messages that a membership does not show. For a user who has left, these
    /// are all messages: they keep the messages that they have read, but not the derivations.
    func withdraw(unseenBy membership: Membership, in id: ConversationID, _ database: Database) throws {
        guard membership.state != .left else { return try withdrawAll(in: id, database) }
        let cited = try Int.fetchAll(
            database, sql: "SELECT DISTINCT number FROM citations WHERE conversation = ?", arguments: [id.rawValue])
        for number in cited where !membership.spans.contains(where: { $0.contains(number) }) {
            try withdraw(restingOn: number, in: id, database)
        }
    }

    /// The server's epoch as of which answers and summaries are stored; nil before any stream has told it.
    private func answersEpoch(_ database: Database) throws -> String? {
        try Data.fetchOne(database, sql: "SELECT json FROM heads WHERE name = 'answers'")
            .flatMap { try StoredJSON.decode([String].self, $0).first }
    }

    /// Removes all answers and summaries if the server has another epoch, such as after a restore: messages of the same
    /// numbers may be others.
    func removeAnswers(unlessIn epoch: String?, _ database: Database) throws {
        guard let epoch else { return }
        let known = try answersEpoch(database)
        guard known != epoch else { return }
        if known != nil {
            for table in ["threads", "runs", "summaries"] { try database.execute(sql: "DELETE FROM \(table)") }
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO heads VALUES ('answers', ?)", arguments: [try StoredJSON.encode([epoch])])
    }

    /// Withdraws derivations that are based on a message that a row of the inbox shows as changed.
    func follow(_ row: InboxRow, _ database: Database) throws {
        if row.gone == true { try withdrawAll(in: row.id, database) }
        if let membership = row.membership { try withdraw(unseenBy: membership, in: row.id, database) }
        if let message = row.lastMessage { try withdraw(restingOn: message, database) }
    }

    /// Withdraws derivations that are based on a message that a response has changed, whether the message is stored or
    /// not.
    func follow(_ acknowledgement: Acknowledgement, in id: ConversationID, _ database: Database) throws {
        switch acknowledgement {
        case .message(let message), .reaction(_, _, let message): try withdraw(restingOn: message, database)
        case .own(let own): if own.hidden == true { try withdraw(restingOn: own.number, in: id, database) }
        case .hidden(let number): try withdraw(restingOn: number, in: id, database)
        case .cleared(upTo: let number?, _):
            try database.execute(
                sql: "DELETE FROM citations WHERE conversation = ? AND number <= ?", arguments: [id.rawValue, number])
        case .cleared(upTo: nil, _): try withdrawAll(in: id, database)
        case .membership(let membership): try withdraw(unseenBy: membership, in: id, database)
        case .conversation, .created, .marks: break
        }
    }
}

extension Message {
    /// It has the text that it was sent with. What else has words gets them later, such as a transcript.
    var isOriginal: Bool { kind == .text && editedAt == nil && deletedAt == nil }
}

extension Membership.Span {
    func contains(_ number: Int) -> Bool { from < number && number <= until ?? .max }
}
