package import Calls
internal import Messaging
package import Model

// The messages that follow calls, in the transactions that change the calls.
extension StoreTransaction {
    /// - Returns: the number of the message of a new call; nil if the call is of no conversation.
    func follow(new call: Call) throws -> Int64? {
        guard let conversation = call.conversation, let followed = FollowedCall(call) else { return nil }
        return try ConversationCommands().follow(new: followed, in: conversation, store: self)
    }

    /// Does nothing if the conversation shows nothing of the change.
    func follow(_ call: Call, replacing earlier: Call) throws {
        guard let conversation = call.conversation, let followed = FollowedCall(call),
            let before = FollowedCall(earlier), followed != before,
            let number = try sql.first("SELECT number FROM calls WHERE id = ?1", [.id(call.id)])?.integerIfPresent(0)
        else { return }
        try ConversationCommands().follow(followed, replacing: before, number, in: conversation, store: self)
    }

    package func setMissed(by users: Set<UserID>, _ number: Int64, in conversation: ConversationID) throws {
        let known = Set(
            try sql.query(
                "SELECT user_id FROM missed_calls WHERE conversation_id = ?1 AND number = ?2",
                [.id(conversation), .integer(number)]
            ).map { try $0.id(0, of: Entities.User.self) })
        guard known != users else { return }
        for user in known.subtracting(users) {
            try sql.execute(
                "DELETE FROM missed_calls WHERE conversation_id = ?1 AND number = ?2 AND user_id = ?3",
                [.id(conversation), .integer(number), .id(user)])
        }
        for user in users.subtracting(known).sorted(by: { $0.text < $1.text }) {
            try sql.execute(
                """
                INSERT INTO missed_calls (conversation_id, number, user_id)
                SELECT ?1, ?2, u.id FROM users u WHERE u.id = ?3 AND u.disabled_at IS NULL
                """, [.id(conversation), .integer(number), .id(user)])
        }
    }

    package func refusesCalls(of caller: UserID, _ user: UserID) throws -> Bool {
        try ConversationCommands().refusesCalls(of: caller, user, in: self)
    }

    package func standing(of user: UserID, in conversation: ConversationID) throws -> ConversationStanding {
        switch try ConversationCommands().callStanding(of: user, in: conversation, store: self) {
        case .outside: .outside
        case .member: .member
        case .administrator: .administrator
        }
    }
}

extension FollowedCall {
    fileprivate init?(_ call: Call) {
        guard let caller = call.caller else { return nil }
        let record = CallRecord(
            id: call.id, kind: call.kind.rawValue, state: CallRecord.State(call.status), startedAt: call.createdAt,
            answeredAt: call.answeredAt, endedAt: call.ending?.at, reason: call.ending?.reason.rawValue,
            endedBy: call.ending?.by,
            participants: call.participants.map { CallRecord.Participant(user: $0.user, state: $0.state.recorded) })
        self.init(
            record: record, caller: caller, joined: call.participants.filter(\.isJoined).map(\.user),
            missed: Set(call.participants.filter { $0.state.isMissed && !$0.isWithheld }.map(\.user)))
    }
}

extension Participant.State {
    /// Whoever could not be reached has missed it too.
    fileprivate var isMissed: Bool { self == .missed || self == .unreachable }

    /// Whether a phone rings is told by the call alone: it would change the message of every call once more.
    fileprivate var recorded: String {
        if case .ringing(let until) = self { Participant.State.invited(until: until).name } else { name }
    }
}

extension CallRecord.State {
    fileprivate init(_ status: Call.Status) {
        switch status {
        case .ringing: self = .ringing
        case .active: self = .active
        case .ended: self = .ended
        }
    }
}
