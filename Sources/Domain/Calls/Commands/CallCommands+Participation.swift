package import Model

extension CallCommands {
    /// An endpoint of the user reports that it rings; the caller sees it.
    package func ringing(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        try change(id, by: principal, at: now, in: store) { _ = $0.ring(principal.user) }
    }

    /// An endpoint accepts the call. The user's other endpoints are notified by the participant's change, which names
    /// the joined endpoint, and by a `call` change in the user's own stream; their own accept fails with
    /// `answeredElsewhere`.
    ///
    /// The user's other calls are handled as `other` says. Without it, calls of detached endpoints are replaced and
    /// this endpoint's other call is held, so that nobody is overheard by mistake.
    package func accept(
        _ id: CallID, _ request: AcceptCall = AcceptCall(), by principal: Principal, at now: Timestamp,
        in store: some CallStore
    ) throws -> CallOutcome {
        let endpoint = try endpoint(of: principal)
        let user = principal.user
        let before = try open(id, as: user, in: store)
        try checkStillSignedIn(principal, in: store)
        var after = before
        try admit(user, to: &after, at: now, in: store)
        let acceptance = after.accept(
            user, endpoint: endpoint, signIn: principal.signIn, media: request.media, rules: rules, at: now)
        switch acceptance {
        case .callEnded: throw Problem.callEnded(before, at: now)
        case .answeredElsewhere: throw Problem.answeredElsewhere(before, at: now)
        case .unchanged: return .duplicate(before, at: now)
        case .joined, .tookOver: break
        }
        var effects: [CallEffect] = []
        for participation in try store.liveParticipations(of: [user]) where participation.call != id {
            let action = OtherCallAction(participation, request.other, endpoint: endpoint, byDefault: .hold)
            effects += try apply(action, to: participation, at: now, in: store)?.effects ?? []
        }
        var outcome = try commit(after, replacing: before, at: now, in: store)
        // A peer-to-peer offer that was made before the call moved to the gateway is not delivered.
        if before.status == .ringing, after.status != .ringing, after.mode == .direct,
            let caller = after.participants.first
        {
            try deliverHeld(from: caller, to: endpoint, in: id, at: now, store: store)
        }
        outcome.effects = effects + outcome.effects
        return outcome
    }

    /// A member of the conversation whom an open call did not ring enters it.
    private func admit(
        _ user: UserID, to call: inout Call, at now: Timestamp, in store: some CallStore
    ) throws {
        guard call.isOpen, call.isLive, call.participant(user)?.isWithheld ?? true else { return }
        guard call.participant(user) != nil || call.participants.count < rules.participantLimit else {
            throw Problem(.conflict, "This call has \(rules.participantLimit) participants, the most it may have.")
        }
        guard let caller = call.caller, let party = try store.parties([user], calledBy: caller).first else {
            throw Problem.notFound("call")
        }
        call.admit(party, at: now)
    }

    /// Declines the call for all endpoints of the user.
    package func decline(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        try change(id, by: principal, at: now, in: store) { $0.decline(principal.user, rules: rules, at: now) }
    }

    /// Cancel, end or leave.
    package func hangUp(
        _ id: CallID, _ request: Call.HangUp, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        try change(id, by: principal, at: now, in: store) { call in
            if call.isForbidden(request, to: principal.user),
                try standing(of: principal.user, to: call, in: store) != .administrator
            {
                throw Problem(
                    .forbidden,
                    "Only the caller, and in a group its administrators, may end this call for everybody; you can leave it."
                )
            }
            call.hangUp(principal.user, endpoint: principal.endpoint, request, rules: rules, at: now)
        }
    }

    /// The endpoint reports that its media flows.
    package func connected(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        try change(id, by: principal, at: now, in: store) { call in
            _ = try joinedEndpoint(of: principal, in: call, at: now)
            call.connect(principal.user)
        }
    }

    /// The endpoint reports that media still flows, which in a direct call between two proves both sides alive. Writes
    /// nothing: the effects renew leases, so this may run in a read transaction.
    package func alive(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        let call = try open(id, as: principal.user, in: store)
        _ = try joinedEndpoint(of: principal, in: call, at: now)
        var outcome = CallOutcome(call: call, at: now)
        outcome.effects = call.participants.compactMap { participant in
            guard participant.isJoined, call.isPair && call.mode == .direct || participant.user == principal.user
            else { return nil }
            return .leaseRenewed(id, participant.user)
        }
        return outcome
    }

    /// Changes mute, camera, screen and hold, which the other participants show.
    package func media(
        _ id: CallID, _ change: MediaState.Change, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        try self.change(id, by: principal, at: now, in: store) { call in
            guard call.isLive else { throw Problem.callEnded(call, at: now) }
            guard let joined = call.participant(principal.user)?.endpoint else {
                throw Problem(.conflict, "Accept the call first.")
            }
            if let endpoint = principal.endpoint, endpoint != joined {
                throw Problem.answeredElsewhere(call, at: now)
            }
            call.apply(change, to: principal.user)
        }
    }

    /// Adds a media quality report and returns its estimated mean opinion score. The summary becomes part of the
    /// document without a change in its stream: the others see it with the participant's next change.
    package func quality(
        _ id: CallID, _ report: QualityReport, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> Double {
        try check(report)
        let before = try open(id, as: principal.user, in: store)
        var after = before
        after.add(report, from: principal.user)
        try store.save(after, replacing: before)
        return QualitySummary(report).opinionScore
    }

    private func check(_ report: QualityReport) throws {
        guard (0...1).contains(report.loss) else { throw Problem.invalid("loss", "Loss is a fraction from 0 to 1.") }
        let times = [("jitter", report.jitter), ("roundTrip", report.roundTrip)]
        for (field, value) in times where !(0...60_000).contains(value) {
            throw Problem.invalid(field, "Expected milliseconds from 0 to 60000.")
        }
        guard (0.001...86_400).contains(report.seconds ?? 1) else {
            throw Problem.invalid("seconds", "A report covers at most one day.")
        }
        for (field, value) in [("sent", report.sent), ("received", report.received)] where (value ?? 0) < 0 {
            throw Problem.invalid(field, "A byte count cannot be negative.")
        }
    }
}
