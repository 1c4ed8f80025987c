package import Model

// WHIP (RFC 9725) and WHEP sessions, which have no endpoints, mailboxes or ringing. The server creates an endpoint for
// each session. It joins the call if the user has not joined yet; otherwise it is an additional leg beside the user's
// joined endpoint.
extension CallCommands {
    /// Checks that the user may publish to or play from the call by WHIP or WHEP, and returns the call. Writes nothing.
    package func callForWHIP(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> Call {
        let call = try open(id, as: principal.user, in: store)
        guard call.isLive else { throw Problem.callEnded(call, at: now) }
        guard call.gatewayEpoch != nil, rules.gatewayEpoch != nil else {
            throw Problem(
                .conflict, "The media of this call does not go through a gateway: create the call with mode gateway.")
        }
        return call
    }

    /// Joins a WHIP session's endpoint, which has a leg already, to the call: the user joins through it, or it replaces
    /// `earlier`, the endpoint of the user's previous session. Otherwise nothing changes: the user has joined already.
    package func joinByWHIP(
        _ id: CallID, as endpoint: EndpointID, replacing earlier: EndpointID?, by principal: Principal,
        at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        let call = try callForWHIP(id, by: principal, at: now, in: store)
        guard let joined = call.participant(principal.user)?.endpoint else {
            let principal = Principal(user: principal.user, signIn: principal.signIn, endpoint: endpoint)
            return try accept(id, by: principal, at: now, in: store)
        }
        guard joined == earlier else { return CallOutcome(call: call, at: now) }
        try checkStillSignedIn(principal, in: store)
        return try handOver(
            call, of: principal.user, from: joined, to: endpoint, signIn: principal.signIn, at: now, in: store)
    }

    /// A WHIP session ended. If its endpoint was the user's joined one, `successor` replaces it, or the user leaves: on
    /// request, or because the leg failed. Nil if the endpoint was not the joined one.
    package func leaveByWHIP(
        _ id: CallID, as endpoint: EndpointID, of user: UserID,
        successor: (endpoint: EndpointID, signIn: SignInID?)?,
        hasFailed: Bool, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(id), before.isLive, before.participant(user)?.endpoint == endpoint else {
            return nil
        }
        if let successor {
            return try handOver(
                before, of: user, from: endpoint, to: successor.endpoint, signIn: successor.signIn, at: now, in: store)
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
