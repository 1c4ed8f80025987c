import DatagramIO
import Foundation
import Histogram
import Synchronization
import Wire

/// When one publisher came to the end of what it says, each time.
final class SpeechLog: Sendable {
    struct End: Hashable, Sendable {
        /// Seconds since 1970, to find it by what others say of it.
        let wallClock: Double
        /// Nanoseconds of the monotonic clock.
        let at: UInt64
    }

    /// Seconds: the way of a packet, and that a caption may begin and end beside its words.
    private static let tolerance = 0.5

    private let ends = Mutex<[End]>([])

    func note() {
        let end = End(wallClock: Date().timeIntervalSince1970, at: SystemClock.now().nanoseconds)
        ends.withLock { $0.append(end) }
    }

    /// The end that is meant by this time, in seconds since 1970. Nil where it is none: in the middle of what is said,
    /// behind which a pause was taken for the end.
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

/// Has every call of a run captioned, and times from the end of what is said to its caption.
final class CallCaptions: Sendable {
    /// What was said last has its caption by then, unless it has none.
    private static let patience = Duration.seconds(10)

    private let http: MediaHTTP
    private let logs = Mutex<[String: SpeechLog]>([:])
    private let tally = Mutex(CaptionTally())
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let began = Mutex<UInt64>(0)

    init(_ http: MediaHTTP) { self.http = http }

    /// Where a participant's publisher notes what it has said.
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
        guard let seat = call.seats.first else { return }
        do {
            struct Called: Decodable {}
            let _: Called = try await http.post("/v1/calls/\(call.id)/captions", [String: String](), seat.headers)
            tally.withLock { $0.calls += 1 }
        } catch let error as MediaFailure where error.isRefusal {
            return tally.withLock { $0.refused["\(error)", default: 0] += 1 }
        } catch {
            return count("\(error)")
        }
        let stream = CaptionStream(http: http, call: call.id, seat: seat)
        let (listening, told) = AsyncStream<Void>.makeStream()
        let task = Task {
            do {
                try await stream.run { news in
                    if case .listening = news { told.finish() }
                    self.take(news)
                }
            } catch {
                if !Task.isCancelled { self.count("\(error)") }
                told.finish()
            }
        }
        tasks.withLock { $0.append(task) }
        for await _ in listening {}
    }

    private func take(_ news: CaptionStream.News) {
        let now = SystemClock.now().nanoseconds
        switch news {
        case .listening: break
        case .failure(let failure): tally.withLock { $0.failures[failure, default: 0] += 1 }
        case .caption(let caption):
            let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            guard let start = try? format.parse(caption.startedAt) else { return count("a caption without a time") }
            let end = log(caption.user).end(near: start.timeIntervalSince1970 + Double(caption.durationMs) / 1000)
            tally.withLock { tally in
                tally.captions += 1
                if tally.example.isEmpty { tally.example = caption.text }
                guard let end, end.at <= now else {
                    tally.partial += 1
                    return
                }
                MediaTally.record(now - end.at, in: &tally.latency)
            }
        }
    }

    /// Waits for what is still to come, and returns what came.
    func end(_ calls: [MediaCall]) async -> CaptionTally {
        let silence = SystemClock.now().nanoseconds
        try? await Task.sleep(for: Self.patience)
        for task in tasks.withLock({ $0 }) { task.cancel() }
        for call in calls {
            struct Called: Decodable {}
            guard let seat = call.seats.first else { continue }
            do {
                let _: Called = try await http.remove("/v1/calls/\(call.id)/captions", seat.headers)
            } catch {
                count("\(error)")
            }
        }
        let start = began.withLock { $0 }
        let said = logs.withLock { $0.values.reduce(0) { $0 + $1.count(since: start, until: silence) } }
        return tally.withLock { tally in
            tally.said = said
            return tally
        }
    }

    private func count(_ problem: String) {
        tally.withLock { $0.errors[problem, default: 0] += 1 }
    }
}

/// What became of the captions of a run.
struct CaptionTally: Sendable {
    var calls = 0
    var refused: [String: Int] = [:]
    /// How often somebody came to the end of what they say.
    var said = 0
    var captions = 0
    /// Those that end in the middle of what somebody says, whose time is not taken.
    var partial = 0
    /// The first of them.
    var example = ""
    /// What the calls said was wrong.
    var failures: [String: Int] = [:]
    /// From the last packet of what was said, in microseconds.
    var latency = MediaTally.times
    var errors: [String: Int] = [:]
}
