import DatagramIO
import Foundation
import Histogram
import Synchronization
import Wire

/// The times at which one publisher finished its speech.
final class SpeechLog: Sendable {
    struct End: Hashable, Sendable {
        /// Seconds since 1970, to match it with captions.
        let wallClock: Double
        /// Nanoseconds of the monotonic clock.
        let at: UInt64
    }

    /// In seconds: the latency of a packet, and the imprecision of the times of a caption.
    private static let tolerance = 0.5

    private let ends = Mutex<[End]>([])

    func note() {
        let end = End(wallClock: Date().timeIntervalSince1970, at: SystemClock.now().nanoseconds)
        ends.withLock { $0.append(end) }
    }

    /// The end that is nearest to this time, in seconds since 1970. Nil if none is near: then the caption ended at a
    /// pause in the middle of the speech.
    func end(near wallClock: Double) -> End? {
        ends.withLock { ends in
            ends.min { abs($0.wallClock - wallClock) < abs($1.wallClock - wallClock) }
                .flatMap { abs($0.wallClock - wallClock) <= Self.tolerance ? $0 : nil }
        }
    }

    func count(since: UInt64, until: UInt64) -> Int {
        ends.withLock { $0.count { $0.at >= since && $0.at < until } }
    }
}

/// Has every call of a run captioned, and measures the time from the end of a speech to its caption.
final class CallCaptions: Sendable {
    /// How long to wait for the last captions.
    private static let timeout = Duration.seconds(10)

    private let http: MediaHTTP
    private let logs = Mutex<[String: SpeechLog]>([:])
    private let counters = Mutex(CaptionCounters())
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let began = Mutex<UInt64>(0)

    init(_ http: MediaHTTP) { self.http = http }

    /// The log of a participant's publisher.
    func log(_ user: String) -> SpeechLog {
        logs.withLock { logs in
            if let log = logs[user] { return log }
            let log = SpeechLog()
            logs[user] = log
            return log
        }
    }

    func begin(_ calls: [MediaCall]) async {
        for call in calls { await begin(call) }
        began.withLock { $0 = SystemClock.now().nanoseconds }
    }

    private func begin(_ call: MediaCall) async {
        guard let member = call.members.first else { return }
        do {
            struct Called: Decodable {}
            let _: Called = try await http.post("/v1/calls/\(call.id)/captions", [String: String](), member.headers)
            counters.withLock { $0.calls += 1 }
        } catch let error as MediaFailure where error.isRejection {
            return counters.withLock { $0.refused["\(error)", default: 0] += 1 }
        } catch {
            return count("\(error)")
        }
        let stream = CaptionStream(http: http, call: call.id, member: member)
        let (listening, started) = AsyncStream<Void>.makeStream()
        let task = Task {
            do {
                try await stream.run { event in
                    if case .listening = event { started.finish() }
                    self.handle(event)
                }
            } catch {
                if !Task.isCancelled { self.count("\(error)") }
                started.finish()
            }
        }
        tasks.withLock { $0.append(task) }
        for await _ in listening {}
    }

    private func handle(_ event: CaptionStream.Event) {
        let now = SystemClock.now().nanoseconds
        switch event {
        case .listening: break
        case .failure(let failure): counters.withLock { $0.failures[failure, default: 0] += 1 }
        case .caption(let caption):
            let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            guard let start = try? format.parse(caption.startedAt) else { return count("a caption without a time") }
            let end = log(caption.user).end(near: start.timeIntervalSince1970 + Double(caption.durationMs) / 1000)
            counters.withLock { counters in
                counters.captions += 1
                if counters.example.isEmpty { counters.example = caption.text }
                guard let end, end.at <= now else {
                    counters.partial += 1
                    return
                }
                MediaCounters.record(now - end.at, in: &counters.latency)
            }
        }
    }

    /// Waits for the last captions, and returns the results.
    func end(_ calls: [MediaCall]) async -> CaptionCounters {
        let silence = SystemClock.now().nanoseconds
        try? await Task.sleep(for: Self.timeout)
        for task in tasks.withLock({ $0 }) { task.cancel() }
        for call in calls {
            struct Called: Decodable {}
            guard let member = call.members.first else { continue }
            do {
                let _: Called = try await http.remove("/v1/calls/\(call.id)/captions", member.headers)
            } catch {
                count("\(error)")
            }
        }
        let start = began.withLock { $0 }
        let said = logs.withLock { $0.values.reduce(0) { $0 + $1.count(since: start, until: silence) } }
        return counters.withLock { counters in
            counters.said = said
            return counters
        }
    }

    private func count(_ problem: String) {
        counters.withLock { $0.errors[problem, default: 0] += 1 }
    }
}

/// The results of the captions of a run.
struct CaptionCounters: Sendable {
    var calls = 0
    var refused: [String: Int] = [:]
    /// How many speeches were finished.
    var said = 0
    var captions = 0
    /// Captions that end in the middle of a speech, which are not timed.
    var partial = 0
    /// The first of them.
    var example = ""
    /// The failures that calls reported.
    var failures: [String: Int] = [:]
    /// From the last packet of a speech, in microseconds.
    var latency = MediaCounters.times
    var errors: [String: Int] = [:]
}
