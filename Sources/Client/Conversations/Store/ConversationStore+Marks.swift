import Foundation
import GRDB

// Marks, and what the user has noted on messages.
extension ConversationStore {
    private struct Head: Codable {
        var marks: ConversationMarks
        var position: StreamPosition?
    }

    func marks(of id: ConversationID) throws -> MarksState { try database.read { try marks(of: id, $0) } }

    func marks(of id: ConversationID, _ database: Database) throws -> MarksState {
        let stored = try Data.fetchOne(
            database, sql: "SELECT json FROM marks WHERE conversation = ?", arguments: [id.rawValue])
        guard let head = try stored.map({ try StoredJSON.decode(Head.self, $0) }) else { return MarksState() }
        var state = MarksState(head.marks, at: head.position)
        for data in try Data.fetchAll(
            database, sql: "SELECT json FROM own WHERE conversation = ?", arguments: [id.rawValue])
        {
            state.keep(try StoredJSON.decode(OwnMessage.self, data))
        }
        _ = state.takeChanges()
        return state
    }

    func save(_ state: MarksState, _ changes: MarksState.Changes, of id: ConversationID) throws {
        try database.write { try save(state, changes, of: id, $0) }
    }

    func save(
        _ state: MarksState, _ changes: MarksState.Changes, of id: ConversationID, _ database: Database
    ) throws {
        if changes.isReplaced {
            try database.execute(sql: "DELETE FROM own WHERE conversation = ?", arguments: [id.rawValue])
        }
        for number in changes.own {
            guard let own = state.marks.own[number] else { continue }
            if own.hidden == true { try withdraw(restingOn: number, in: id, database) }
            try database.execute(
                sql: "INSERT OR REPLACE INTO own VALUES (?, ?, ?)",
                arguments: [id.rawValue, number, try StoredJSON.encode(own)])
        }
        let head = Head(marks: state.marks, position: state.position)
        try database.execute(
            sql: "INSERT OR REPLACE INTO marks VALUES (?, ?)",
            arguments: [id.rawValue, try StoredJSON.encode(head)])
    }
}
