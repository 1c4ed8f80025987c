internal import Model
import NIOCore
import Synchronization

/// Counts the sessions of each user and decides when to publish presence: a user is online from the first session on,
/// and offline a grace period after the last one, so that a page reload is not visible. Hidden users are never online.
///
/// Sessions start and end on every loop, but only one loop publishes presence, so that events are in the order of the
/// decisions, and the last event is correct.
final class PresenceRegistry: Sendable {
    private struct Entry {
        var sessions = 0
        var isShown = true
        /// What was published last.
        var isAnnounced = false
        /// When the last session ended.
        var left: (at: NIODeadline, wallClock: Timestamp)?
    }

    private struct State {
        var entries: [UserID: Entry] = [:]
        /// Users whose last session has ended, in the order in which their grace periods end.
        var leaving: [(user: UserID, graceEnds: NIODeadline)] = []
    }

    private let state = Mutex(State())
    private let grace: TimeAmount

    init(grace: TimeAmount) {
        self.grace = grace
    }

    func presence(of user: UserID) -> Presence {
        state.withLock { Presence(online: $0.entries[user]?.isAnnounced ?? false) }
    }

    /// A session of the user has become live.
    func arrived(_ user: UserID, isShown: Bool) {
        state.withLock { state in
            state.entries[user, default: Entry()].sessions += 1
            state.entries[user]?.isShown = isShown
            state.entries[user]?.left = nil
        }
    }

    /// A session of the user has ended.
    func left(_ user: UserID, at now: NIODeadline, wallClock: Timestamp) {
        state.withLock { state in
            guard var entry = state.entries[user] else { return }
            entry.sessions -= 1
            if entry.sessions <= 0 {
                entry.left = (now, wallClock)
                state.leaving.append((user, now + grace))
            }
            state.entries[user] = entry
        }
    }

    /// The user has changed whether others see their presence.
    func setShown(_ isShown: Bool, of user: UserID) {
        state.withLock { $0.entries[user]?.isShown = isShown }
    }

    /// The presence of a user to publish now; nil when it has not changed.
    func update(_ user: UserID, at now: NIODeadline) -> Presence? {
        state.withLock { update(user, at: now, on: &$0) }
    }

    /// The presences to publish of users whose grace period has ended.
    func sweep(at now: NIODeadline) -> [(user: UserID, presence: Presence)] {
        state.withLock { state in
            let due = Array(state.leaving.prefix { $0.graceEnds <= now })
            state.leaving.removeFirst(due.count)
            return due.compactMap { user, _ in
                update(user, at: now, on: &state).map { (user, $0) }
            }
        }
    }

    private func update(_ user: UserID, at now: NIODeadline, on state: inout State) -> Presence? {
        guard var entry = state.entries[user] else { return nil }
        let isGone = entry.left.map { $0.at + grace <= now } ?? false
        let isOnline = entry.isShown && !isGone
        let hasChanged = entry.isAnnounced != isOnline
        entry.isAnnounced = isOnline
        state.entries[user] = isGone ? nil : entry
        guard hasChanged else { return nil }
        return Presence(online: isOnline, lastSeenAt: isGone && entry.isShown ? entry.left?.wallClock : nil)
    }
}
