import Calls
import Model
import Synchronization

/// The sessions of WHIP and WHEP of all users, shared by `WHIPSessions` and by the parts that must know whose leg is
/// whose.
package final class WHIPRegistry: Sendable {
    typealias Session = MediaSessionRegistry.Session
    typealias Member = MediaSessionRegistry.Member

    private let sessions = Mutex(MediaSessionRegistry())
    /// Participations of sessions from before a restart of the server.
    private let orphans = Mutex<[Member: EndpointID]>([:])

    package init() {}

    /// Whether the leg of this endpoint belongs to a session, entered or opening.
    func holds(_ endpoint: EndpointID) -> Bool { sessions.withLock { $0.holds(endpoint) } }

    /// The users of legs in the call whose endpoints are not in its document.
    func users(in call: CallID) -> [EndpointID: UserID] { sessions.withLock { $0.legs(in: call) } }

    func withSessions<Result: Sendable>(_ body: (inout MediaSessionRegistry) -> sending Result) -> sending Result {
        sessions.withLock { body(&$0) }
    }

    /// Sets who was in a call with a session before the server was restarted.
    func expect(_ holders: [CallLeases.Holder]) {
        orphans.withLock { orphans in
            for holder in holders { orphans[Member(call: holder.call, user: holder.user)] = holder.endpoint }
        }
    }

    func orphan(of member: Member) -> EndpointID? { orphans.withLock { $0[member] } }

    func forgetOrphan(of member: Member) { orphans.withLock { $0[member] = nil } }

    /// The user has left the call. Returns their sessions, whose legs must be ended. Called on the store's writer
    /// thread.
    func userLeft(_ call: CallID, _ user: UserID) -> [Session] {
        let member = Member(call: call, user: user)
        forgetOrphan(of: member)
        return sessions.withLock { $0.removeEntered(member) }
    }
}
