package import Model

// What happens without anybody's request: deadlines, leases, endpoints that come and go, restarts.
extension CallCommands {
    /// A timer fired. Absent when the deadline was no longer there.
    package func expire(
        _ deadline: CallDeadline, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(deadline.key.call) else { return nil }
        var after = before
        guard after.expire(deadline, rules: rules, at: now) else { return nil }
        if case .recording(let id) = deadline.key.kind, var recording = try store.recording(id) {
            // It is closed when its files are whole.
            recording.reason = .longest
            try store.close(recording)
        }
        return try commit(after, replacing: before, at: now, in: store)
    }

    /// Nobody has seen a sign of life of the participant for too long.
    package func leaseLapsed(
        _ id: CallID, _ user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(id) else { return nil }
        var after = before
        after.depart(user, because: .connectionLost, by: nil, rules: rules, at: now)
        return after == before ? nil : try commit(after, replacing: before, at: now, in: store)
    }

    /// The endpoint has no realtime session any more. Its calls go on, and show it.
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

    /// Sign-ins of the user have ended: what they had joined is over, wherever media still flows.
    package func signedOut(
        _ signIns: Set<SignInID>, of user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> [CallOutcome] {
        try store.liveCalls(of: user).compactMap { before in
            var after = before
            after.signOut(user, of: signIns, rules: rules, at: now)
            return after == before ? nil : try commit(after, replacing: before, at: now, in: store)
        }
    }

    /// The account was disabled: the user is out of every live call, and out of reach.
    package func withdraw(
        _ user: UserID, at now: Timestamp, in store: some CallStore
    ) throws -> [CallOutcome] {
        try store.liveCalls(of: user).map { before in
            var after = before
            after.withdraw(user, rules: rules, at: now)
            return try commit(after, replacing: before, at: now, in: store)
        }
    }

    /// The gateway began anew: calls that it had get its epoch, so that their endpoints join it again. Where there is no
    /// gateway any more they end.
    package func renewGateway(at now: Timestamp, in store: some CallStore) throws -> [CallOutcome] {
        try store.liveCalls().compactMap { before in
            guard let epoch = before.gatewayEpoch, epoch != rules.gatewayEpoch else { return nil }
            var after = before
            if let epoch = rules.gatewayEpoch {
                after.mode = .gateway(epoch: epoch)
                // It knows of none; what was recorded is found in its files.
                if after.recording != nil { after.recordingEnd = .interrupted }
                after.recording = nil
                if !rules.hasTranscription { after.captions = nil }
            } else {
                after.end(because: .failed, by: nil, at: now)
            }
            return try commit(after, replacing: before, at: now, in: store)
        }
    }

    /// Every deadline there is, to arm timers after a start.
    package func deadlines(in store: some CallStore) throws -> [CallDeadline] {
        try store.liveCalls().flatMap(\.deadlines)
    }

    /// Every participant who is joined somewhere: each gets a new lease after a start.
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
