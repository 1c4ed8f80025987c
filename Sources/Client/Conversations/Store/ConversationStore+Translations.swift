import Foundation
import GRDB

// Translations and hints. They stand beside their messages, and triggers of the file remove them with these.
extension ConversationStore {
    private enum Kind: String {
        case translation, hints
    }

    private struct Head: Codable {
        var reading: ConversationReading?
        var position: StreamPosition?
    }

    /// The stored rows of the messages that a state holds, and of those that have not come yet.
    func translations(beside state: ConversationState) throws -> TranslationsState {
        try database.read { database in
            let stored = try Data.fetchOne(
                database, sql: "SELECT json FROM readings WHERE conversation = ?", arguments: [state.id.rawValue])
            guard let head = try stored.map({ try StoredJSON.decode(Head.self, $0) }) else {
                return TranslationsState()
            }
            var translations = TranslationsState(head.reading, at: head.position)
            let first = state.messages.keys.min() ?? state.start ?? 1
            try load(first...Int.max, into: &translations, beside: state, database)
            return translations
        }
    }

    /// Adds those of messages that were loaded.
    func loadTranslations(
        of numbers: ClosedRange<Int>, into translations: inout TranslationsState, beside state: ConversationState
    ) throws {
        var loaded = translations
        try database.read { try load(numbers, into: &loaded, beside: state, $0) }
        translations = loaded
    }

    /// Takes rows of a conversation that is not open.
    func keep(_ rows: [TranslationsRow], of id: ConversationID) throws {
        try database.write { database in
            let stored = try Data.fetchOne(
                database, sql: "SELECT json FROM readings WHERE conversation = ?", arguments: [id.rawValue])
            guard let reading = try stored.flatMap({ try StoredJSON.decode(Head.self, $0).reading }) else { return }
            for row in rows where reading.includes(row) { try saveBesideStored(row, of: id, database) }
        }
    }

    func save(_ state: TranslationsState, _ changes: TranslationsState.Changes, of id: ConversationID) throws {
        try database.write { database in
            if changes.isReplaced {
                try database.execute(sql: "DELETE FROM translations WHERE conversation = ?", arguments: [id.rawValue])
            }
            for number in changes.translations {
                let row = state.translations[number].flatMap { $0.isKept ? $0 : nil }
                try save(row, row?.of, .translation, number, of: id, database)
            }
            for number in changes.hints {
                let row = state.hints[number].flatMap { $0.isKept ? $0 : nil }
                try save(row, row?.of, .hints, number, of: id, database)
            }
            for row in changes.others { try saveBesideStored(row, of: id, database) }
            guard changes.head else { return }
            let head = Head(reading: state.reading, position: state.position)
            try database.execute(
                sql: "INSERT OR REPLACE INTO readings VALUES (?, ?)",
                arguments: [id.rawValue, try StoredJSON.encode(head)])
        }
    }

    private func save(
        _ row: (some Encodable)?, _ textVersion: Int?, _ kind: Kind, _ number: Int, of id: ConversationID,
        _ database: Database
    ) throws {
        guard let row, let textVersion else {
            return try database.execute(
                sql: "DELETE FROM translations WHERE conversation = ? AND number = ? AND kind = ?",
                arguments: [id.rawValue, number, kind.rawValue])
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO translations VALUES (?, ?, ?, ?, ?)",
            arguments: [id.rawValue, number, kind.rawValue, textVersion, try StoredJSON.encode(row)])
    }

    /// Replaces the stored row of a message that is stored, but not held.
    private func saveBesideStored(_ row: TranslationsRow, of id: ConversationID, _ database: Database) throws {
        switch row {
        case .translation(let row):
            guard try isStored(row.number, row.of, of: id, database) else { return }
            let known: Translation? = try stored(.translation, row.number, of: id, database)
            guard known.map({ row.isNewer(than: $0) }) ?? true else { return }
            try save(row.isKept ? row : nil, row.of, .translation, row.number, of: id, database)
        case .hints(let row):
            guard try isStored(row.number, row.of, of: id, database) else { return }
            let known: Hints? = try stored(.hints, row.number, of: id, database)
            guard known.map({ row.isNewer(than: $0) }) ?? true else { return }
            try save(row.isKept ? row : nil, row.of, .hints, row.number, of: id, database)
        case .unknown: return
        }
    }

    /// Whether a message is stored with this text, or an older one.
    private func isStored(
        _ number: Int, _ textVersion: Int, of id: ConversationID, _ database: Database
    ) throws -> Bool {
        let stored = try Int.fetchOne(
            database, sql: "SELECT textVersion FROM messages WHERE conversation = ? AND number = ?",
            arguments: [id.rawValue, number])
        return stored.map { textVersion >= $0 } ?? false
    }

    private func stored<Row: Decodable>(
        _ kind: Kind, _ number: Int, of id: ConversationID, _ database: Database
    ) throws -> Row? {
        try Data.fetchOne(
            database, sql: "SELECT json FROM translations WHERE conversation = ? AND number = ? AND kind = ?",
            arguments: [id.rawValue, number, kind.rawValue]
        ).map { try StoredJSON.decode(Row.self, $0) }
    }

    private func load(
        _ numbers: ClosedRange<Int>, into translations: inout TranslationsState, beside state: ConversationState,
        _ database: Database
    ) throws {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT kind, json FROM translations WHERE conversation = ? AND number BETWEEN ? AND ?
                ORDER BY number DESC LIMIT ?
                """,
            arguments: [state.id.rawValue, numbers.lowerBound, numbers.upperBound, 2 * TranslationsState.maxRows])
        var (found, hints): ([Translation], [Hints]) = ([], [])
        for row in rows {
            switch Kind(rawValue: row[0]) {
            case .translation: found.append(try StoredJSON.decode(Translation.self, row[1]))
            case .hints: hints.append(try StoredJSON.decode(Hints.self, row[1]))
            case nil: break
            }
        }
        translations.restore(found, hints, beside: state)
    }
}
