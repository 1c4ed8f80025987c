package import Model
import NIOCore
import Synchronization

/// Whether a user is there, as others see it.
package struct Presence: Hashable, Sendable {
    package var online: Bool
    /// When the user's last session went, where this server saw it go and the user is shown.
    package var lastSeenAt: Timestamp?

    package init(online: Bool, lastSeenAt: Timestamp? = nil) {
        self.online = online
        self.lastSeenAt = lastSeenAt
    }

    /// The presence as JSON text: the snapshot and the event of a presence stream.
    package var json: String {
        var text = online ? #"{"online":true"# : #"{"online":false"#
        if let lastSeenAt { text += #","lastSeenAt":""# + lastSeenAt.text + #"""# }
        return text + "}"
    }
}

/// Counts the sessions of each user and decides when others hear of it: a user is there with the first session, and gone
/// a grace after the last one, so that a page that reloads does not blink. Users who hide are never there.
///
/// Sessions come and go on every loop, but only one loop settles what is announced: what it publishes is then in the
/// order in which it was decided, and the last event is the truth.
final class PresenceBoard: Sendable {
    private struct Entry {
        var sessions = 0
        var isShown = true
        /// What listeners were told last.
        var isAnnounced = false
        /// When the last session went.
        var left: (at: NIODeadline, wallClock: Timestamp)?
    }

    private struct Board {
        var entries: [UserID: Entry] = [:]
        /// Users whose last session went, in the order in which their grace ends.
        var leaving: [(user: UserID, graceEnds: NIODeadline)] = []
    }

    private let board = Mutex(Board())
    private let grace: TimeAmount

    init(grace: TimeAmount) {
        self.grace = grace
    }

    func presence(of user: UserID) -> Presence {
        board.withLock { Presence(online: $0.entries[user]?.isAnnounced ?? false) }
    }

    /// A session of the user became live.
    func arrived(_ user: UserID, isShown: Bool) {
        board.withLock { board in
            board.entries[user, default: Entry()].sessions += 1
            board.entries[user]?.isShown = isShown
            board.entries[user]?.left = nil
        }
    }

    /// A session of the user is over.
    func left(_ user: UserID, at now: NIODeadline, wallClock: Timestamp) {
        board.withLock { board in
            guard var entry = board.entries[user] else { return }
            entry.sessions -= 1
            if entry.sessions <= 0 {
                entry.left = (now, wallClock)
                board.leaving.append((user, now + grace))
            }
            board.entries[user] = entry
        }
    }

    /// The user decided whether others see them.
    func setShown(_ isShown: Bool, of user: UserID) {
        board.withLock { $0.entries[user]?.isShown = isShown }
    }

    /// Decides what listeners are to be told of one user now.
    func settle(_ user: UserID, at now: NIODeadline) -> Presence? {
        board.withLock { settle(user, at: now, on: &$0) }
    }

    /// Decides what listeners are to be told of users whose grace is over.
    func sweep(at now: NIODeadline) -> [(user: UserID, presence: Presence)] {
        board.withLock { board in
            let due = Array(board.leaving.prefix { $0.graceEnds <= now })
            board.leaving.removeFirst(due.count)
            return due.compactMap { user, _ in
                settle(user, at: now, on: &board).map { (user, $0) }
            }
        }
    }

    private func settle(_ user: UserID, at now: NIODeadline, on board: inout Board) -> Presence? {
        guard var entry = board.entries[user] else { return nil }
        let isGone = entry.left.map { $0.at + grace <= now } ?? false
        let isOnline = entry.isShown && !isGone
        let hasNews = entry.isAnnounced != isOnline
        entry.isAnnounced = isOnline
        board.entries[user] = isGone ? nil : entry
        guard hasNews else { return nil }
        return Presence(online: isOnline, lastSeenAt: isGone && entry.isShown ? entry.left?.wallClock : nil)
    }
}
