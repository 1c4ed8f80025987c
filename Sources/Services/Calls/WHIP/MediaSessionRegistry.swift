import Model

/// The registry of WHIP and WHEP sessions.
///
/// A user has at most one session of each protocol in a call: sessions are stored by call, user and protocol, so that a
/// session that is entered replaces the previous one. A session is first `opening`, while its leg is made and the user
/// joins the call with it; of these too, a user has at most one in a call.
struct MediaSessionRegistry: Sendable {
    /// A user in a call, whose sessions are opened and closed serially.
    struct Member: Hashable, Sendable {
        let call: CallID
        let user: UserID
    }

    struct Session: Hashable, Sendable {
        let id: WHIPSessionID
        let user: UserID
        /// Nil if the token is an external issuer's.
        let signIn: SignInID?
        /// The last offer, which an ICE restart modifies.
        var offer: String
        /// The entity tag of its ICE session; empty until it is entered.
        var tag = ""

        var member: Member { Member(call: id.call, user: user) }
    }

    private var opening: [Member: Session] = [:]
    private var entered: [Member: [WHIPKind: Session]] = [:]
    /// The users with entered sessions in each call.
    private var users: [CallID: Set<UserID>] = [:]
    private var members: [EndpointID: Member] = [:]

    var isEmpty: Bool { opening.isEmpty && entered.isEmpty && users.isEmpty && members.isEmpty }

    // MARK: Lookup

    /// Whether the leg belongs to a session, entered or opening.
    func holds(_ leg: EndpointID) -> Bool { members[leg] != nil }

    /// The entered session of a leg.
    func session(_ leg: EndpointID) -> Session? {
        members[leg].flatMap { entered[$0]?.values.first { $0.id.leg == leg } }
    }

    /// The user's entered session of a protocol.
    func session(_ kind: WHIPKind, of member: Member) -> Session? { entered[member]?[kind] }

    /// Another entered session of the same user in the same call.
    func other(than session: Session) -> Session? {
        entered[session.member]?.values.first { $0.id.leg != session.id.leg }
    }

    /// The users of the legs of entered sessions in a call.
    func legs(in call: CallID) -> [EndpointID: UserID] {
        var legs: [EndpointID: UserID] = [:]
        for user in users[call] ?? [] {
            for session in (entered[Member(call: call, user: user)] ?? [:]).values { legs[session.id.leg] = user }
        }
        return legs
    }

    // MARK: Changes

    /// Begins to open a session, before its leg is made. Returns the opening session that it replaces, which must be
    /// ended.
    mutating func begin(_ session: Session) -> Session? {
        let earlier = opening.updateValue(session, forKey: session.member)
        if let earlier { members[earlier.id.leg] = nil }
        members[session.id.leg] = session.member
        return earlier
    }

    /// The user has joined the call with the opening session. Returns the session that it replaces; `isEntered` is
    /// false if it was removed meanwhile.
    mutating func enter(_ leg: EndpointID, tag: String) -> (isEntered: Bool, replaced: Session?) {
        guard let member = members[leg], var session = opening[member], session.id.leg == leg else {
            return (false, nil)
        }
        opening[member] = nil
        session.tag = tag
        let replaced = entered[member, default: [:]].updateValue(session, forKey: session.id.kind)
        if let replaced { members[replaced.id.leg] = nil }
        users[member.call, default: []].insert(member.user)
        return (true, replaced)
    }

    /// ICE was restarted. Returns false if the session has ended.
    mutating func restarted(_ leg: EndpointID, offer: String, tag: String) -> Bool {
        guard var session = session(leg) else { return false }
        session.offer = offer
        session.tag = tag
        entered[session.member]?[session.id.kind] = session
        return true
    }

    /// Removes a session, entered or opening.
    mutating func remove(_ leg: EndpointID) -> Session? {
        if let session = session(leg) {
            entered[session.member]?[session.id.kind] = nil
            forget(session)
            return session
        }
        guard let member = members[leg], let session = opening.removeValue(forKey: member) else { return nil }
        members[leg] = nil
        return session
    }

    /// The user has left the call. A session that is still opening will join it again.
    mutating func removeEntered(_ member: Member) -> [Session] {
        let over = Array((entered[member] ?? [:]).values)
        for session in over { _ = remove(session.id.leg) }
        return over
    }

    /// Removes the sessions for which `isOver` is true, entered or opening.
    mutating func removeAll(where isOver: (Session) -> Bool) -> [Session] {
        let all = Array(opening.values) + entered.values.flatMap(\.values)
        return all.filter(isOver).compactMap { remove($0.id.leg) }
    }

    private mutating func forget(_ session: Session) {
        members[session.id.leg] = nil
        guard entered[session.member]?.isEmpty ?? true else { return }
        entered[session.member] = nil
        users[session.id.call]?.remove(session.user)
        if users[session.id.call]?.isEmpty ?? false { users[session.id.call] = nil }
    }
}
