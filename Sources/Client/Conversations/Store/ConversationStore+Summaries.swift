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

    /// The rest of the last summary of a conversation, as of a time; nil if there is no summary, or nothing is left of
    /// it.
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

    /// How long derivations are kept that are based on messages that have not come: 24 hours, in milliseconds.
    static let awaited: Int64 = 86_400_000

    /// Replaces the summary of a conversation.
    ///
    /// - Parameter sequence: of the conversation, as far as it was known when the summary was asked for. Messages that
    ///   have changed later count as changed after they were summarised, unless they have the text that they were sent
    ///   with.
    func save(_ stored: StoredSummary, asOf sequence: Int, of id: ConversationID) throws {
        var head = Head(
            summary: stored.summary, scope: stored.scope, receivedAt: stored.receivedAt,
            items: stored.summary.items.count)
        head.summary.items = []
        let json = try StoredJSON.encode(head)
        try database.write { database in
            let derivations = try stored.summary.items.enumerated().map { position, item in
                StoredDerivation(
                    position: position, json: try StoredJSON.encode(item),
                    citations: try item.messages.map { number in
                        let held = try message(number, in: id, database).flatMap { $0.isOriginal ? $0 : nil }
                        return .init(conversation: id, number: number, of: max(sequence, held?.textVersion ?? 0))
                    })
            }
            try database.execute(sql: "DELETE FROM summaries WHERE conversation = ?", arguments: [id.rawValue])
            guard derivations.reduce(json.count, { $0 + $1.json.count }) <= limits.summaryBytes else { return }
            try database.execute(
                sql: "INSERT INTO summaries VALUES (?, ?, ?)",
                arguments: [id.rawValue, stored.receivedAt.timeIntervalSince1970, json])
            try save(
                derivations, of: DerivationOwner.summary(of: id),
                awaitingUntil: Self.milliseconds(stored.receivedAt) + Self.awaited, database)
            try database.execute(
                sql: """
                    DELETE FROM summaries WHERE conversation IN (
                        SELECT conversation FROM summaries ORDER BY receivedAt DESC, conversation LIMIT -1 OFFSET ?)
                    """,
                arguments: [limits.summaries])
        }
    }

    /// The position that a conversation was read up to; nil if nothing is stored of it.
    func position(of id: ConversationID) throws -> StreamPosition? {
        try database.read { try head(of: id, $0)?.documents(of: id).position }
    }
}
