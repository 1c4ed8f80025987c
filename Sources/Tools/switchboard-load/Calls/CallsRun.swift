import NIOCore
import NIOPosix
import Synchronization

/// The progress of a run, which the workers count for the progress bar.
final class CallsProgress: Sendable {
    private let lifeCycles = Atomic<Int>(0)
    private let errors = Atomic<Int>(0)

    func countLifeCycle() { lifeCycles.wrappingAdd(1, ordering: .relaxed) }
    func countError() { errors.wrappingAdd(1, ordering: .relaxed) }
    var counts: (lifeCycles: Int, errors: Int) {
        (lifeCycles.load(ordering: .relaxed), errors.load(ordering: .relaxed))
    }
}

/// One run: connect everybody, warm up, measure.
struct CallsRun: Sendable {
    var target: TargetServer
    var people: [VirtualUser]
    var rate: Double?
    var duration: Double
    var warmUp: Double
    var processID: Int?

    func run(on group: MultiThreadedEventLoopGroup) async throws -> CallsReport {
        let progress = CallsProgress()
        let loops = Array(group.makeIterator())
        let bar = ProgressBar()
        var workers: [NIOLoopBound<CallsWorker>] = []
        let share = rate.map { $0 / Double(loops.count) }
        for loop in loops {
            workers.append(
                try await loop.submit {
                    NIOLoopBound(CallsWorker(loop: loop, rate: share, progress: progress), eventLoop: loop)
                }.get())
        }
        try await connect(workers, loops, bar)
        for (loop, worker) in zip(loops, workers) { try await loop.submit { worker.value.start() }.get() }
        try await pass(warmUp, "warming up", bar, progress)

        let before = try processID.map { try ProcessTimes(of: $0) }
        let ownBefore = try ProcessTimes(of: nil)
        let start = CallsClock.now
        for (loop, worker) in zip(loops, workers) { try await loop.submit { worker.value.measure() }.get() }
        try await pass(duration, "measuring", bar, progress)
        let after = try processID.map { try ProcessTimes(of: $0) }
        let ownAfter = try ProcessTimes(of: nil)
        let seconds = Double(CallsClock.now - start) / 1e9

        var counters = CallsCounters()
        for (loop, worker) in zip(loops, workers) { counters.add(try await loop.submit { worker.value.stop() }.get()) }
        bar.clear()
        let server = before.flatMap { before in after.map { $0.since(before) } }
        return CallsReport(
            counters: counters, seconds: seconds, users: people.count, rate: rate, server: server,
            generator: ownAfter.since(ownBefore))
    }

    /// Connects a few at a time, so that the server's listen backlog does not overflow.
    private func connect(_ workers: [NIOLoopBound<CallsWorker>], _ loops: [any EventLoop], _ bar: ProgressBar)
        async throws
    {
        var connected = 0
        for first in stride(from: 0, to: people.count, by: 2) {
            let index = first / 2 % loops.count
            let worker = workers[index]
            let two = [people[first], people[first + 1]]
            try await loops[index].flatSubmit { [target] in worker.value.connect(two, to: target) }.get()
            connected += 2
            bar.show(Double(connected) / Double(people.count), "connecting \(connected) of \(people.count)")
        }
    }

    private func pass(_ seconds: Double, _ what: String, _ bar: ProgressBar, _ progress: CallsProgress) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var last = progress.counts
        while true {
            let passed =
                Double((clock.now - start).components.attoseconds) / 1e18
                + Double((clock.now - start).components.seconds)
            guard passed < seconds else { return }
            try await clock.sleep(for: .seconds(min(0.5, seconds - passed)))
            let counts = progress.counts
            let pace = (counts.lifeCycles - last.lifeCycles) * 2
            last = counts
            bar.show(min(1, passed / seconds), "\(what): \(pace) life cycles/s, \(counts.errors) errors")
        }
    }
}
