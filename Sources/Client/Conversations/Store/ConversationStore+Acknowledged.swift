import Foundation
import GRDB

/// What to store in the transaction that removes a write: the result that the server returned.
struct AcknowledgedChanges {
    var id: ConversationID
    var acknowledgements: [Acknowledgement] = []
    /// Of a conversation that is open.
    var open: (state: ConversationState, changes: StateChanges)?
    var marks: (state: MarksState, changes: MarksState.Changes)?
    var inbox: (state: InboxState, changes: InboxState.Changes)?
}

// What responses have acknowledged.
extension ConversationStore {
    func save(_ acknowledged: AcknowledgedChanges) throws {
        try database.write { try save(acknowledged, $0) }
    }

    func save(_ acknowledged: AcknowledgedChanges, _ database: Database) throws {
        let id = acknowledged.id
        for one in acknowledged.acknowledgements { try follow(one, in: id, database) }
        if let (state, changes) = acknowledged.open, !changes.isEmpty { try save(state, changes, database) }
        if let (state, changes) = acknowledged.marks, !changes.isEmpty { try save(state, changes, of: id, database) }
        if acknowledged.open == nil { try keep(acknowledged.acknowledgements, in: id, database) }
        if let (state, changes) = acknowledged.inbox, !changes.isEmpty { try save(state, changes, database) }
    }

    /// Stores documents of a conversation of which nothing may be stored yet.
    private func keep(_ acknowledgements: [Acknowledgement], in id: ConversationID, _ database: Database) throws {
        var state = try documents(of: id, database) ?? ConversationState(id: id)
        let hasMarks = acknowledgements.contains(where: \.isOfMarks)
        var marks = hasMarks ? try self.marks(of: id, database) : MarksState()
        for acknowledgement in acknowledgements {
            let last: Int? = try Int.fetchOne(
                database, sql: "SELECT max(number) FROM messages WHERE conversation = ?", arguments: [id.rawValue])
            let held = try acknowledgement.number.flatMap { try message($0, in: id, database) }
            if let held { state.messages[held.number] = held }
            switch acknowledgement {
            // Nothing shows a message that is neither stored nor newer than all that is.
            case .message(let message) where held == nil && message.number <= state.ranges.last?.last ?? 0: continue
            case .cleared(upTo: nil, let isOffTheList):
                let number = max(last ?? 0, state.ranges.last?.last ?? 0, state.conversation?.lastNumber ?? 0)
                Acknowledgement.cleared(upTo: number, isOffTheList: isOffTheList).apply(to: &state, &marks)
            default: acknowledgement.apply(to: &state, &marks)
            }
        }
        let (changes, marked) = (state.takeChanges(), marks.takeChanges())
        if !changes.isEmpty { try save(state, changes, database) }
        if !marked.isEmpty { try save(marks, marked, of: id, database) }
    }

    /// The stored part of a conversation without its messages, members and people, with the newest range; nil if there
    /// is none.
    func documents(of id: ConversationID) throws -> ConversationState? {
        try database.read { try documents(of: id, $0) }
    }

    private func documents(of id: ConversationID, _ database: Database) throws -> ConversationState? {
        guard let head = try head(of: id, database) else { return nil }
        var state = head.documents(of: id)
        if let (newest, asOf) = head.newestRange {
            state.ranges.insert(HeldRange(first: newest.lowerBound, last: newest.upperBound, asOf: asOf))
        }
        return state
    }

    func message(_ number: Int, in id: ConversationID, _ database: Database) throws -> Message? {
        try Data.fetchOne(
            database, sql: "SELECT json FROM messages WHERE conversation = ? AND number = ?",
            arguments: [id.rawValue, number]
        ).map { try StoredJSON.decode(Message.self, $0) }
    }
}
