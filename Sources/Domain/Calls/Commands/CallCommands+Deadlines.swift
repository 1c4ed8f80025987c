package import Model

// Events that nobody requested: deadlines, lapsed leases, endpoints that attach and detach, restarts.
extension CallCommands {
    /// A timer fired. Nil if the document no longer has the deadline.
    package func expire(
        _ deadline: CallDeadline, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(deadline.key.call) else { return nil }
        var after = before
        guard after.expire(deadline, rules: rules, at: now) else { return nil }
        if case .recording(let id) = deadline.key.kind, var recording = try store.recording(id) {
            // The recorder closes it once its files are complete.
            recording.reason = .maxDuration
            try store.close(recording)
        }
        return try commit(after, replacing: before, at: now, in: store)
    }

    /// The participant has given no sign of life for the whole lease.
    package func leaseLapsed(
        _ id: CallID, _ user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(id) else { return nil }
        var after = before
        after.depart(user, because: .connectionLost, by: nil, rules: rules, at: now)
        return after == before ? nil : try commit(after, replacing: before, at: now, in: store)
    }

    /// The endpoint lost its realtime session. Its calls go on and show `detachedAt`.
    package func detached(
        _ endpoint: EndpointID, of user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> [CallOutcome] {
        try change(endpoint, of: user, at: now, in: store) { $0.detach(endpoint, of: user, at: now) }
    }

    /// The endpoint has a realtime session again.
    package func attached(
        _ endpoint: EndpointID, of user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> [CallOutcome] {
        try change(endpoint, of: user, at: now, in: store) { $0.attach(endpoint, of: user) }
    }

    /// Sign-ins of the user have ended: participants who joined with them leave, even if media still flows.
    package func signedOut(
        _ signIns: Set<SignInID>, of user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> [CallOutcome] {
        try store.liveCalls(of: user).compactMap { before in
            var after = before
            after.signOut(user, of: signIns, rules: rules, at: now)
            return after == before ? nil : try commit(after, replacing: before, at: now, in: store)
        }
    }

    /// The account was disabled: removes the user from every live call.
    package func withdraw(
        _ user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> [CallOutcome] {
        try store.liveCalls(of: user).map { before in
            var after = before
            after.withdraw(user, rules: rules, at: now)
            return try commit(after, replacing: before, at: now, in: store)
        }
    }

    /// The user has left a conversation, or was removed from it: leaves its open call at once, and hears no more of it.
    package func leftConversation(
        _ conversation: ConversationID, _ user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let id = try store.liveCall(in: conversation), let before = try store.call(id), before.isOpen else {
            return nil
        }
        var after = before
        after.remove(user, rules: rules, at: now)
        var outcome = try commit(after, replacing: before, at: now, in: store)
        outcome.effects += [.dropUser(user, .call(id)), .dropUser(user, .captions(id))]
        return outcome
    }

    /// The gateway restarted: its calls get the new epoch, so that their endpoints join again. If there is no gateway
    /// any more, they end.
    package func gatewayRestarted(at now: Timestamp, in store: some CallStore) throws -> [CallOutcome] {
        try store.liveCalls().compactMap { before in
            guard let epoch = before.gatewayEpoch, epoch != rules.gatewayEpoch else { return nil }
            var after = before
            if let epoch = rules.gatewayEpoch {
                after.mode = .gateway(epoch: epoch)
                // The new gateway has no recordings; what was recorded is recovered from the files.
                if after.recording != nil { after.recordingEnd = .interrupted }
                after.recording = nil
                if !rules.hasTranscription { after.captions = nil }
            } else {
                after.end(because: .failed, by: nil, at: now)
            }
            return try commit(after, replacing: before, at: now, in: store)
        }
    }

    /// All deadlines, to arm timers after a start.
    package func deadlines(in store: some CallStore) throws -> [CallDeadline] {
        try store.liveCalls().flatMap(\.deadlines)
    }

    /// All joined participants: each gets a new lease after a start.
    package func leases(in store: some CallStore) throws -> [CallLeases.Holder] {
        try store.liveCalls().flatMap { call in
            call.participants.compactMap { participant in
                participant.endpoint.map {
                    CallLeases.Holder(call: call.id, user: participant.user, endpoint: $0)
                }
            }
        }
    }

    private func change(
        _ endpoint: EndpointID, of user: UserID, at now: Timestamp, in store: some CallStore,
        _ body: (inout Call) -> Void
    ) throws -> [CallOutcome] {
        try store.liveParticipations(of: [user]).compactMap { participation in
            guard participation.endpoint == endpoint, let before = try store.call(participation.call) else {
                return nil
            }
            var after = before
            body(&after)
            return after == before ? nil : try commit(after, replacing: before, at: now, in: store)
        }
    }
}
