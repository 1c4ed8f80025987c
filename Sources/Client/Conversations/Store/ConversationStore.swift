import Foundation
import GRDB

/// What a client keeps of one user's conversations between two runs, in SQLite: a cache of what was read, and the
/// writes that wait to be sent. A queued write is on the disk when its function returns. The cache can be read again,
/// so it is written less carefully.
final class ConversationStore: Sendable {
    /// The limits of the store.
    struct Limits: Sendable {
        var messages = 100_000
        /// Messages of a conversation that has to shrink.
        var shrunk = 50
        /// Of the assistant.
        var threads = 100
        var answerBytes = 16 << 20
        /// The last ones of so many conversations.
        var summaries = 100
        /// Of each.
        var summaryBytes = 65_536
    }

    let database: DatabaseQueue
    let path: String?
    let limits: Limits
    let sounds: AudioFiles

    /// Opens the store at a path, or one in memory.
    init(path: String?, limits: Limits = Limits()) throws(SwitchboardError) {
        self.path = path
        self.limits = limits
        sounds = AudioFiles(besides: path)
        do {
            database = try StoreFile.open(path)
        } catch {
            throw .storeFailed("\(error)")
        }
    }

    /// Erases everything, also the files.
    func erase() {
        try? database.close()
        sounds.erase()
        guard let path else { return }
        StoreFile.remove(path)
        StoreFile.remove(path + ".aside")
    }

    func close() { try? database.close() }
}

// The inbox.
extension ConversationStore {
    func inbox() throws -> InboxState {
        try database.read { database in
            var state = InboxState()
            for data in try Data.fetchAll(database, sql: "SELECT json FROM inbox") {
                if let row = try? StoredJSON.decode(InboxRow.self, data) { state.keep(row) }
            }
            if let head = try inboxHead(database) {
                if let epoch = head.epoch, let sequence = head.sequence {
                    state.position = StreamPosition(epoch: epoch, sequence: sequence)
                }
                (state.boundary, state.nextCursor) = (head.boundary, head.nextCursor)
                state.unreadBelow = head.unreadBelow
            }
            _ = state.takeChanges()
            return state
        }
    }

    func inboxHead(_ database: Database) throws -> InboxHead? {
        try Data.fetchOne(database, sql: "SELECT json FROM heads WHERE name = 'inbox'")
            .map { try StoredJSON.decode(InboxHead.self, $0) }
    }

    func save(_ state: InboxState, _ changes: InboxState.Changes) throws {
        try database.write { try save(state, changes, $0) }
    }

    func save(_ state: InboxState, _ changes: InboxState.Changes, _ database: Database) throws {
        let head = InboxHead(
            epoch: state.position?.epoch, sequence: state.position?.sequence, boundary: state.boundary,
            nextCursor: state.nextCursor, unreadBelow: state.unreadBelow)
        if changes.isReplaced {
            try removeAnswers(unlessIn: head.epoch, database)
            try database.execute(sql: "DELETE FROM inbox")
        }
        for id in changes.rows {
            guard let row = state.rows[id] else { continue }
            try follow(row, database)
            try database.execute(
                sql: "INSERT OR REPLACE INTO inbox VALUES (?, ?)",
                arguments: [id.rawValue, try StoredJSON.encode(row)])
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO heads VALUES ('inbox', ?)", arguments: [try StoredJSON.encode(head)])
    }
}

// What waits to be sent, and drafts: on the disk when the function returns.
extension ConversationStore {
    /// The entries, without those of a later version that are not understood; they stay where they are. `last` is the
    /// highest id of all.
    func entries() throws -> (entries: [WriteEntry], last: Int64, created: [ConversationID: ConversationID]) {
        try database.read { database in
            let created = try Data.fetchOne(database, sql: "SELECT json FROM heads WHERE name = 'created'")
            let stored = try Data.fetchAll(database, sql: "SELECT json FROM entries ORDER BY id")
            return (
                stored.compactMap { try? StoredJSON.decode(WriteEntry.self, $0) },
                try Int64.fetchOne(database, sql: "SELECT max(id) FROM entries") ?? 0,
                try created.map { try StoredJSON.decode([ConversationID: ConversationID].self, $0) } ?? [:]
            )
        }
    }

    /// Removes the sounds that no entry has: of a process that was killed between the two. Those of entries that are
    /// not understood may be theirs.
    func removeUnusedSounds() throws {
        let (entries, _, _) = try entries()
        let count = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entries") ?? 0 }
        if count == entries.count { sounds.keepOnly(Set(entries.compactMap(\.storedSound?.name))) }
    }

    /// Stores the queue, with what the server has made of the entries that are removed: in one transaction, so that
    /// either of the two is there in another run.
    func save(
        _ queue: WriteQueue, _ changes: WriteQueue.Changes, with acknowledged: AcknowledgedChanges? = nil
    ) throws {
        try writeDurably { database in
            if let acknowledged { try save(acknowledged, database) }
            for id in changes.removed { try database.execute(sql: "DELETE FROM entries WHERE id = ?", arguments: [id]) }
            for id in changes.stored {
                guard let entry = queue.entry(id) else { continue }
                try database.execute(
                    sql: "INSERT OR REPLACE INTO entries VALUES (?, ?)",
                    arguments: [id, try StoredJSON.encode(entry)])
            }
            guard changes.created else { return }
            try database.execute(
                sql: "INSERT OR REPLACE INTO heads VALUES ('created', ?)",
                arguments: [try StoredJSON.encode(queue.created)])
        }
        sounds.remove(changes.sounds)
    }

    func draft(in conversation: ConversationID) throws -> String? {
        try database.read {
            try String.fetchOne(
                $0, sql: "SELECT text FROM drafts WHERE conversation = ?", arguments: [conversation.rawValue])
        }
    }

    func save(draft: String?, in conversation: ConversationID) throws {
        try writeDurably { database in
            try database.execute(
                sql: "DELETE FROM drafts WHERE conversation = ?", arguments: [conversation.rawValue])
            guard let draft else { return }
            try database.execute(
                sql: "INSERT INTO drafts VALUES (?, ?)", arguments: [conversation.rawValue, draft])
        }
    }

    private func writeDurably(_ body: (Database) throws -> Void) throws {
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            try database.inTransaction(.immediate) {
                try body(database)
                return .commit
            }
        }
    }
}

/// Documents as they are stored: times exactly as they were read.
enum StoredJSON {
    static func encode(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }

    static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }
}
