import Foundation
import GRDB

// Conversations with their messages.
extension ConversationStore {
    /// The stored state of a conversation, with at most this many of its newest messages; nil if there is none.
    func conversation(_ id: ConversationID, limit: Int) throws -> ConversationState? {
        try database.read { database in
            guard let head = try head(of: id, database) else { return nil }
            var state = head.documents(of: id)
            for data in try Data.fetchAll(
                database, sql: "SELECT json FROM members WHERE conversation = ?", arguments: [id.rawValue])
            {
                state.keep(try StoredJSON.decode(ConversationMember.self, data))
            }
            if let position = state.position {
                state.completeSince = Int(position.sequence)
                state.resume()
            }
            let newest = head.newestRange
            if let (numbers, asOf) = newest {
                try load(numbers, asOf: asOf, limit: limit, into: &state, database)
            }
            try loadSent(after: newest?.numbers.upperBound ?? 0, limit: limit, into: &state, database)
            try loadPeople(into: &state, database)
            _ = state.takeChanges()
            return state
        }
    }

    /// A message among the newest that are stored, in a range or not.
    func message(_ id: Message.ID, in conversation: ConversationID, among limit: Int) throws -> Message? {
        try database.read { database in
            let rows = try Data.fetchCursor(
                database, sql: "SELECT json FROM messages WHERE conversation = ? ORDER BY number DESC LIMIT ?",
                arguments: [conversation.rawValue, limit])
            while let data = try rows.next() {
                let message = try StoredJSON.decode(Message.self, data)
                if message.id == id { return message }
            }
            return nil
        }
    }

    /// Adds stored messages before a number, which may be old. False if there are none.
    func loadEarlier(than number: Int, limit: Int, into state: inout ConversationState) throws -> Bool {
        var loaded = state
        let found = try database.read { database in
            guard let stored = try head(of: state.id, database)?.stored(at: number - 1) else { return false }
            try load(stored.lowerBound...(number - 1), asOf: 0, limit: limit, into: &loaded, database)
            try loadPeople(into: &loaded, database)
            return true
        }
        state = loaded
        return found
    }

    func save(_ state: ConversationState, _ changes: StateChanges) throws {
        try database.write { try save(state, changes, $0) }
    }

    func save(_ state: ConversationState, _ changes: StateChanges, _ database: Database) throws {
        let id = state.id.rawValue
        if changes.isReplaced {
            for table in ["messages", "members"] {
                try database.execute(sql: "DELETE FROM \(table) WHERE conversation = ?", arguments: [id])
            }
            try withdrawAll(in: state.id, database)
        }
        for number in changes.messages {
            if let message = state.messages[number] {
                try accept(message, database)
                try database.execute(
                    sql: "INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?)",
                    arguments: [
                        id, number, try StoredJSON.encode(message), message.expiry.map(Self.milliseconds),
                        message.deletedAt == nil ? message.textVersion : nil,
                    ])
            } else {
                try database.execute(
                    sql: "DELETE FROM messages WHERE conversation = ? AND number = ?", arguments: [id, number])
            }
        }
        if changes.removedBefore > 0 { try removeUnseen(before: changes.removedBefore, of: state.id, database) }
        if let membership = state.membership { try withdraw(unseenBy: membership, in: state.id, database) }
        for user in changes.members {
            guard let member = state.members[user] else { continue }
            try database.execute(
                sql: "INSERT OR REPLACE INTO members VALUES (?, ?, ?)",
                arguments: [id, user.rawValue, try StoredJSON.encode(member)])
        }
        for user in changes.people {
            guard let person = state.people[user] else { continue }
            try database.execute(
                sql: "INSERT OR REPLACE INTO people VALUES (?, ?)",
                arguments: [user.rawValue, try StoredJSON.encode(person)])
        }
        var head = changes.isReplaced ? ConversationHead() : try head(of: state.id, database) ?? ConversationHead()
        let epoch = state.position?.epoch
        if head.epoch != epoch { try removeAnswers(unlessIn: epoch, database) }
        if changes.removedBefore > 0 { head.remove(below: changes.removedBefore) }
        head.update(from: state)
        try save(head, of: state.id, database)
    }

    /// Removes what the user does not see any more of a conversation that is not open.
    func remove(before number: Int, of id: ConversationID) throws {
        try database.write { database in
            try removeUnseen(before: number, of: id, database)
            guard var head = try head(of: id, database) else { return }
            head.remove(below: number)
            try save(head, of: id, database)
        }
    }

    /// With everything that was derived from them, also from those that are not stored.
    private func removeUnseen(before number: Int, of id: ConversationID, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM citations WHERE conversation = ? AND number < ?", arguments: [id.rawValue, number])
        try removeMessages(before: number, of: id, database)
    }

    /// With the rows beside them, also those of messages that have not come.
    private func removeMessages(before number: Int, of id: ConversationID, _ database: Database) throws {
        for table in ["translations", "messages"] {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE conversation = ? AND number < ?", arguments: [id.rawValue, number])
        }
    }

    /// Notes that a conversation was opened.
    func opened(_ id: ConversationID, at wallClock: Int64) throws {
        try database.write {
            try $0.execute(
                sql: "UPDATE conversations SET openedAt = ? WHERE id = ?", arguments: [wallClock, id.rawValue])
        }
    }

    /// Shrinks conversations, first those that were not opened for the longest time, until the limit of stored messages
    /// is kept.
    func shrink(except open: Set<ConversationID>) throws {
        try database.write { database in
            var count = try Int.fetchOne(database, sql: "SELECT count(*) FROM messages") ?? 0
            guard count > limits.messages else { return }
            for id in try String.fetchAll(database, sql: "SELECT id FROM conversations ORDER BY openedAt, id")
            where count > limits.messages && !open.contains(ConversationID(id)) {
                let first = try Int.fetchOne(
                    database,
                    sql: "SELECT number FROM messages WHERE conversation = ? ORDER BY number DESC LIMIT 1 OFFSET ?",
                    arguments: [id, limits.shrunk - 1])
                guard let first, var head = try head(of: ConversationID(id), database) else { continue }
                // Derivations that are based on them are still shown.
                try database.execute(
                    sql: "UPDATE citations SET isStored = 0 WHERE conversation = ? AND number < ?",
                    arguments: [id, first])
                try removeMessages(before: first, of: ConversationID(id), database)
                count -= database.changesCount
                head.remove(below: first)
                try save(head, of: ConversationID(id), database)
            }
        }
    }

    func head(of id: ConversationID, _ database: Database) throws -> ConversationHead? {
        try Data.fetchOne(database, sql: "SELECT json FROM conversations WHERE id = ?", arguments: [id.rawValue])
            .map { try StoredJSON.decode(ConversationHead.self, $0) }
    }

    private func save(_ head: ConversationHead, of id: ConversationID, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO conversations VALUES (?, 0, ?)
                ON CONFLICT (id) DO UPDATE SET json = excluded.json
                """,
            arguments: [id.rawValue, try StoredJSON.encode(head)])
    }

    /// Loads the newest messages of a range, which is held as far as they go.
    private func load(
        _ numbers: ClosedRange<Int>, asOf: Int, limit: Int, into state: inout ConversationState, _ database: Database
    ) throws {
        let rows = try Data.fetchAll(
            database,
            sql: """
                SELECT json FROM messages WHERE conversation = ? AND number BETWEEN ? AND ?
                ORDER BY number DESC LIMIT ?
                """,
            arguments: [state.id.rawValue, numbers.lowerBound, numbers.upperBound, limit])
        let messages = try rows.map { try StoredJSON.decode(Message.self, $0) }
        for message in messages { state.keep(message) }
        let first = messages.count == limit ? messages.last?.number : nil
        state.ranges.insert(
            HeldRange(first: first ?? numbers.lowerBound, last: numbers.upperBound, asOf: asOf))
    }

    /// Loads messages that responses have brought, such as to one's own, before the stream has told their place.
    private func loadSent(
        after number: Int, limit: Int, into state: inout ConversationState, _ database: Database
    ) throws {
        let rows = try Data.fetchAll(
            database,
            sql: "SELECT json FROM messages WHERE conversation = ? AND number > ? ORDER BY number DESC LIMIT ?",
            arguments: [state.id.rawValue, number, limit])
        for row in rows { state.keep(try StoredJSON.decode(Message.self, row)) }
    }

    private func loadPeople(into state: inout ConversationState, _ database: Database) throws {
        let users = Set(state.members.keys).union(state.messages.values.map(\.author))
        for user in users where state.people[user] == nil {
            let data = try Data.fetchOne(
                database, sql: "SELECT json FROM people WHERE user = ?", arguments: [user.rawValue])
            if let data { state.keep(try StoredJSON.decode(User.self, data)) }
        }
    }
}
