package import Model

/// A call that a server key places between users.
package struct CreateServerCall: Hashable, Sendable {
    package var clientID: ClientID
    /// In whose name it rings the others; rings too.
    package var caller: UserID
    package var callees: [UserID]
    package var kind: Call.Kind
    package var ringSeconds: Int64?
    /// The key, as the `act` claim of tokens names it.
    package var actor: String

    package init(
        clientID: ClientID, caller: UserID, callees: [UserID], kind: Call.Kind, ringSeconds: Int64? = nil,
        actor: String
    ) {
        self.clientID = clientID
        self.caller = caller
        self.callees = callees
        self.kind = kind
        self.ringSeconds = ringSeconds
        self.actor = actor
    }

    var bodyHash: Int64 {
        var hash = BodyHash()
        hash.add(actor)
        for callee in callees { hash.add(callee.text) }
        hash.add(kind.rawValue)
        hash.add(ringSeconds.map(String.init))
        return hash.integer
    }
}

// What an app's own back end does with calls. It is no participant, so whoever runs these has checked its scope.
extension CallCommands {
    /// Places a call that rings everybody through the gateway.
    ///
    /// Blocks hold: a callee who blocked the caller is not rung, as in every call. The caller's own blocks are an error,
    /// since the caller did not choose the callees.
    ///
    /// - Parameter conversation: that of the two people, if it is a call of two.
    package func createServerCall(
        _ request: CreateServerCall, of conversation: ConversationID? = nil, id: CallID, at now: Timestamp,
        in store: some CallStore
    ) throws -> CallOutcome {
        try check(request.callees, field: "callees", by: request.caller)
        if let seconds = request.ringSeconds, !rules.ringSecondsAllowed.contains(seconds) { throw invalidRingSeconds }
        guard let epoch = rules.gatewayEpoch else {
            throw Problem(.conflict, "This server has no media gateway, which a call that a key places needs.")
        }
        let verdict = try store.remember(
            request.clientID, of: request.caller, bodyHash: request.bodyHash, entity: id)
        switch verdict {
        case .reused: throw Problem.clientIDReused
        case .same(let made): return .duplicate(try anyCall(made, in: store), at: now)
        case .new: break
        }
        let (caller, callees) = try parties(request.callees, of: request.caller, field: "callees", in: store)
        try checkNotBlocked(request, in: store)
        let live = try store.liveParticipations(of: [request.caller] + request.callees)
        try checkNoLivePair(request, live, at: now, in: store)
        let call = Call.ringingEverybody(
            id: id, conversation: conversation, kind: request.kind, mode: .gateway(epoch: epoch),
            parties: ([caller] + callees).map { (rung($0), isBusy($0, live, except: [])) },
            ringSeconds: request.ringSeconds ?? rules.ringSeconds, rules: rules, at: now)
        try store.insert(call)
        var outcome = CallOutcome(call: call, at: now)
        let difference = CallDifference(before: nil, after: call)
        try store.append(difference.entries(callJSON: outcome.callJSON, at: now))
        try difference.note(at: now, in: store)
        outcome.effects = difference.effects(at: now)
        return outcome
    }

    /// The back end that places the call may wake whom it calls.
    private func rung(_ party: CallParty) -> CallParty {
        var party = party
        party.isReachable = true
        return party
    }

    /// Ends a call for everybody. Ending an ended call changes nothing.
    package func endForAll(_ id: CallID, at now: Timestamp, in store: some CallStore) throws -> CallOutcome {
        let before = try anyCall(id, in: store)
        var after = before
        after.end(because: before.status == .ringing ? .cancelled : .hungUp, by: nil, at: now)
        return try commit(after, replacing: before, at: now, in: store)
    }

    /// Any call of the server.
    package func anyCall(_ id: CallID, in store: some CallStore) throws -> Call {
        guard let call = try store.call(id) else { throw Problem.notFound("call") }
        return call
    }

    private func checkNotBlocked(_ request: CreateServerCall, in store: some CallStore) throws {
        for (index, callee) in request.callees.enumerated() {
            // The caller, as the callee would call.
            let caller = try store.parties([request.caller], calledBy: callee).first
            guard caller?.hasBlockedCaller == true else { continue }
            throw Problem(.conflict, "The caller has blocked this user.", field: "callees[\(index)]")
        }
    }

    /// At most one live call is between the same two.
    private func checkNoLivePair(
        _ request: CreateServerCall, _ live: [LiveParticipation], at now: Timestamp, in store: some CallStore
    ) throws {
        guard request.callees.count == 1, let callee = request.callees.first else { return }
        let pairs = [Call.pair(request.caller, callee), request.caller.text + ">" + callee.text]
        guard let existing = live.first(where: { $0.pair.map(pairs.contains) ?? false })?.call else { return }
        throw Problem(
            .conflict, "These two have a live call already.", field: "callees[0]",
            members: ["call": try anyCall(existing, in: store).json(at: now)])
    }
}
