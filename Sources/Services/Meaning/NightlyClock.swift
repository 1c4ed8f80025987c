package import Model
package import Storage

/// When something is done once a day, at two o'clock in UTC.
///
/// Sleeping does not follow the wall clock: it may end a moment early, and a machine that was suspended, or whose clock was
/// set, ends it at another time of the day. So a night is a time, and not a pause: what was slept is compared with it.
package struct NightlyClock: Sendable {
    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 24 * hour

    private let now: @Sendable () -> Timestamp
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: throws when the task was cancelled.
    package init(
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// The first night after a time.
    static func night(after time: Timestamp) -> Timestamp {
        let left = 2 * hour - time.milliseconds % day
        return time.adding(milliseconds: left > 0 ? left : left + day)
    }

    /// Calls `body` each night, and once if nights have passed unseen, until the task is cancelled.
    func run(_ body: () async -> Void) async {
        var next = Self.night(after: now())
        while !Task.isCancelled {
            let left = next.milliseconds(since: now())
            if left > 2 * Self.day {
                // The clock was set back by days.
                next = Self.night(after: now())
            } else if left > 0 {
                do { try await sleep(.milliseconds(min(left, Self.hour))) } catch { return }
            } else {
                await body()
                next = Self.night(after: max(next, now()))
            }
        }
    }
}
