import Model

/// What to do with one of a user's calls when another one begins.
enum OtherCallAction: Hashable {
    case hold
    case hangUp
    /// End it as `replaced`: it is left over from a crash.
    case replace
    case leaveAlone

    /// What the user requested. Without a request, a call whose endpoint is detached is `replaced`, the endpoint's own
    /// other call gets the action `byDefault`, and calls on other endpoints go on.
    init(
        _ participation: LiveParticipation, _ requested: OtherCalls?, endpoint: EndpointID, byDefault: OtherCallAction
    ) {
        switch requested {
        case _ where participation.endpoint == nil: self = .leaveAlone
        case .hold: self = .hold
        case .end: self = .hangUp
        case nil where participation.isDetached: self = .replace
        case nil where participation.endpoint == endpoint: self = byDefault
        case nil: self = .leaveAlone
        }
    }
}

extension CallCommands {
    func apply(
        _ action: OtherCallAction, to participation: LiveParticipation, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard action != .leaveAlone, let before = try store.call(participation.call) else { return nil }
        var after = before
        let user = participation.user
        switch action {
        case .hold: after.apply(MediaState.Change(held: true), to: user)
        case .hangUp: after.hangUp(user, endpoint: nil, .leave, rules: rules, at: now)
        case .replace where before.isPair: after.end(because: .replaced, by: user, at: now)
        case .replace: after.depart(user, because: .replaced, by: user, rules: rules, at: now)
        case .leaveAlone: break
        }
        return try commit(after, replacing: before, at: now, in: store)
    }
}
