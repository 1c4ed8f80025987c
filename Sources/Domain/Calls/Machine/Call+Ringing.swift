import Model

// From the invitation to the accept.

extension Call {
    /// Creates a call that rings, or one that has ended already because nobody can be rung. An open call without callees
    /// rings nobody and waits for those who join it.
    static func begin(
        id: CallID, conversation: ConversationID? = nil, isOpen: Bool = false, kind: Kind, mode: Mode = .direct,
        caller: CallParty, endpoint: EndpointID, signIn: SignInID? = nil, callees: [(party: CallParty, isBusy: Bool)],
        ringSeconds: Int64,
        rules: CallRules, at now: Timestamp
    ) -> Call {
        let media = MediaState(for: kind)
        let until = now.adding(seconds: ringSeconds)
        var call = Call(
            id: id, conversation: conversation, isOpen: isOpen, kind: kind, mode: mode, createdAt: now, version: 0,
            status: isOpen && callees.isEmpty ? .active(since: now, emptyUntil: nil) : .ringing,
            participants: [
                Participant(
                    caller, isWithheld: false,
                    state: .joined(Participant.Joining(endpoint: endpoint, signIn: signIn, since: now)), media: media)
            ]
                + callees.map { Participant(called: $0.party, isBusy: $0.isBusy, until: until, media: media, at: now) })
        call.settle(because: .hungUp, by: nil, rules: rules, at: now)
        return call
    }

    /// Creates a call that a server key places: it rings everybody, the caller too, and is active once two have
    /// accepted.
    static func ringingEverybody(
        id: CallID, conversation: ConversationID? = nil, kind: Kind, mode: Mode,
        parties: [(party: CallParty, isBusy: Bool)], ringSeconds: Int64, rules: CallRules, at now: Timestamp
    ) -> Call {
        let until = now.adding(seconds: ringSeconds)
        var call = Call(
            id: id, conversation: conversation, kind: kind, mode: mode, createdAt: now, version: 0, status: .ringing,
            participants: parties.map { party, isBusy in
                Participant(called: party, isBusy: isBusy, until: until, media: MediaState(for: kind), at: now)
            })
        call.settle(because: .hungUp, by: nil, rules: rules, at: now)
        return call
    }

    /// An endpoint of the user reports that it rings. False if the user is not invited, or another endpoint already
    /// reported.
    mutating func ring(_ user: UserID) -> Bool {
        guard isLive, let index = index(of: user), case .invited(let until) = participants[index].state else {
            return false
        }
        participants[index].state = .ringing(until: until)
        return true
    }

    /// The user declines the call for all endpoints. Does nothing if the user is not ringing.
    mutating func decline(_ user: UserID, rules: CallRules, at now: Timestamp) {
        guard isLive, let index = index(of: user), participants[index].isRinging else { return }
        participants[index].state = .declined
        settle(because: .declined, by: user, rules: rules, at: now)
    }

    mutating func ringExpired(_ user: UserID, rules: CallRules, at now: Timestamp) {
        guard isLive, let index = index(of: user), participants[index].isRinging else { return }
        participants[index].state = .missed
        settle(because: .missed, by: nil, rules: rules, at: now)
    }

    /// Rings people who are new to the call or have left it; ringing and joined participants are unchanged.
    mutating func invite(
        _ parties: [(party: CallParty, isBusy: Bool)], ringSeconds: Int64, rules: CallRules, at now: Timestamp
    ) {
        guard isLive else { return }
        let until = now.adding(seconds: ringSeconds)
        for (party, isBusy) in parties {
            let invited = Participant(
                called: party, isBusy: isBusy, until: until, media: MediaState(for: kind), at: now)
            guard let index = index(of: party.user) else {
                participants.append(invited)
                continue
            }
            // A user who blocked the first inviter may be invited by somebody else.
            let isRevealed = participants[index].isWithheld && !party.hasBlockedCaller
            if isRevealed { participants[index].isWithheld = false }
            if isRevealed || !(participants[index].isRinging || participants[index].isJoined) {
                participants[index].state = invited.state
                participants[index].pushedAt = invited.pushedAt
            }
        }
        settle(because: .hungUp, by: nil, rules: rules, at: now)
    }

    /// The end reason of a call that nobody has accepted and that no longer rings anybody.
    var unanswered: EndReason {
        let states = participants.map(\.state)
        if states.contains(.missed) { return .missed }
        if states.contains(.declined) { return .declined }
        if states.contains(.busy) { return .busy }
        return .unreachable
    }
}

extension Participant {
    init(_ party: CallParty, isWithheld: Bool, state: State, media: MediaState) {
        self.init(
            user: party.user, displayName: party.displayName, photoURL: party.photoURL, isDeleted: party.isDeleted,
            isWithheld: isWithheld, state: state, media: media)
    }

    /// Somebody who is called. Whoever has blocked the caller looks like anybody else.
    fileprivate init(called party: CallParty, isBusy: Bool, until: Timestamp, media: MediaState, at now: Timestamp) {
        let state = party.immediateState(isBusy: isBusy) ?? .invited(until: until)
        self.init(party, isWithheld: party.hasBlockedCaller, state: state, media: media)
        if isRinging, party.isPushed { pushedAt = now }
    }
}

extension CallParty {
    /// The state of a party whose endpoints are not rung; nil to ring. A party who blocked the caller always seems to
    /// ring, where one who has not would.
    func immediateState(isBusy: Bool) -> Participant.State? {
        if isDisabled || !isReachable { return .unreachable }
        if hasBlockedCaller { return nil }
        return isBusy ? .busy : nil
    }
}
