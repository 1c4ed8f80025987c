import Model

/// What becomes of one of a user's calls when another one begins.
enum Treatment: Hashable {
    case hold
    case hangUp
    /// It is a ghost of the user's earlier try.
    case replace
    case leaveAlone

    /// What the user asked for; without a word, what a crash left behind is `replaced`, the endpoint's own other call is
    /// treated `whenSilent`, and calls on other endpoints go on.
    init(
        _ participation: LiveParticipation, _ wish: OtherCalls?, endpoint: EndpointID, whenSilent: Treatment
    ) {
        switch wish {
        case _ where participation.endpoint == nil: self = .leaveAlone
        case .hold: self = .hold
        case .end: self = .hangUp
        case nil where participation.isDetached: self = .replace
        case nil where participation.endpoint == endpoint: self = whenSilent
        case nil: self = .leaveAlone
        }
    }
}

extension CallCommands {
    func apply(
        _ treatment: Treatment, to participation: LiveParticipation, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard treatment != .leaveAlone, let before = try store.call(participation.call) else { return nil }
        var after = before
        let user = participation.user
        switch treatment {
        case .hold: after.apply(MediaState.Change(held: true), to: user)
        case .hangUp: after.hangUp(user, endpoint: nil, .leave, rules: rules, at: now)
        case .replace where before.isPair: after.end(because: .replaced, by: user, at: now)
        case .replace: after.depart(user, because: .replaced, by: user, rules: rules, at: now)
        case .leaveAlone: break
        }
        return try commit(after, replacing: before, at: now, in: store)
    }
}
