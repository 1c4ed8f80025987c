import NIOCore

/// The moments that a session's deadlines count from, and the earliest moment at which one of them may be due.
///
/// Sessions have no timers of their own: a shard sweeps over all of its sessions and advances those that are due.
struct SessionClock {
    private(set) var opened: NIODeadline
    var tokenExpires: NIODeadline = .distantFuture
    private(set) var nextCheck: NIODeadline
    private(set) var lastHeard: NIODeadline
    private var lastReported: NIODeadline
    private var nextHeartbeat: NIODeadline = .distantFuture
    /// When the client last took some of what waits for it, and how much it had taken then.
    private var progressed: NIODeadline
    private var taken = 0
    private var windowOpened: NIODeadline
    private var inboundInWindow = 0

    private static let reportEvery: TimeAmount = .seconds(1)
    private static let window: TimeAmount = .seconds(1)

    init(at now: NIODeadline) {
        opened = now
        nextCheck = now
        lastHeard = now
        lastReported = now
        progressed = now
        windowOpened = now
    }

    /// Lets the next sweep look at the session.
    mutating func mustAdvance() {
        nextCheck = opened
    }

    /// Notes a sign of life; returns whether it is time to pass it on.
    mutating func hear(at now: NIODeadline) -> Bool {
        lastHeard = now
        guard now >= lastReported + Self.reportEvery else { return false }
        lastReported = now
        return true
    }

    /// The client is read again: while it was not, its silence was ours.
    mutating func readAgain(at now: NIODeadline) {
        lastHeard = max(lastHeard, now)
    }

    /// Counts a frame; returns how many there were within the last second or so.
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
        mustAdvance()
    }

    func isSilent(at now: NIODeadline, _ limits: RealtimeLimits) -> Bool {
        now >= lastHeard + limits.silence
    }

    /// Whether a heartbeat is due; the next one is then due an interval later.
    mutating func takeHeartbeat(at now: NIODeadline, _ limits: RealtimeLimits) -> Bool {
        guard now >= nextHeartbeat else { return false }
        nextHeartbeat = now + limits.heartbeat
        return true
    }

    /// The transport stopped taking frames: from now on the client must make progress.
    mutating func blocked(at now: NIODeadline) {
        progressed = now
        mustAdvance()
    }

    /// Whether the client, for which something waits, has taken nothing for too long. `taken` counts all bytes since the
    /// start.
    mutating func isStalled(taken: Int, at now: NIODeadline, _ limits: RealtimeLimits) -> Bool {
        if taken > self.taken {
            self.taken = taken
            progressed = now
        }
        return now >= progressed + limits.stall
    }

    /// Nobody read what came for so long until now: clients have as much time left as they had before. A token does not live
    /// longer for it.
    mutating func extend(by stall: TimeAmount, at now: NIODeadline) {
        opened = min(opened + stall, now)
        lastHeard = min(lastHeard + stall, now)
        progressed = min(progressed + stall, now)
    }

    /// Plans the next check: soon while something waits, else when the earliest deadline is due.
    mutating func plan(at now: NIODeadline, isBusy: Bool, _ limits: RealtimeLimits) {
        nextCheck = isBusy ? now : min(tokenExpires, lastHeard + limits.silence, nextHeartbeat)
    }

    mutating func plan(at deadline: NIODeadline) {
        nextCheck = deadline
    }
}
