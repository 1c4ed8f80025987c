import NIOCore
import NIOPosix

/// The pairs of one event loop: schedules their life cycles, and counts. Everything here runs on that loop.
final class CallsWorker {
    /// A life cycle that takes longer fails.
    private static let lifeCycleTimeout: UInt64 = 15_000_000_000
    private static let tick = TimeAmount.milliseconds(2)

    private let loop: any EventLoop
    private let progress: CallsProgress
    /// Life cycles a second; nil for one after the other.
    private let rate: Double?
    private var pairs: [CallsPair] = []
    private var idle: [CallsPair] = []
    private var waiting: EventLoopPromise<Void>?
    private var ticker: RepeatedTask?
    private var startedAt: UInt64 = 0
    private var begun = 0
    private var isMeasuring = false
    private(set) var isStopped = false
    private var counters = CallsCounters()

    init(loop: any EventLoop, rate: Double?, progress: CallsProgress) {
        self.loop = loop
        self.rate = rate
        self.progress = progress
    }

    /// Connects two users, and completes when both have subscribed.
    func connect(_ people: [VirtualUser], to target: TargetServer) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        waiting = promise
        let connections = people.map { RealtimeConnection($0, target: target) }
        pairs.append(CallsPair(connections[0], connections[1], worker: self))
        for connection in connections {
            connection.connect(on: loop).whenFailure { error in promise.fail(error) }
        }
        return promise.futureResult
    }

    func became(ready pair: CallsPair) {
        idle.append(pair)
        waiting?.succeed()
        waiting = nil
    }

    /// Starts to begin life cycles.
    func start() {
        startedAt = CallsClock.now
        if rate == nil { for pair in idle { begin(pair, due: startedAt, at: startedAt) } }
        if rate == nil { idle = [] }
        let bound = NIOLoopBound(self, eventLoop: loop)
        ticker = loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.tick) { _ in bound.value.beginDue() }
    }

    /// Starts the measurement.
    func measure() {
        counters = CallsCounters()
        isMeasuring = true
    }

    /// Ends the measurement and closes the connections.
    func stop() -> CallsCounters {
        isMeasuring = false
        isStopped = true
        ticker?.cancel()
        for pair in pairs { pair.close() }
        return counters
    }

    func record(_ step: CallsStep, since: UInt64, to now: UInt64) {
        if isMeasuring { counters.record(step, nanoseconds: now &- since) }
    }

    func count(error: String) {
        counters.errors[error, default: 0] += 1
        progress.countError()
        waiting?.fail(CallsFailure(what: error))
        waiting = nil
    }

    func finished(_ pair: CallsPair) {
        progress.countLifeCycle()
        if isMeasuring { counters.lifeCycles += 1 }
        next(pair)
    }

    func gaveUp(_ pair: CallsPair) { next(pair) }

    func broke(_ pair: CallsPair) { idle.removeAll { $0 === pair } }

    private func next(_ pair: CallsPair) {
        guard !isStopped, !pair.isBroken else { return }
        if rate == nil {
            let now = CallsClock.now
            begin(pair, due: now, at: now)
        } else {
            idle.append(pair)
        }
    }

    private func beginDue() {
        let now = CallsClock.now
        for pair in pairs { if let began = pair.began, now - began > Self.lifeCycleTimeout { pair.expire() } }
        guard let rate, !isStopped else { return }
        while !idle.isEmpty {
            let due = startedAt + UInt64(Double(begun) / rate * 1e9)
            guard due <= now else { break }
            begin(idle.removeFirst(), due: due, at: now)
            begun += 1
        }
    }

    private func begin(_ pair: CallsPair, due: UInt64, at now: UInt64) {
        pair.begin(due: due, at: now)
    }
}

/// Why a run could not start.
struct CallsFailure: Error, CustomStringConvertible {
    var what: String
    var description: String { what }
}
