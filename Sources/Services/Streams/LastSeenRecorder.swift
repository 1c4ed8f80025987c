package import Logging
package import Model
internal import Realtime
internal import ServiceLifecycle
package import Storage
import Synchronization

/// Remembers when users were last there: at once in memory, and on disk at most once a minute for each.
///
/// Who stays is written every ten minutes, so that a crash loses no more than that of somebody who is there, and a minute of
/// somebody who has gone.
package final class LastSeenRecorder: PresenceRecorder {
    private struct State {
        var online: Set<UserID> = []
        /// Not written yet.
        var pending: [UserID: Timestamp] = [:]
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Timestamp

    package init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    package func note(_ presence: Presence, of user: UserID) {
        let now = clock()
        state.withLock { state in
            if presence.online {
                state.online.insert(user)
                state.pending[user] = now
            } else {
                state.online.remove(user)
                // Who hides from now on is not remembered.
                if let time = presence.lastSeenAt { state.pending[user] = time }
            }
        }
    }

    /// What is not on disk yet; nil if nothing is.
    func pending(_ user: UserID) -> Timestamp? { state.withLock { $0.pending[user] } }

    /// What is to be written, and remains pending until it is.
    fileprivate func due(everybody: Bool) -> [(user: UserID, at: Timestamp)] {
        let now = clock()
        return state.withLock { state in
            if everybody { for user in state.online { state.pending[user] = now } }
            return state.pending.map { (user: $0.key, at: $0.value) }
        }
    }

    fileprivate func written(_ times: [(user: UserID, at: Timestamp)]) {
        state.withLock { state in
            for (user, time) in times where state.pending[user] == time { state.pending[user] = nil }
        }
    }
}

/// Writes what a `LastSeenRecorder` has noted.
package struct LastSeenWriter: Service {
    private static let interval = Duration.seconds(60)
    /// So many intervals until everybody who is there is written.
    private static let renewal = 10
    /// Users of one transaction: a millisecond of the writer's time.
    private static let batch = 100

    private let recorder: LastSeenRecorder
    private let store: Store
    private let logger: Logger

    package init(recorder: LastSeenRecorder, store: Store, logger: Logger) {
        self.recorder = recorder
        self.store = store
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            var count = 0
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                if Task.isCancelled { break }
                count = (count + 1) % Self.renewal
                await write(everybody: count == 0)
            }
        }
        await write(everybody: true)
    }

    package func write(everybody: Bool) async {
        let due = recorder.due(everybody: everybody)
        for start in stride(from: 0, to: due.count, by: Self.batch) {
            let times = Array(due[start..<min(due.count, start + Self.batch)])
            do {
                _ = try await store.write { try $0.save(lastSeen: times) }
                recorder.written(times)
            } catch {
                // A full disk is logged once, and not every minute.
                if (error as? SQLError)?.kind != .diskFull {
                    logger.error("last-seen times could not be written", metadata: ["error": "\(error)"])
                }
                return
            }
        }
    }
}
