package import Bus
import Messaging
package import Model
import Storage
import Synchronization

/// Tells the members of a conversation who is writing. While a user keeps writing, this is told once a second.
package final class TypingNotices: Sendable {
    /// Milliseconds between two notices of the same state.
    private static let interval: Int64 = 1000
    /// How many changes of state are told of a user within an interval. It is always told that somebody has stopped.
    private static let changes = 3
    /// How many of the last writers are remembered with their notices.
    private static let capacity = 10_000

    private struct Key: Hashable {
        var user: UserID
        var conversation: ConversationID
    }

    private struct Notice {
        var state: TypingState
        var at: Int64
        /// When the interval began, and the notices in it.
        var since: Int64
        var count = 1
    }

    private let service: ConversationService
    private let bus: any EventBus
    private let uptime: @Sendable () -> Int64
    private let last = Mutex<[Key: Notice]>([:])

    /// - Parameter uptime: milliseconds of a monotonic clock.
    package init(service: ConversationService, bus: any EventBus, uptime: @escaping @Sendable () -> Int64) {
        self.service = service
        self.bus = bus
        self.uptime = uptime
    }

    /// The user is typing, recording, or has stopped.
    package func note(_ state: TypingState, of user: UserID, in id: ConversationID) async throws {
        let tells = try await service.read { try $1.tellsTyping(of: user, in: id, store: $0) }
        guard tells, isNews(state, Key(user: user, conversation: id)) else { return }
        var writer = JSONWriter(capacity: 96)
        writer.object { writer in
            writer.member("user", user)
            writer.member("state", state.rawValue)
        }
        bus.publish(EphemeralEvent(stream: .typing(id), data: writer.text, subject: user))
    }

    private func isNews(_ state: TypingState, _ key: Key) -> Bool {
        let now = uptime()
        return last.withLock { last in
            var notice = Notice(state: state, at: now, since: now)
            if let known = last[key] {
                if known.state == state, state == .stopped || now - known.at < Self.interval { return false }
                if now - known.since < Self.interval {
                    guard state == .stopped || known.count < Self.changes else { return false }
                    (notice.since, notice.count) = (known.since, known.count + 1)
                }
            } else if state == .stopped {
                return false
            }
            if last.count >= Self.capacity {
                last = last.filter { now - $0.value.at < 10 * Self.interval }
                // More write at this moment than are remembered: some are told about more often.
                if last.count >= Self.capacity { last = [:] }
            }
            last[key] = notice
            return true
        }
    }
}
