package import Model
import Synchronization

/// The counters of the realtime host since its start, and its current state, for metrics.
package struct RealtimeStats: Sendable, Hashable {
    /// Connections open now, live or not.
    package var sessions = 0
    /// Bytes queued now in sessions whose client reads too slowly.
    package var queuedBytes = 0
    /// Streams of sessions that lag now.
    package var laggingStreams = 0
    package var framesIn = 0
    package var framesOut = 0
    package var bytesOut = 0
    /// Events of ordered streams that were dropped because a client was too slow.
    package var eventsDropped = 0
    /// Byes by reason, such as `slow`.
    package var byes: [String: Int] = [:]
    /// Accepted hellos by client.
    package var hellos: [ClientLabel: Int] = [:]
}

/// A client's name in metrics. Clients choose their names, so only known ones have a label of their own.
package enum ClientLabel: String, CaseIterable, Sendable {
    case swift = "Switchboard-Swift"
    case web = "Switchboard-Web"
    /// Another name.
    case other
    /// The client did not name itself.
    case none

    package init(_ client: ClientInfo?) {
        self =
            switch client?.name {
            case Self.swift.rawValue: .swift
            case Self.web.rawValue: .web
            case .some: .other
            case nil: .none
            }
    }
}

/// The counters behind the statistics. Each is written on many loops and rarely read, so relaxed atomics suffice.
final class RealtimeCounters: Sendable {
    let sessions = Atomic(0)
    let framesIn = Atomic(0)
    let framesOut = Atomic(0)
    let bytesOut = Atomic(0)
    let eventsDropped = Atomic(0)
    private let byes = Mutex<[Bye: Int]>([:])
    private let hellos = Mutex<[ClientLabel: Int]>([:])

    func count(_ bye: Bye) {
        byes.withLock { $0[bye, default: 0] += 1 }
    }

    /// Counts an accepted hello.
    func count(_ client: ClientInfo?) {
        hellos.withLock { $0[ClientLabel(client), default: 0] += 1 }
    }

    var stats: RealtimeStats {
        var stats = RealtimeStats()
        stats.sessions = sessions.load(ordering: .relaxed)
        stats.framesIn = framesIn.load(ordering: .relaxed)
        stats.framesOut = framesOut.load(ordering: .relaxed)
        stats.bytesOut = bytesOut.load(ordering: .relaxed)
        stats.eventsDropped = eventsDropped.load(ordering: .relaxed)
        let counted = byes.withLock { $0 }
        for bye in Bye.allCases { stats.byes[bye.reason] = counted[bye] ?? 0 }
        let greeted = hellos.withLock { $0 }
        for label in ClientLabel.allCases { stats.hellos[label] = greeted[label] ?? 0 }
        return stats
    }
}

extension Atomic<Int> {
    func add(_ amount: Int) {
        wrappingAdd(amount, ordering: .relaxed)
    }
}
