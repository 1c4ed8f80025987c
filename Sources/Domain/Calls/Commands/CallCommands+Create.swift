package import Model

extension CallCommands {
    /// Creates a call.
    ///
    /// A retry with the same client id returns the call that the first request created. If the two people, or the
    /// group, already have a live call, the request accepts that call. A call left over by the caller's own endpoint, or
    /// by a detached one, is `replaced` instead.
    ///
    /// - Parameter conversation: that the request names, or that of the two people; nil if it has none.
    package func create(
        _ request: CreateCall, of conversation: CallConversation? = nil, by principal: Principal, id: CallID,
        at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        let endpoint = try endpoint(of: principal)
        let called = conversation?.callees ?? request.callees
        let isOpen = conversation?.isGroup ?? false
        try check(request, called, isOpen: isOpen, by: principal.user)
        try checkStillSignedIn(principal, in: store)
        let mode = try mode(of: request, called, isOpen: isOpen)
        let live = try store.liveParticipations(of: [principal.user] + called)
        let (existing, stale) = try existingCall(
            in: conversation, with: called, by: principal.user, endpoint: endpoint, live, in: store)
        let verdict = try store.remember(
            request.clientID, of: principal.user, bodyHash: request.bodyHash, entity: existing ?? id)
        switch verdict {
        case .reused: throw Problem.clientIDReused
        case .same(let made): return .duplicate(try open(made, as: principal.user, in: store), at: now)
        case .new: break
        }
        if let existing {
            let accept = AcceptCall(other: request.other, media: MediaState.Change(video: request.kind == .video))
            var outcome = try self.accept(existing, accept, by: principal, at: now, in: store)
            outcome.hasJoined = true
            return outcome
        }

        var effects: [CallEffect] = []
        var over: Set<CallID> = []
        for participation in live where participation.user == principal.user {
            let action: OtherCallAction =
                participation.call == stale
                ? .replace : OtherCallAction(participation, request.other, endpoint: endpoint, byDefault: .replace)
            guard let outcome = try apply(action, to: participation, at: now, in: store) else { continue }
            effects += outcome.effects
            if !outcome.call.isLive { over.insert(outcome.call.id) }
        }
        var (caller, callees) = try parties(called, of: principal.user, field: "callees", in: store)
        // Who is a member of a group is called by its members.
        if !isOpen { try refuse(&callees, calledBy: principal.user, in: store) }
        let call = Call.begin(
            id: id, conversation: conversation?.id, isOpen: isOpen, kind: request.kind, mode: mode, caller: caller,
            endpoint: endpoint, signIn: principal.signIn, callees: callees.map { ($0, isBusy($0, live, except: over)) },
            ringSeconds: request.ringSeconds ?? rules.ringSeconds, rules: rules, at: now)
        try store.insert(call)
        var outcome = CallOutcome(call: call, at: now)
        let difference = CallDifference(before: nil, after: call)
        try store.append(difference.entries(callJSON: outcome.callJSON, at: now))
        try difference.note(at: now, in: store)
        if let offer = request.offer, call.isLive {
            let sender = Signal.Sender(user: principal.user, endpoint: endpoint)
            try hold(offer, clientID: request.clientID, from: sender, in: call.id, at: now, store: store)
        }
        outcome.effects = effects + difference.effects(at: now)
        return outcome
    }

    /// Rings more people, or rings people again. A call between two becomes a group call and moves to the gateway;
    /// without a gateway nobody can be added to it.
    package func invite(
        _ id: CallID, _ request: InviteToCall, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        let before = try open(id, as: principal.user, in: store)
        try check(request.users, field: "users", by: principal.user)
        let hash = request.bodyHash(for: id)
        switch try store.remember(request.clientID, of: principal.user, bodyHash: hash, entity: id) {
        case .reused: throw Problem.clientIDReused
        case .same: return .duplicate(before, at: now)
        case .new: break
        }
        guard before.isLive else { throw Problem.callEnded(before, at: now) }
        guard before.participant(principal.user)?.isJoined ?? false else {
            throw Problem(.conflict, "Accept the call first.")
        }
        let newcomers = request.users.filter { before.participant($0) == nil }
        guard before.participants.count + newcomers.count <= rules.participantLimit else {
            throw Problem.invalid("users", "A call has at most \(rules.participantLimit) participants.")
        }
        if before.isOpen {
            for (index, user) in request.users.enumerated()
            where try standing(of: user, to: before, in: store) == .outside {
                throw Problem.invalid("users[\(index)]", "Only members of the conversation can be called into it.")
            }
        }
        // A direct call between two clients cannot include a third.
        guard !before.isPair || before.mode != .direct || newcomers.isEmpty || rules.gatewayEpoch != nil else {
            throw Problem(
                .conflict,
                "This server has no media gateway, which a call of more than two needs: nobody can be added."
            )
        }
        var (_, parties) = try parties(request.users, of: principal.user, field: "users", in: store)
        if !before.isOpen { try refuse(&parties, calledBy: principal.user, in: store) }
        let live = try store.liveParticipations(of: request.users)
        var after = before
        after.invite(
            parties.map { ($0, isBusy($0, live, except: [id])) }, ringSeconds: rules.ringSeconds, rules: rules, at: now)
        if let epoch = rules.gatewayEpoch, after.mode == .direct, after.participants.count > 2 {
            after.mode = .gateway(epoch: epoch)
        }
        return try commit(after, replacing: before, at: now, in: store)
    }
}

// Checks before a new call is created.
extension CallCommands {
    /// The live call that a new one would duplicate, and a stale one that a crash left behind.
    private func existingCall(
        in conversation: CallConversation?, with callees: [UserID], by user: UserID, endpoint: EndpointID,
        _ live: [LiveParticipation], in store: some CallStore
    ) throws -> (existing: CallID?, stale: CallID?) {
        if let conversation, conversation.isGroup { return (try store.liveCall(in: conversation.id), nil) }
        guard callees.count == 1, let callee = callees.first else { return (nil, nil) }
        let pairs = [Call.pair(user, callee), user.text + ">" + callee.text]
        let own = live.first { one in
            one.user == user
                && (one.pair.map(pairs.contains) ?? (conversation != nil && one.conversation == conversation?.id))
        }
        guard let own else { return (nil, nil) }
        // Others were called into it since.
        if own.pair == nil { return (own.call, nil) }
        if own.endpoint == endpoint || own.isDetached { return (nil, own.call) }
        // The other user called and crashed before this user accepted.
        let theirs = live.first { $0.user == callee && $0.call == own.call }
        if own.endpoint == nil, theirs?.isDetached ?? false { return (nil, own.call) }
        return (own.call, nil)
    }

    private func mode(of request: CreateCall, _ callees: [UserID], isOpen: Bool) throws -> Call.Mode {
        switch (request.mode, rules.gatewayEpoch) {
        case (.direct, _): return .direct
        case (nil, _) where callees.count == 1 && !isOpen: return .direct
        case (.gateway, nil):
            throw Problem.invalid("mode", "This server has no media gateway: omit the mode, or set it to direct.")
        case (nil, nil):
            throw Problem.invalid(
                isOpen ? "conversation" : "callees",
                "This server has no media gateway, which a call of more than two needs: call one person, or set the "
                    + "mode to direct, where every client connects to every other.")
        case (_, .some(let epoch)):
            guard request.offer == nil else {
                throw Problem.invalid("offer", "In gateway mode the offer goes to the call's leg, once it is made.")
            }
            return .gateway(epoch: epoch)
        }
    }

    /// Whether the user is in another call through an attached endpoint and has call waiting turned off.
    func isBusy(_ party: CallParty, _ live: [LiveParticipation], except over: Set<CallID>) -> Bool {
        guard !party.allowsCallWaiting else { return false }
        return live.contains {
            $0.user == party.user && $0.endpoint != nil && !$0.isDetached && !over.contains($0.call)
        }
    }

    func parties(
        _ users: [UserID], of caller: UserID, field: String, in store: some CallStore
    ) throws -> (caller: CallParty, others: [CallParty]) {
        let found = try store.parties([caller] + users, calledBy: caller)
        guard let own = found.first(where: { $0.user == caller }) else { throw Problem.notFound("user") }
        let others = try users.enumerated().map { index, user in
            guard let party = found.first(where: { $0.user == user }) else {
                throw Problem.notFound("user", field: "\(field)[\(index)]")
            }
            return party
        }
        return (own, others)
    }

    private func refuse(_ parties: inout [CallParty], calledBy caller: UserID, in store: some CallStore) throws {
        for index in parties.indices where !parties[index].hasBlockedCaller {
            parties[index].hasBlockedCaller = try store.refusesCalls(of: caller, parties[index].user)
        }
    }

    var invalidRingSeconds: Problem {
        let allowed = rules.ringSecondsAllowed
        return .invalid("ringSeconds", "A call rings \(allowed.lowerBound) to \(allowed.upperBound) seconds.")
    }

    private func check(_ request: CreateCall, _ callees: [UserID], isOpen: Bool, by user: UserID) throws {
        // Those of a conversation are its members.
        if request.conversation == nil { try check(callees, field: "callees", by: user) }
        if let seconds = request.ringSeconds, !rules.ringSecondsAllowed.contains(seconds) {
            throw invalidRingSeconds
        }
        if let offer = request.offer {
            guard callees.count == 1, !isOpen else {
                throw Problem.invalid("offer", "Only a call to one person can have an offer.")
            }
            try check(offer, field: "offer.sdp")
        }
    }

    func check(_ users: [UserID], field: String, by user: UserID) throws {
        guard (1..<rules.participantLimit).contains(users.count) else {
            throw Problem.invalid(field, "Name 1 to \(rules.participantLimit - 1) people.")
        }
        guard !users.contains(user) else { throw Problem.invalid(field, "You cannot call yourself.") }
        guard Set(users).count == users.count else { throw Problem.invalid(field, "Name each person once.") }
    }
}
