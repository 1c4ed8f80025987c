import Model
import WebAPI

/// The sessions of WHIP and WHEP that there are.
///
/// A user has at most one of each protocol in a call. The registry cannot hold a second one: sessions are stored by call,
/// user and protocol, so that one which is entered takes the place of the one before. A session is first `opening`, while
/// its leg is made and the user enters the call with it; of these too a user has one in a call.
struct MediaSessionRegistry: Sendable {
    /// A user in a call, whose sessions are opened and closed one after the other.
    struct Member: Hashable, Sendable {
        let call: CallID
        let user: UserID
    }

    struct Session: Hashable, Sendable {
        let place: DoorPlace
        let user: UserID
        /// Absent where the token is an outside issuer's.
        let signIn: SignInID?
        /// What a restart of ICE builds on.
        var offer: String
        /// Names its ICE session; empty until it is entered.
        var tag = ""

        var member: Member { Member(call: place.call, user: user) }
    }

    private var opening: [Member: Session] = [:]
    private var entered: [Member: [MediaDoor: Session]] = [:]
    /// Who has entered sessions in each call.
    private var users: [CallID: Set<UserID>] = [:]
    private var members: [EndpointID: Member] = [:]

    var isEmpty: Bool { opening.isEmpty && entered.isEmpty && users.isEmpty && members.isEmpty }

    // MARK: Looking

    /// Whether the leg is of a session, entered or not.
    func holds(_ leg: EndpointID) -> Bool { members[leg] != nil }

    /// The entered session whose leg it is.
    func session(_ leg: EndpointID) -> Session? {
        members[leg].flatMap { entered[$0]?.values.first { $0.place.leg == leg } }
    }

    /// The user's entered session of a protocol.
    func session(_ door: MediaDoor, of member: Member) -> Session? { entered[member]?[door] }

    /// Another entered session of the same user in the same call.
    func other(than session: Session) -> Session? {
        entered[session.member]?.values.first { $0.place.leg != session.place.leg }
    }

    /// Whose the legs of entered sessions in a call are.
    func legs(in call: CallID) -> [EndpointID: UserID] {
        var legs: [EndpointID: UserID] = [:]
        for user in users[call] ?? [] {
            for session in (entered[Member(call: call, user: user)] ?? [:]).values { legs[session.place.leg] = user }
        }
        return legs
    }

    // MARK: Changing

    /// The leg is about to be made. Returns the session that was opening in its place, which must not go on.
    mutating func begin(_ session: Session) -> Session? {
        let earlier = opening.updateValue(session, forKey: session.member)
        if let earlier { members[earlier.place.leg] = nil }
        members[session.place.leg] = session.member
        return earlier
    }

    /// The user has entered the call with the session that was opening. Returns the one that it replaces; false when it was
    /// removed meanwhile.
    mutating func enter(_ leg: EndpointID, tag: String) -> (isEntered: Bool, replaced: Session?) {
        guard let member = members[leg], var session = opening[member], session.place.leg == leg else {
            return (false, nil)
        }
        opening[member] = nil
        session.tag = tag
        let replaced = entered[member, default: [:]].updateValue(session, forKey: session.place.door)
        if let replaced { members[replaced.place.leg] = nil }
        users[member.call, default: []].insert(member.user)
        return (true, replaced)
    }

    /// ICE was restarted. False when the session is gone.
    mutating func restarted(_ leg: EndpointID, offer: String, tag: String) -> Bool {
        guard var session = session(leg) else { return false }
        session.offer = offer
        session.tag = tag
        entered[session.member]?[session.place.door] = session
        return true
    }

    /// The session is over, entered or not.
    mutating func remove(_ leg: EndpointID) -> Session? {
        if let session = session(leg) {
            entered[session.member]?[session.place.door] = nil
            forget(session)
            return session
        }
        guard let member = members[leg], let session = opening.removeValue(forKey: member) else { return nil }
        members[leg] = nil
        return session
    }

    /// The user has left the call. A session that is still opening enters it anew.
    mutating func removeEntered(_ member: Member) -> [Session] {
        let over = Array((entered[member] ?? [:]).values)
        for session in over { _ = remove(session.place.leg) }
        return over
    }

    /// What `isOver` picks is over, entered or not.
    mutating func removeAll(where isOver: (Session) -> Bool) -> [Session] {
        let all = Array(opening.values) + entered.values.flatMap(\.values)
        return all.filter(isOver).compactMap { remove($0.place.leg) }
    }

    private mutating func forget(_ session: Session) {
        members[session.place.leg] = nil
        guard entered[session.member]?.isEmpty ?? true else { return }
        entered[session.member] = nil
        users[session.place.call]?.remove(session.user)
        if users[session.place.call]?.isEmpty ?? false { users[session.place.call] = nil }
    }
}
