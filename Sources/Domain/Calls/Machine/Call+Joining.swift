import Model

// Joining: who is in the call, and through which endpoint.

extension Call {
    enum Acceptance: Hashable {
        case joined
        /// The endpoint replaced another one of the same user.
        case tookOver
        /// The endpoint was in the call already.
        case unchanged
        /// Another endpoint of the user is in the call, and keeps it.
        case answeredElsewhere
        case callEnded
    }

    /// A member of the conversation enters an open call that did not ring for them.
    mutating func admit(_ party: CallParty, at now: Timestamp) {
        guard isOpen, isLive else { return }
        guard let index = index(of: party.user) else {
            participants.append(
                Participant(party, isWithheld: false, state: .invited(until: now), media: MediaState(for: kind)))
            return
        }
        participants[index].isWithheld = false
    }

    /// An endpoint of the user accepts the call. This is the compare-and-set: of several endpoints the first one wins.
    ///
    /// Another endpoint may take over in a group call, or if the first one has lost its connection.
    mutating func accept(
        _ user: UserID, endpoint: EndpointID, signIn: SignInID? = nil, media change: MediaState.Change?,
        rules: CallRules, at now: Timestamp
    ) -> Acceptance {
        guard isLive, let index = index(of: user) else { return .callEnded }
        var joining = Participant.Joining(endpoint: endpoint, signIn: signIn, since: now)
        var acceptance = Acceptance.joined
        if let current = participants[index].joining {
            if current.endpoint == endpoint { return .unchanged }
            guard !isPair || current.detachedAt != nil else { return .answeredElsewhere }
            joining.since = current.since
            joining.hasTakenOver = true
            acceptance = .tookOver
        } else {
            participants[index].media = MediaState(for: kind)
        }
        if let change { participants[index].media.apply(change) }
        switch status {
        // The caller's other endpoint, or the first to accept a call that rings everybody: nobody else is in the call
        // yet, so there is nothing to set up.
        case .ringing where !participants.contains(where: { $0.isJoined && $0.user != user }): break
        case .ringing: status = .active(since: now, emptyUntil: nil)
        case .active(let since, _): status = .active(since: since, emptyUntil: nil)
        case .ended: return .callEnded
        }
        if case .active = status {
            joining.setupUntil = now.adding(seconds: mode == .direct ? rules.setupSeconds : rules.legSetupSeconds)
        }
        participants[index].state = .joined(joining)
        return acceptance
    }

    /// Hands the user's participation over to another endpoint; the connected state is kept.
    mutating func handOver(_ user: UserID, from old: EndpointID, to new: EndpointID, signIn: SignInID?) {
        change(old, of: user) { joining in
            joining.endpoint = new
            joining.signIn = signIn
            joining.hasTakenOver = true
            joining.detachedAt = nil
        }
    }

    /// The endpoint's media flows. In a direct call between two people that proves both sides.
    mutating func connect(_ user: UserID) {
        guard case .active = status, let index = index(of: user), var joining = participants[index].joining else {
            return
        }
        joining.isConnected = true
        joining.setupUntil = nil
        participants[index].state = .joined(joining)
        guard isPair, mode == .direct, var other = participants[1 - index].joining else { return }
        other.setupUntil = nil
        participants[1 - index].state = .joined(other)
    }

    /// The endpoint lost its realtime session. The call goes on until the lease lapses.
    mutating func detach(_ endpoint: EndpointID, of user: UserID, at now: Timestamp) {
        change(endpoint, of: user) { $0.detachedAt = $0.detachedAt ?? now }
    }

    /// The endpoint is back.
    mutating func attach(_ endpoint: EndpointID, of user: UserID) {
        change(endpoint, of: user) { $0.detachedAt = nil }
    }

    mutating func apply(_ change: MediaState.Change, to user: UserID) {
        guard isLive, let index = index(of: user), participants[index].isJoined else { return }
        participants[index].media.apply(change)
    }

    /// Reports are accepted after the end too: the last one arrives with the hang-up.
    mutating func add(_ report: QualityReport, from user: UserID) {
        guard let index = index(of: user) else { return }
        if participants[index].quality == nil {
            participants[index].quality = QualitySummary(report)
        } else {
            participants[index].quality?.add(report)
        }
    }

    private mutating func change(
        _ endpoint: EndpointID, of user: UserID, _ body: (inout Participant.Joining) -> Void
    ) {
        guard isLive, let index = index(of: user), var joining = participants[index].joining,
            joining.endpoint == endpoint
        else { return }
        body(&joining)
        participants[index].state = .joined(joining)
    }
}
