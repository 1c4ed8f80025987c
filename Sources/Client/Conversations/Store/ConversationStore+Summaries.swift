import Foundation
import GRDB

// The last summary of each conversation. Its items are derivations.
extension ConversationStore {
    private struct Head: Codable {
        /// Without items.
        var summary: Summary
        var scope: SummaryScope
        var receivedAt: Date
        var items: Int
    }

    /// What is left of the last summary of a conversation, as of a time; nil if there is none, or nothing is left of it.
    func summary(of id: ConversationID, at now: Date) throws -> StoredSummary? {
        try database.read { database in
            let stored = try Data.fetchOne(
                database, sql: "SELECT json FROM summaries WHERE conversation = ?", arguments: [id.rawValue])
            guard let head = try stored.map({ try StoredJSON.decode(Head.self, $0) }) else { return nil }
            let items = try derivations(of: DerivationOwner.summary(of: id), at: now, database)
            guard !items.isEmpty || head.items == 0 else { return nil }
            var summary = head.summary
            summary.items = try items.sorted { $0.key < $1.key }
                .map { try StoredJSON.decode(Summary.Item.self, $0.value) }
            return StoredSummary(summary: summary, scope: head.scope, receivedAt: head.receivedAt)
        }
    }

    /// Replaces the summary of a conversation.
    ///
    /// - Parameter sequence: of the conversation, as far as it was known when the summary was asked for: no message that has
    ///   changed later may be in it.
    func save(_ stored: StoredSummary, asOf sequence: Int, of id: ConversationID) throws {
        var head = Head(
            summary: stored.summary, scope: stored.scope, receivedAt: stored.receivedAt,
            items: stored.summary.items.count)
        head.summary.items = []
        let derivations = try stored.summary.items.enumerated().map { position, item in
            StoredDerivation(
                position: position, json: try StoredJSON.encode(item),
                citations: item.messages.map { .init(conversation: id, number: $0, of: sequence) })
        }
        let json = try StoredJSON.encode(head)
        try database.write { database in
            try database.execute(sql: "DELETE FROM summaries WHERE conversation = ?", arguments: [id.rawValue])
            guard derivations.reduce(json.count, { $0 + $1.json.count }) <= limits.summaryBytes else { return }
            try database.execute(
                sql: "INSERT INTO summaries VALUES (?, ?, ?)",
                arguments: [id.rawValue, stored.receivedAt.timeIntervalSince1970, json])
            try save(derivations, of: DerivationOwner.summary(of: id), database)
            try database.execute(
                sql: """
                    DELETE FROM summaries WHERE conversation IN (
                        SELECT conversation FROM summaries ORDER BY receivedAt DESC, conversation LIMIT -1 OFFSET ?)
                    """,
                arguments: [limits.summaries])
        }
    }

    /// The sequence of a conversation that was reached when it was read last; nil if nothing is stored of it.
    func sequence(of id: ConversationID) throws -> Int? {
        try database.read { try head(of: id, $0)?.sequence.map { Int($0) } }
    }
}
