import NIOCore

/// The times from which a session's deadlines count, and the earliest time at which one of them may be due.
///
/// Sessions have no timers of their own: a shard sweeps all of its sessions and advances those that are due.
struct SessionClock {
    private(set) var opened: NIODeadline
    var tokenExpires: NIODeadline = .distantFuture
    private(set) var nextCheck: NIODeadline
    private(set) var lastActivity: NIODeadline
    private var lastReported: NIODeadline
    private var nextHeartbeat: NIODeadline = .distantFuture
    /// When the client last received queued bytes, and how many it had received then.
    private var lastProgress: NIODeadline
    private var sent = 0
    private var windowOpened: NIODeadline
    private var inboundInWindow = 0

    private static let reportInterval: TimeAmount = .seconds(1)
    private static let window: TimeAmount = .seconds(1)

    init(at now: NIODeadline) {
        opened = now
        nextCheck = now
        lastActivity = now
        lastReported = now
        lastProgress = now
        windowOpened = now
    }

    /// Makes the next sweep check the session.
    mutating func scheduleCheck() {
        nextCheck = opened
    }

    /// Notes activity of the client; returns whether it is time to report it.
    mutating func noteActivity(at now: NIODeadline) -> Bool {
        lastActivity = now
        guard now >= lastReported + Self.reportInterval else { return false }
        lastReported = now
        return true
    }

    /// The client is read again: its silence until now was caused by the server.
    mutating func resumeReading(at now: NIODeadline) {
        lastActivity = max(lastActivity, now)
    }

    /// Counts a frame; returns how many there were within about the last second.
    mutating func countInbound(at now: NIODeadline) -> Int {
        if now >= windowOpened + Self.window {
            windowOpened = now
            inboundInWindow = 0
        }
        inboundInWindow += 1
        return inboundInWindow
    }

    mutating func becameLive(at now: NIODeadline, _ limits: RealtimeLimits) {
        nextHeartbeat = now + limits.heartbeat
        scheduleCheck()
    }

    func isSilent(at now: NIODeadline, _ limits: RealtimeLimits) -> Bool {
        now >= lastActivity + limits.silence
    }

    /// Whether a heartbeat is due; the next one is then due an interval later.
    mutating func takeHeartbeat(at now: NIODeadline, _ limits: RealtimeLimits) -> Bool {
        guard now >= nextHeartbeat else { return false }
        nextHeartbeat = now + limits.heartbeat
        return true
    }

    /// The transport is no longer writable: from now on the client must make progress.
    mutating func blocked(at now: NIODeadline) {
        lastProgress = now
        scheduleCheck()
    }

    /// Whether the client has received nothing for too long although something waits. `sent` counts all bytes since the
    /// start.
    mutating func isStalled(sent: Int, at now: NIODeadline, _ limits: RealtimeLimits) -> Bool {
        if sent > self.sent {
            self.sent = sent
            lastProgress = now
        }
        return now >= lastProgress + limits.stall
    }

    /// Extends the deadlines by the time in which the server read nothing. A token's expiry stays.
    mutating func extend(by stall: TimeAmount, at now: NIODeadline) {
        opened = min(opened + stall, now)
        lastActivity = min(lastActivity + stall, now)
        lastProgress = min(lastProgress + stall, now)
    }

    /// Schedules the next check: at once while something waits, otherwise at the earliest deadline.
    mutating func plan(at now: NIODeadline, isBusy: Bool, _ limits: RealtimeLimits) {
        nextCheck = isBusy ? now : min(tokenExpires, lastActivity + limits.silence, nextHeartbeat)
    }

    mutating func plan(at deadline: NIODeadline) {
        nextCheck = deadline
    }
}
