package import Model

/// A moment at which something happens to a call if nothing else does before.
///
/// Deadlines are part of the document and read from it: that a call rings until some moment and that there is a deadline
/// at this moment are one fact, in one row. So a deadline survives a restart, is gone with the state that it belongs to,
/// and cannot be forgotten. Who keeps the time arms a timer for each `CallEffect.schedule` and, after a restart, for
/// each of `CallCommands.deadlines`; a timer that is late, early or doubled does no harm, since a deadline which the
/// document does not have any more is not acted upon.
package struct CallDeadline: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The user has not answered.
        case ring(UserID)
        /// The user's media does not flow.
        case setup(UserID)
        /// Nobody has been in the group call for too long.
        case empty
        /// It is recorded for as long as may be.
        case recording(RecordingID)
    }

    /// What tells deadlines apart; at any time a key has one deadline at most.
    package struct Key: Hashable, Sendable {
        package var call: CallID
        package var kind: Kind

        package init(call: CallID, kind: Kind) {
            self.call = call
            self.kind = kind
        }
    }

    package var key: Key
    package var at: Timestamp

    package init(key: Key, at: Timestamp) {
        self.key = key
        self.at = at
    }
}

extension Call {
    /// Every deadline that the document has now.
    package var deadlines: [CallDeadline] {
        var deadlines: [CallDeadline] = []
        func add(_ kind: CallDeadline.Kind, _ at: Timestamp) {
            deadlines.append(CallDeadline(key: CallDeadline.Key(call: id, kind: kind), at: at))
        }
        guard isLive else { return [] }
        for participant in participants {
            if let until = participant.ringsUntil { add(.ring(participant.user), until) }
            if let until = participant.joining?.setupUntil { add(.setup(participant.user), until) }
        }
        if case .active(_, let until?) = status { add(.empty, until) }
        if let recording, let until = recording.until { add(.recording(recording.id), until) }
        return deadlines
    }

    /// Does what the deadline is for. False when the document has no such deadline any more.
    mutating func expire(_ deadline: CallDeadline, rules: CallRules, at now: Timestamp) -> Bool {
        guard deadlines.contains(deadline) else { return false }
        switch deadline.key.kind {
        case .ring(let user): ringExpired(user, rules: rules, at: now)
        case .setup(let user): depart(user, because: .setupTimeout, by: nil, rules: rules, at: now)
        case .empty: end(because: .hungUp, by: nil, at: now)
        case .recording:
            recording = nil
            recordingEnd = .longest
        }
        return true
    }
}
