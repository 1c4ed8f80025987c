package import Model

// Queries. They run in read transactions.
extension CallCommands {
    /// Returns a call to its participants.
    package func get(_ id: CallID, by principal: Principal, in store: some CallStore) throws -> Call {
        try open(id, as: principal.user, in: store)
    }

    /// Checks that the relay may carry the user's media for the call: the call is live, and the user rings or is
    /// joined.
    package func checkRelayed(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws {
        let call = try open(id, as: principal.user, in: store)
        guard call.isLive else { throw Problem.callEnded(call, at: now) }
        guard call.participant(principal.user)?.isRelayed ?? false else {
            throw Problem(.conflict, "Accept the call first.")
        }
    }

    /// The user's calls, newest first. `next` is the cursor of the next page.
    package func list(
        before cursor: CallID? = nil, limit: Int, by principal: Principal, in store: some CallStore
    ) throws -> (calls: [Call], next: CallID?) {
        let limit = min(100, max(1, limit))
        let calls = try store.calls(of: principal.user, before: cursor, limit: limit + 1)
        guard calls.count > limit else { return (calls, nil) }
        let page = Array(calls.prefix(limit))
        return (page, page.last?.id)
    }

    /// The live calls that the user is invited to, in or may join: part of the snapshot of the user's stream.
    package func liveCalls(of user: UserID, in store: some CallStore) throws -> [Call] {
        try store.liveCalls(of: user)
    }

    /// Checks that the principal may listen to the mailbox: it is its own endpoint's, in a call that the endpoint has
    /// joined.
    package func checkMailbox(
        of endpoint: EndpointID, in id: CallID, by principal: Principal, store: some CallStore
    ) throws {
        let call = try open(id, as: principal.user, in: store)
        guard call.participant(principal.user)?.endpoint == endpoint, principal.endpoint == endpoint else {
            throw Problem.notFound("mailbox")
        }
    }
}
