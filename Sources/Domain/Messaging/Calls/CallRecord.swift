package import Model

/// A call, as its message shows it to users who may see the message.
package struct CallRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case ringing
        case active
        case ended
    }

    package struct Participant: Hashable, Sendable {
        package let user: UserID
        /// One of `participantStates`.
        package let state: String

        package init(user: UserID, state: String) {
            self.user = user
            self.state = state
        }
    }

    /// As the documents of calls name them.
    package static let kinds = ["audio", "video"]
    package static let participantStates = [
        "invited", "ringing", "joined", "left", "declined", "busy", "missed", "unreachable",
    ]
    package static let reasons = [
        "hung_up", "declined", "cancelled", "missed", "busy", "unreachable", "replaced", "setup_timeout",
        "connection_lost", "failed", "removed",
    ]

    package let id: CallID
    /// One of `kinds`.
    package let kind: String
    package var state: State
    package let startedAt: Timestamp
    package var answeredAt: Timestamp?
    package var endedAt: Timestamp?
    /// Why it ended: one of `reasons`.
    package var reason: String?
    package var endedBy: UserID?
    package var participants: [Participant]

    package init(
        id: CallID, kind: String, state: State, startedAt: Timestamp, answeredAt: Timestamp? = nil,
        endedAt: Timestamp? = nil, reason: String? = nil, endedBy: UserID? = nil, participants: [Participant] = []
    ) {
        self.id = id
        self.kind = kind
        self.state = state
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.endedAt = endedAt
        self.reason = reason
        self.endedBy = endedBy
        self.participants = participants
    }

    /// Seconds from the answer to the end; nil if nobody answered, or if the call goes on.
    package var duration: Int64? {
        guard let answeredAt, let endedAt else { return nil }
        return max(0, endedAt.milliseconds(since: answeredAt)) / 1000
    }

    /// What users see who left the conversation before its last change: only that there was a call.
    var asItBegan: CallRecord { CallRecord(id: id, kind: kind, state: .ended, startedAt: startedAt) }
}

/// The call that is on in a conversation.
package struct LiveCall: Hashable, Sendable {
    package let id: CallID
    /// `audio` or `video`.
    package let kind: String
    package let startedAt: Timestamp
    /// The message of the call. Members who joined later do not see it.
    package let number: Int64
    /// The caller, if the other one of two people has blocked them: for them alone it is on.
    package let onlyFor: UserID?

    package init(id: CallID, kind: String, startedAt: Timestamp, number: Int64, onlyFor user: UserID? = nil) {
        self.id = id
        self.kind = kind
        self.startedAt = startedAt
        self.number = number
        onlyFor = user
    }

    /// - Parameter user: nil for all of the conversation.
    func isVisible(to user: UserID?) -> Bool { onlyFor == nil || onlyFor == user }
}

/// What a conversation takes over of a call.
package struct FollowedCall: Hashable, Sendable {
    package let record: CallRecord
    package let caller: UserID
    /// Those who take part now.
    package let joined: [UserID]
    /// The users whom it rang and who did not answer.
    package let missed: Set<UserID>

    package init(record: CallRecord, caller: UserID, joined: [UserID], missed: Set<UserID>) {
        self.record = record
        self.caller = caller
        self.joined = joined
        self.missed = missed
    }
}

/// The storage of calls that somebody missed.
package protocol MissedCallStore {
    /// Replaces the users who missed the call of a message; it counts as unread for them.
    func setMissed(by users: Set<UserID>, _ number: Int64, in conversation: ConversationID) throws
}
