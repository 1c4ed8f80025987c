import Model

// Leaving and ending, for one participant and for the whole call.

extension Call {
    /// How a user asked to hang up.
    package enum HangUp: String, Sendable, CaseIterable {
        /// The caller cancels; nobody rings any more.
        case cancel
        /// The call is over for everybody.
        case end
        /// This user leaves.
        case leave
    }

    /// Hangs up in the way that the state requires, so it never fails on the state: requests cross on the network, and
    /// hanging up a call that has ended, or was answered just now, is no error.
    ///
    /// An endpoint that is not in the call cannot hang up the one that is; without an endpoint it is the user who acts.
    mutating func hangUp(
        _ user: UserID, endpoint: EndpointID?, _ request: HangUp, rules: CallRules, at now: Timestamp
    ) {
        guard isLive, let index = index(of: user) else { return }
        switch participants[index].state {
        case .invited, .ringing:
            decline(user, rules: rules, at: now)
        case .joined(let joining):
            if let endpoint, endpoint != joining.endpoint, joining.detachedAt == nil { return }
            let isUnanswered = status == .ringing
            let reason: EndReason = isUnanswered ? .cancelled : .hungUp
            if isPair || request == .end || (request == .cancel && isUnanswered && user == caller) {
                end(because: reason, by: user, at: now)
            } else {
                depart(user, because: reason, by: user, rules: rules, at: now)
            }
        case .left, .declined, .missed, .busy, .unreachable:
            if request == .end, user == caller { end(because: .hungUp, by: user, at: now) }
        }
    }

    /// Whether the request is forbidden: only the caller of a group call may end it for everybody.
    func isForbidden(_ request: HangUp, to user: UserID) -> Bool {
        guard isLive, request == .end, !isPair, user != caller else { return false }
        return participant(user)?.isJoined ?? false
    }

    /// A joined participant leaves; a call between two people ends with it.
    mutating func depart(
        _ user: UserID, because reason: EndReason, by actor: UserID?, rules: CallRules, at now: Timestamp
    ) {
        guard isLive, let index = index(of: user), let joining = participants[index].joining else { return }
        participants[index].state = .left(joinedAt: joining.since, at: now, reason: reason)
        settle(because: reason, by: actor, rules: rules, at: now)
    }

    /// The sign-ins have ended: a participant who joined with one of them leaves. An invited user stays invited.
    mutating func signOut(_ user: UserID, of signIns: Set<SignInID>, rules: CallRules, at now: Timestamp) {
        guard let signIn = participant(user)?.joining?.signIn, signIns.contains(signIn) else { return }
        hangUp(user, endpoint: nil, .leave, rules: rules, at: now)
    }

    /// The user's account is disabled: removes the user from the call, whether ringing or joined.
    mutating func withdraw(_ user: UserID, because reason: EndReason = .failed, rules: CallRules, at now: Timestamp) {
        guard isLive, let index = index(of: user) else { return }
        if participants[index].isJoined { return depart(user, because: reason, by: nil, rules: rules, at: now) }
        guard participants[index].isRinging else { return }
        participants[index].state = .unreachable
        settle(because: .unreachable, by: nil, rules: rules, at: now)
    }

    /// The user has left the conversation of an open call: leaves the call, and sees no more of it unless they come back.
    mutating func remove(_ user: UserID, rules: CallRules, at now: Timestamp) {
        guard isOpen, isLive, let index = index(of: user) else { return }
        withdraw(user, because: .removed, rules: rules, at: now)
        participants[index].isWithheld = true
    }

    /// Ends the call for all. Ringing participants have missed it, joined ones leave with the call's reason.
    mutating func end(because reason: EndReason, by actor: UserID?, at now: Timestamp) {
        guard isLive else { return }
        for index in participants.indices {
            switch participants[index].state {
            case .invited, .ringing: participants[index].state = .missed
            case .joined(let joining):
                participants[index].state = .left(joinedAt: joining.since, at: now, reason: reason)
            default: break
            }
        }
        recording = nil
        captions = nil
        status = .ended(Ending(reason: reason, by: actor, at: now, answeredAt: answeredAt))
    }

    /// Ends the call for `reason` if nobody is left in it, after somebody stopped ringing or left.
    mutating func settle(because reason: EndReason, by actor: UserID?, rules: CallRules, at now: Timestamp) {
        let ringing = participants.count(where: \.isRinging)
        let joined = participants.count(where: \.isJoined)
        let rings = ringing > 0
        switch status {
        case .ringing where joined == 0 && hasCallerLeft: end(because: reason, by: actor, at: now)
        case .ringing where joined + ringing < 2: end(because: unanswered, by: actor, at: now)
        case .active where isPair && joined < 2: end(because: reason, by: actor, at: now)
        case .active where joined == 0 && !rings: end(because: reason, by: actor, at: now)
        case .active(let since, nil) where joined == 0:
            status = .active(since: since, emptyUntil: now.adding(seconds: rules.emptySeconds))
        case .ringing, .active, .ended: break
        }
    }

    private var hasCallerLeft: Bool {
        if case .left = participants.first?.state { true } else { false }
    }
}
