import Model

/// Everything that can be done to calls, as functions over a store's transaction.
///
/// A command reads the document, asks `Call` to change, writes what differs and returns the effects that its caller
/// carries out after the commit. It takes the time and new ids as arguments and looks at nothing but the store, so that
/// the same command runs in a server, in a simulation of ten thousand schedules, and against any database. Each command
/// checks by itself whether its principal may do this: every door ends here.
package struct CallCommands: Sendable {
    package let rules: CallRules

    package init(rules: CallRules = CallRules()) { self.rules = rules }
}

// What is common to the commands.
extension CallCommands {
    /// The call, if the user may know of it. The one access check: strangers, and those from whom it is withheld, are
    /// told the same as if it did not exist.
    func open(_ id: CallID, as user: UserID, in store: some CallStore) throws -> Call {
        guard let call = try store.call(id), let participant = call.participant(user), !participant.isWithheld else {
            throw Problem.notFound("call")
        }
        return call
    }

    /// The endpoint that acts, where the user alone is not enough.
    func endpoint(of principal: Principal) throws -> EndpointID {
        guard let endpoint = principal.endpoint else {
            throw Problem.invalid("endpoint", "This request has to say which endpoint makes it.")
        }
        return endpoint
    }

    /// A token is verified before the transaction: a sign-in that ended in between, or an account that was disabled, must
    /// not join what nobody would then end.
    func checkStillSignedIn(_ principal: Principal, in store: some CallStore) throws {
        guard try store.isSignedIn(principal.user, by: principal.signIn) else {
            throw Problem(.unauthenticated, "The session of this access token has ended. Sign in again.")
        }
    }

    /// The endpoint that acts, which has to be the one that is in the call.
    func joinedEndpoint(of principal: Principal, in call: Call, at now: Timestamp) throws -> EndpointID {
        let endpoint = try endpoint(of: principal)
        guard call.isLive else { throw Problem.callEnded(call, at: now) }
        guard let joined = call.participant(principal.user)?.endpoint else {
            throw Problem(.conflict, "Accept the call first.")
        }
        guard joined == endpoint else { throw Problem.answeredElsewhere(call, at: now) }
        return endpoint
    }

    /// Writes a changed call, tells its streams, and says what follows.
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
        if let (recording, users) = difference.audience { try store.admit(users, to: recording) }
        if difference.hasEnded {
            try store.removeSignals(in: after.id)
        } else {
            for endpoint in difference.closedEndpoints { try store.closeMailbox(of: endpoint, in: after.id) }
        }
        outcome.effects = difference.effects(at: now)
        return outcome
    }

    /// Opens a call, changes it and commits it.
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
