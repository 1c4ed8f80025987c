import Accounts
import Bus
import Model
import NIOCore
import Storage
import TestSupport

@testable import Realtime
@testable import Services

// Who is there, and who is writing.
extension StreamHarness {
    /// Now, for the parts that take a monotonic clock.
    var deadline: NIODeadline { .uptimeNanoseconds(UInt64(time.now.milliseconds) * 1_000_000) }

    /// The user has one session more, or one less.
    func changeSessions(of user: UserID, hasArrived: Bool) async throws {
        let before = sessions.update { sessions in
            let before = sessions[user, default: 0]
            sessions[user] = hasArrived ? before + 1 : max(0, before - 1)
            return before
        }
        if hasArrived {
            let isShown = try await store.read { try $0.user(user)?.presence == .everybody }
            hub.presences.arrived(user, isShown: isShown)
            publishPresence(of: user)
        } else if before > 0 {
            hub.presences.left(user, at: deadline, wallClock: time.now)
        }
    }

    /// The user changes who sees whether they are there, and when they were last.
    func changePresence(of user: UserID, _ value: Int) async throws {
        let visibility: PresenceVisibility = value & 1 == 0 ? .everybody : .nobody
        let lastSeen = LastSeenVisibility.allCases[(value >> 1) % LastSeenVisibility.allCases.count]
        _ = try await store.write { store in
            guard var record = try store.user(user) else { return }
            (record.presence, record.lastSeen) = (visibility, lastSeen)
            try store.update(record)
        }
        hub.presences.setShown(visibility == .everybody, of: user)
        publishPresence(of: user)
        publish(.presence(user))
    }

    /// Those who have been away for long enough are offline.
    func sweepPresence() {
        for (user, presence) in hub.presences.sweep(at: deadline) { publish(presence, of: user) }
    }

    private func publishPresence(of user: UserID) {
        if let presence = hub.presences.update(user, at: deadline) { publish(presence, of: user) }
    }

    private func publish(_ presence: Presence, of user: UserID) {
        lastSeen.note(presence, of: user)
        bus.publish(EphemeralEvent(presence, of: user))
    }
}
