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

// What is derived from messages, and what becomes of it with these.
extension ConversationStore {
    /// Replaces what an owner has. What rests on messages that are known to have changed, to have gone, or to disappear at a
    /// time that nobody knows here, is left out.
    func save(_ derivations: [StoredDerivation], of owner: String, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM derivations WHERE owner = ?", arguments: [owner])
        for derivation in derivations {
            try database.execute(
                sql: "INSERT INTO derivations VALUES (?, ?, ?, ?)",
                arguments: [owner, derivation.position, !derivation.citations.isEmpty, derivation.json])
            for citation in derivation.citations {
                try database.execute(
                    sql: """
                        INSERT INTO citations (conversation, number, owner, position, textVersion) VALUES (?, ?, ?, ?, ?)
                        ON CONFLICT DO UPDATE SET textVersion = min(textVersion, excluded.textVersion)
                        """,
                    arguments: [
                        citation.conversation.rawValue, citation.number, owner, derivation.position, citation.of,
                    ])
            }
        }
        try compare(citationsOf: owner, database)
        for id in Set(derivations.flatMap(\.citations).map(\.conversation)) {
            let head = try head(of: id, database)
            let row = try inboxRow(id, database)
            if row?.gone == true { try withdrawAll(in: id, database) }
            let memberships = [head?.membership, row?.membership].compactMap(\.self)
            if let newest = memberships.max(by: { $0.version < $1.version }) {
                try withdraw(unseenBy: newest, in: id, database)
            }
            guard [row?.conversation, head?.conversation].contains(where: { $0?.disappearAfter != nil }) else {
                continue
            }
            try database.execute(
                sql: "DELETE FROM citations WHERE conversation = ? AND owner = ? AND NOT isStored",
                arguments: [id.rawValue, owner])
        }
    }

    /// Compares what an owner's derivations rest on with the messages that are stored.
    private func compare(citationsOf owner: String, _ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE citations SET isStored = 1, expires = m.expires FROM messages m
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

    /// The derivations of an owner, by their positions, as of a time.
    func derivations(of owner: String, at now: Date, _ database: Database) throws -> [Int: Data] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT position, json FROM derivations d WHERE owner = ?1 AND NOT EXISTS (
                    SELECT 1 FROM citations c
                    WHERE c.owner = ?1 AND (c.position = d.position OR NOT d.isCited) AND c.expires <= ?2)
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

    /// Withdraws what rests on an older text of a message, which need not be stored.
    func withdraw(restingOn message: Message, _ database: Database) throws {
        let (id, textVersion) = (message.conversation.rawValue, message.deletedAt == nil ? message.textVersion : nil)
        try database.execute(
            sql: "DELETE FROM citations WHERE conversation = ?1 AND number = ?2 AND (?3 IS NULL OR textVersion < ?3)",
            arguments: [id, message.number, textVersion])
        guard let expiry = message.expiry else { return }
        try database.execute(
            sql: "UPDATE citations SET expires = ? WHERE conversation = ? AND number = ?",
            arguments: [Self.milliseconds(expiry), id, message.number])
    }

    func withdraw(restingOn number: Int, in id: ConversationID, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM citations WHERE conversation = ? AND number = ?", arguments: [id.rawValue, number])
    }

    /// Withdraws what rests on messages that a membership does not show. Of who has left, that is all of them: they keep what
    /// they have read, but not what was made of it.
    func withdraw(unseenBy membership: Membership, in id: ConversationID, _ database: Database) throws {
        guard membership.state != .left else { return try withdrawAll(in: id, database) }
        let cited = try Int.fetchAll(
            database, sql: "SELECT DISTINCT number FROM citations WHERE conversation = ?", arguments: [id.rawValue])
        for number in cited where !membership.spans.contains(where: { $0.contains(number) }) {
            try withdraw(restingOn: number, in: id, database)
        }
    }

    /// Removes all answers and summaries if the server has another epoch, such as after a restore: messages of the same
    /// numbers may be others.
    func removeAnswers(unlessIn epoch: String?, _ database: Database) throws {
        guard let known = try inboxHead(database)?.epoch, known != epoch else { return }
        for table in ["threads", "runs", "summaries"] { try database.execute(sql: "DELETE FROM \(table)") }
    }

    /// Withdraws what rests on what a row of the inbox tells of.
    func follow(_ row: InboxRow, _ database: Database) throws {
        if row.gone == true { try withdrawAll(in: row.id, database) }
        if let membership = row.membership { try withdraw(unseenBy: membership, in: row.id, database) }
        if let message = row.lastMessage { try withdraw(restingOn: message, database) }
    }

    /// Withdraws what rests on what a response has changed, whether its message is stored or not.
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

extension Membership.Span {
    func contains(_ number: Int) -> Bool { from < number && number <= until ?? .max }
}
