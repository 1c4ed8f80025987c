import Model

// Ways out: for one participant, and for the whole call.

extension Call {
    /// What somebody asked for who does not want to be in the call any more.
    package enum HangUp: String, Sendable, CaseIterable {
        /// The caller gives up; nobody rings any more.
        case cancel
        /// The call is over for everybody.
        case end
        /// This user goes.
        case leave
    }

    /// Hangs up in whatever way the state asks for, and so never fails on the state: requests cross on the network, and
    /// who hangs up a call that has ended, or just been answered, has what they wanted.
    ///
    /// An endpoint that is not in the call cannot hang up the one that is; without an endpoint it is the user who acts.
    mutating func hangUp(
        _ user: UserID, endpoint: EndpointID?, _ wish: HangUp, rules: CallRules, at now: Timestamp
    ) {
        guard isLive, let index = index(of: user) else { return }
        switch participants[index].state {
        case .invited, .ringing:
            decline(user, rules: rules, at: now)
        case .joined(let joining):
            if let endpoint, endpoint != joining.endpoint, joining.detachedAt == nil { return }
            let isUnanswered = status == .ringing
            let reason: EndReason = isUnanswered ? .cancelled : .hungUp
            if isPair || wish == .end || (wish == .cancel && isUnanswered) {
                end(because: reason, by: user, at: now)
            } else {
                depart(user, because: reason, by: user, rules: rules, at: now)
            }
        case .left, .declined, .missed, .busy, .unreachable:
            if wish == .end, user == caller { end(because: .hungUp, by: user, at: now) }
        }
    }

    /// Whether the wish would end the call for others, against the rule that only the caller of a group may.
    func isForbidden(_ wish: HangUp, to user: UserID) -> Bool {
        guard isLive, wish == .end, !isPair, user != caller else { return false }
        return participant(user)?.isJoined ?? false
    }

    /// A joined participant goes; between two people the call ends with it.
    mutating func depart(
        _ user: UserID, because reason: EndReason, by actor: UserID?, rules: CallRules, at now: Timestamp
    ) {
        guard isLive, let index = index(of: user), let joining = participants[index].joining else { return }
        participants[index].state = .left(joinedAt: joining.since, at: now, reason: reason)
        settle(because: reason, by: actor, rules: rules, at: now)
    }

    /// The sign-ins have ended: whoever is joined by one of them goes. The user stays invited, where the call rings.
    mutating func signOut(_ user: UserID, of signIns: Set<SignInID>, rules: CallRules, at now: Timestamp) {
        guard let signIn = participant(user)?.joining?.signIn, signIns.contains(signIn) else { return }
        hangUp(user, endpoint: nil, .leave, rules: rules, at: now)
    }

    /// The user has no account any more, and is out of the call whether it rings or is joined.
    mutating func withdraw(_ user: UserID, rules: CallRules, at now: Timestamp) {
        guard isLive, let index = index(of: user) else { return }
        if participants[index].isJoined { return depart(user, because: .failed, by: nil, rules: rules, at: now) }
        guard participants[index].isRinging else { return }
        participants[index].state = .unreachable
        settle(because: .unreachable, by: nil, rules: rules, at: now)
    }

    /// Ends the call for all. What rings has missed it, who is joined leaves with the call's reason.
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

    /// Ends the call if nothing is left of it, after somebody stopped ringing or went, for `reason`.
    mutating func settle(because reason: EndReason, by actor: UserID?, rules: CallRules, at now: Timestamp) {
        let rings = participants.contains(where: \.isRinging)
        let joined = participants.reduce(0) { $0 + ($1.isJoined ? 1 : 0) }
        switch status {
        case .ringing where joined == 0: end(because: reason, by: actor, at: now)
        case .ringing where !rings: end(because: unanswered, by: actor, at: now)
        case .active where isPair && joined < 2: end(because: reason, by: actor, at: now)
        case .active where joined == 0 && !rings: end(because: reason, by: actor, at: now)
        case .active(let since, nil) where joined == 0:
            status = .active(since: since, emptyUntil: now.adding(seconds: rules.emptySeconds))
        case .ringing, .active, .ended: break
        }
    }
}
