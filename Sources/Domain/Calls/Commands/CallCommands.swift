import Model

/// The operations on calls, as functions over a store's transaction.
///
/// A command reads the document, changes the `Call`, writes the difference and returns the effects that its caller
/// carries out after the commit. Time and new ids are arguments and the store is its only dependency, so the same
/// command runs in a server, in a simulation of ten thousand schedules, and against any database. Each command
/// authorizes its principal itself: REST, WHIP and realtime requests all end here.
package struct CallCommands: Sendable {
    package let rules: CallRules

    package init(rules: CallRules = CallRules()) { self.rules = rules }
}

// Helpers of the commands.
extension CallCommands {
    /// The call, if the user may see it. This is the access check: for users who are not in the call, or from whom it
    /// is withheld, the result is the same as if it did not exist. An open call is seen by the members of its conversation
    /// while it is live, and by nobody else.
    func open(_ id: CallID, as user: UserID, in store: some CallStore) throws -> Call {
        guard let call = try store.call(id) else { throw Problem.notFound("call") }
        if call.isOpen, call.isLive {
            guard try standing(of: user, to: call, in: store) != .outside else { throw Problem.notFound("call") }
            return call
        }
        guard let participant = call.participant(user), !participant.isWithheld else {
            throw Problem.notFound("call")
        }
        return call
    }

    func standing(
        of user: UserID, to call: Call, in store: some CallStore
    ) throws -> ConversationStanding {
        guard call.isOpen, let conversation = call.conversation else { return .outside }
        return try store.standing(of: user, in: conversation)
    }

    /// The endpoint that makes the request, for requests that need one.
    func endpoint(of principal: Principal) throws -> EndpointID {
        guard let endpoint = principal.endpoint else {
            throw Problem.invalid("endpoint", "This request has to say which endpoint makes it.")
        }
        return endpoint
    }

    /// The token was verified before the transaction. If the sign-in ended or the account was disabled in between, the
    /// user must not join, since nothing would end that participation.
    func checkStillSignedIn(_ principal: Principal, in store: some CallStore) throws {
        guard try store.isSignedIn(principal.user, by: principal.signIn) else {
            throw Problem(.unauthenticated, "The session of this access token has ended. Sign in again.")
        }
    }

    /// The endpoint that makes the request, which must be the one that has joined the call.
    func joinedEndpoint(of principal: Principal, in call: Call, at now: Timestamp) throws -> EndpointID {
        let endpoint = try endpoint(of: principal)
        guard call.isLive else { throw Problem.callEnded(call, at: now) }
        guard let joined = call.participant(principal.user)?.endpoint else {
            throw Problem(.conflict, "Accept the call first.")
        }
        guard joined == endpoint else { throw Problem.answeredElsewhere(call, at: now) }
        return endpoint
    }

    /// Writes a changed call, appends to its streams, and returns the effects.
    func commit(
        _ changed: Call, replacing before: Call, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        guard changed != before else { return CallOutcome(call: before, at: now) }
        var after = changed
        after.version = before.version + 1
        var outcome = CallOutcome(call: after, at: now)
        try store.save(after, replacing: before)
        let difference = CallDifference(before: before, after: after)
        try store.append(difference.entries(callJSON: outcome.callJSON, at: now))
        try difference.note(at: now, in: store)
        if let (recording, users) = difference.audience { try store.admit(users, to: recording) }
        if difference.hasEnded {
            try store.removeSignals(in: after.id)
        } else {
            for endpoint in difference.closedEndpoints { try store.closeMailbox(of: endpoint, in: after.id) }
        }
        outcome.effects = difference.effects(at: now)
        return outcome
    }

    /// Reads a call, changes it and commits it.
    func change(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore,
        _ body: (inout Call) throws -> Void
    ) throws -> CallOutcome {
        let before = try open(id, as: principal.user, in: store)
        var after = before
        try body(&after)
        return try commit(after, replacing: before, at: now, in: store)
    }
}

extension Problem {
    static func callEnded(_ call: Call, at now: Timestamp) -> Self {
        Self(.callEnded, "The call has ended.", members: ["call": call.json(at: now)])
    }

    static func answeredElsewhere(_ call: Call, at now: Timestamp) -> Self {
        Self(
            .answeredElsewhere, "Another of your devices has taken this call.", members: ["call": call.json(at: now)])
    }

    static let clientIDReused = Self(
        .clientIDReused, "This client id was used for another request.", field: "clientID")
}
