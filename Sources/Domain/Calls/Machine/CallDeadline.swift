package import Model

/// A time at which a call changes if nothing else happens before.
///
/// Deadlines are derived from the document: "rings until t" and "deadline at t" are one column of one row. So a
/// deadline survives a restart and disappears with the state that it belongs to. The caller arms a timer for each
/// `CallEffect.schedule` and, after a restart, for each of `CallCommands.deadlines`. A late, early or duplicate timer
/// is harmless: `expire` ignores a deadline that the document no longer has.
package struct CallDeadline: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The user has not answered.
        case ring(UserID)
        /// The user's media does not flow yet.
        case setup(UserID)
        /// The group call has had no joined participants for too long.
        case empty
        /// The recording has reached its maximum length.
        case recording(RecordingID)
    }

    /// Identifies a deadline; at any time there is at most one deadline per key.
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

    /// Applies the deadline. False if the document no longer has it.
    mutating func expire(_ deadline: CallDeadline, rules: CallRules, at now: Timestamp) -> Bool {
        guard deadlines.contains(deadline) else { return false }
        switch deadline.key.kind {
        case .ring(let user): ringExpired(user, rules: rules, at: now)
        case .setup(let user): depart(user, because: .setupTimeout, by: nil, rules: rules, at: now)
        case .empty: end(because: .hungUp, by: nil, at: now)
        case .recording:
            recording = nil
            recordingEnd = .maxDuration
        }
        return true
    }
}
