import Foundation
import GRDB

// Messages that disappear: their texts are removed by the store itself, with a connection or without.
extension ConversationStore {
    /// Messages of one transaction.
    private static let expiredAtOnce = 500

    /// Milliseconds since 1970, not before.
    static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1_000).rounded(.up)) }

    /// When the next text disappears, or should have.
    func nextExpiry() throws -> Date? {
        try database.read { database in
            try ["messages", "citations"].compactMap { table in
                try Int64.fetchOne(database, sql: "SELECT min(expires) FROM \(table) WHERE expires IS NOT NULL")
            }.min()
        }.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }

    /// Removes the texts that have disappeared, and everything that was derived from them, also if the messages are not
    /// stored.
    func expire(at now: Date) throws {
        while try expireSome(at: now) == Self.expiredAtOnce {}
    }

    private func expireSome(at now: Date) throws -> Int {
        try database.write { database in
            let time = Int64(now.timeIntervalSince1970 * 1_000)
            try database.execute(sql: "DELETE FROM citations WHERE expires <= ?", arguments: [time])
            let rows = try Row.fetchAll(
                database, sql: "SELECT conversation, number, json FROM messages WHERE expires <= ? LIMIT ?",
                arguments: [time, Self.expiredAtOnce])
            for row in rows {
                let (id, number): (String, Int) = (row[0], row[1])
                var message = try StoredJSON.decode(Message.self, row[2])
                if let expiry = message.expiry { message = message.asOf(max(now, expiry)) }
                try database.execute(
                    sql: """
                        UPDATE messages SET json = ?, expires = NULL, textVersion = NULL
                        WHERE conversation = ? AND number = ?
                        """,
                    arguments: [try StoredJSON.encode(message), id, number])
            }
            return rows.count
        }
    }
}
