package import Messaging
package import Model
package import Storage
import Synchronization

/// Writes how far members are: what comes within 200 ms of the last write of the same member in the same conversation
/// is collected in memory and written at once, the highest of each mark, so that scrolling through a conversation costs
/// a few writes. Each request is answered after the commit that has its mark, so that what its client reads next has it
/// too.
///
/// The first mark is written at once. If the process is killed before marks are written, their requests were not
/// answered either, and clients send them again.
package final class MarkCollector: Sendable {
    /// From a write to the next one of the same member.
    package static let interval = Duration.milliseconds(200)

    /// How much is held; beyond it marks are written as they come.
    package struct Limits: Sendable {
        /// Members who have written within the interval.
        package var members = 50_000
        /// Requests that wait for a write.
        package var waiting = 20_000

        package init(members: Int = 50_000, waiting: Int = 20_000) {
            self.members = members
            self.waiting = waiting
        }
    }

    private struct Key: Hashable {
        var user: UserID
        var conversation: ConversationID
    }

    private typealias Waiter = CheckedContinuation<MemberMarks?, any Error>

    /// What has come since the last write.
    private struct Pending {
        var read: Int64?
        var delivered: Int64?
        var waiters: [Waiter] = []

        mutating func raise(read other: Int64?, delivered otherDelivered: Int64?) {
            read = [read, other].compactMap(\.self).max()
            delivered = [delivered, otherDelivered].compactMap(\.self).max()
        }
    }

    private struct State {
        /// Of members who have written within the interval.
        var pending: [Key: Pending] = [:]
        var waiting = 0
        var isFlushed = false
    }

    private enum Admission { case write, writeFirst, collect }

    private let store: Store
    private let commands: ConversationCommands
    private let limits: Limits
    private let sleep: @Sendable (Duration) async -> Void
    private let state = Mutex(State())

    package init(
        store: Store, commands: ConversationCommands, limits: Limits = Limits(),
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.store = store
        self.commands = commands
        self.limits = limits
        self.sleep = sleep
    }

    /// Raises the user's marks; see `ConversationCommands.mark`.
    ///
    /// - Returns: the marks as they are once it is committed.
    package func mark(
        read: Int64?, delivered: Int64?, in id: ConversationID, by user: UserID
    ) async throws -> MemberMarks {
        let key = Key(user: user, conversation: id)
        while true {
            switch admit(key) {
            case .write: return try await write(Pending(read: read, delivered: delivered), key)
            case .writeFirst:
                defer { Task { await writeCollected(of: key) } }
                return try await write(Pending(read: read, delivered: delivered), key)
            case .collect:
                let marks: MemberMarks? = try await withCheckedThrowingContinuation { waiter in
                    if !collect(read: read, delivered: delivered, key, waiter) { waiter.resume(returning: nil) }
                }
                if let marks { return marks }
            }
        }
    }

    /// Writes all that is collected. From then on marks are written as they come.
    package func flush() async {
        let collected = state.withLock { state in
            state.isFlushed = true
            state.waiting = 0
            defer { state.pending = [:] }
            return state.pending.filter { !$0.value.waiters.isEmpty }
        }
        await withTaskGroup { group in
            for (key, pending) in collected { group.addTask { await self.answer(pending, key) } }
        }
    }

    /// How many members have written within the interval, and how many requests wait.
    var counts: (members: Int, waiting: Int) { state.withLock { ($0.pending.count, $0.waiting) } }

    private func admit(_ key: Key) -> Admission {
        state.withLock { state in
            if state.isFlushed { return .write }
            if state.pending[key] != nil { return state.waiting < limits.waiting ? .collect : .write }
            guard state.pending.count < limits.members else { return .write }
            state.pending[key] = Pending()
            return .writeFirst
        }
    }

    /// False if the interval has ended, or there is no room any more.
    private func collect(read: Int64?, delivered: Int64?, _ key: Key, _ waiter: Waiter) -> Bool {
        state.withLock { state in
            guard state.waiting < limits.waiting, var pending = state.pending.removeValue(forKey: key) else {
                return false
            }
            pending.raise(read: read, delivered: delivered)
            pending.waiters.append(waiter)
            state.pending[key] = pending
            state.waiting += 1
            return true
        }
    }

    /// Writes the collected marks after each interval, until there were none.
    private func writeCollected(of key: Key) async {
        while true {
            await sleep(Self.interval)
            guard let pending = take(key) else { return }
            await answer(pending, key)
        }
    }

    private func take(_ key: Key) -> Pending? {
        state.withLock { state in
            guard let pending = state.pending.removeValue(forKey: key), !pending.waiters.isEmpty else { return nil }
            state.pending[key] = Pending()
            state.waiting -= pending.waiters.count
            return pending
        }
    }

    private func answer(_ pending: Pending, _ key: Key) async {
        do {
            let marks = try await write(pending, key)
            for waiter in pending.waiters { waiter.resume(returning: marks) }
        } catch {
            for waiter in pending.waiters { waiter.resume(throwing: error) }
        }
    }

    private func write(_ pending: Pending, _ key: Key) async throws -> MemberMarks {
        let commands = commands
        return try await store.write { store in
            try commands.mark(
                read: pending.read, delivered: pending.delivered, in: key.conversation, by: key.user, store: store)
        }.value
    }
}
