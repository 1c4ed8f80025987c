import Synchronization

/// What the realtime host counted since it started, and what it holds now: read by the metrics page.
package struct RealtimeFigures: Sendable, Hashable {
    /// Connections open now, live or not.
    package var sessions = 0
    /// Bytes queued now in sessions whose client reads too slowly.
    package var queuedBytes = 0
    /// Streams of sessions that lag now.
    package var laggingStreams = 0
    package var framesIn = 0
    package var framesOut = 0
    package var bytesOut = 0
    /// Events that gave way to newer ones since a client was too slow, in streams that keep their order.
    package var eventsDropped = 0
    /// Byes by reason, such as `slow`.
    package var byes: [String: Int] = [:]
}

/// The counters behind the figures. Each is written on many loops and read seldom, so relaxed atomics do.
final class RealtimeCounters: Sendable {
    let sessions = Atomic(0)
    let framesIn = Atomic(0)
    let framesOut = Atomic(0)
    let bytesOut = Atomic(0)
    let eventsDropped = Atomic(0)
    private let byes = Mutex<[Bye: Int]>([:])

    func count(_ bye: Bye) {
        byes.withLock { $0[bye, default: 0] += 1 }
    }

    var figures: RealtimeFigures {
        var figures = RealtimeFigures()
        figures.sessions = sessions.load(ordering: .relaxed)
        figures.framesIn = framesIn.load(ordering: .relaxed)
        figures.framesOut = framesOut.load(ordering: .relaxed)
        figures.bytesOut = bytesOut.load(ordering: .relaxed)
        figures.eventsDropped = eventsDropped.load(ordering: .relaxed)
        let counted = byes.withLock { $0 }
        for bye in Bye.all { figures.byes[bye.reason] = counted[bye] ?? 0 }
        return figures
    }
}

extension Atomic<Int> {
    func add(_ amount: Int) {
        wrappingAdd(amount, ordering: .relaxed)
    }
}
