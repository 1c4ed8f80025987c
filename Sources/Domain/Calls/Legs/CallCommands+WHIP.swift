package import Model

// WHIP (RFC 9725) and WHEP: media comes and goes through a door that knows nothing of endpoints, mailboxes and rings. The
// server makes an endpoint for it, which takes part for the user like any other where the user is not in the call;
// where the user is, it only stands beside the endpoint that is.
extension CallCommands {
    /// The call whose media the user may reach through a door. Writes nothing.
    package func callForDoor(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> Call {
        let call = try open(id, as: principal.user, in: store)
        guard call.isLive else { throw Problem.callEnded(call, at: now) }
        guard call.gatewayEpoch != nil, rules.gatewayEpoch != nil else {
            throw Problem(.conflict, "The media of this call does not go through a gateway: make it with mode gateway.")
        }
        return call
    }

    /// A door's endpoint, which has a leg already, takes part: the user joins through it, or it takes the place of
    /// `earlier`, an endpoint of an earlier use of the door. Otherwise nothing changes: the user is in the call already.
    package func enterByDoor(
        _ id: CallID, as endpoint: EndpointID, inPlaceOf earlier: EndpointID?, by principal: Principal,
        at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        let call = try callForDoor(id, by: principal, at: now, in: store)
        guard let joined = call.participant(principal.user)?.endpoint else {
            let principal = Principal(user: principal.user, signIn: principal.signIn, endpoint: endpoint)
            return try accept(id, by: principal, at: now, in: store)
        }
        guard joined == earlier else { return CallOutcome(call: call, at: now) }
        try checkStillSignedIn(principal, in: store)
        return try handOver(
            call, of: principal.user, from: joined, to: endpoint, signIn: principal.signIn, at: now, in: store)
    }

    /// A door closed. Where its endpoint took part for the user, `heir` does from now on, or the user leaves: by an act of
    /// the user's, or because the leg failed. Nil when the endpoint took no part.
    package func leaveByDoor(
        _ id: CallID, as endpoint: EndpointID, of user: UserID,
        leavingTo heir: (endpoint: EndpointID, signIn: SignInID?)?,
        hasFailed: Bool, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(id), before.isLive, before.participant(user)?.endpoint == endpoint else {
            return nil
        }
        if let heir {
            return try handOver(
                before, of: user, from: endpoint, to: heir.endpoint, signIn: heir.signIn, at: now, in: store)
        }
        var after = before
        if hasFailed {
            after.depart(user, because: .connectionLost, by: nil, rules: rules, at: now)
        } else {
            after.hangUp(user, endpoint: endpoint, .leave, rules: rules, at: now)
        }
        return try commit(after, replacing: before, at: now, in: store)
    }

    private func handOver(
        _ before: Call, of user: UserID, from old: EndpointID, to new: EndpointID, signIn: SignInID?,
        at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        var after = before
        after.handOver(user, from: old, to: new, signIn: signIn)
        return try commit(after, replacing: before, at: now, in: store)
    }
}
