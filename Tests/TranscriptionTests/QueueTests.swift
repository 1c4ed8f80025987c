import Synchronization
import TestSupport
import Testing

@testable import Transcription

/// A provider that a test controls: each request waits until the test responds.
private final class ManualTranscriber: Transcriber {
    private struct State {
        var requested: [Int16] = []
        var deadlines: [ContinuousClock.Instant] = []
        var waiting: [(Int16, CheckedContinuation<Result<Transcript, TranscriptionFailure>, Never>)] = []
        var watchers: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    let identity: String
    var name: String { identity }

    init(identity: String = "hand") { self.identity = identity }

    /// The requests so far, by their first samples.
    var requested: [Int16] { state.withLock { $0.requested } }
    var deadlines: [ContinuousClock.Instant] { state.withLock { $0.deadlines } }

    func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let name = audio.samples.first ?? 0
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watchers = state.withLock { state in
                    state.requested.append(name)
                    state.deadlines.append(deadline)
                    state.waiting.append((name, continuation))
                    let count = state.requested.count
                    defer { state.watchers.removeAll { $0.0 <= count } }
                    return state.watchers.filter { $0.0 <= count }
                }
                for watcher in watchers { watcher.1.resume() }
                if Task.isCancelled { respond(name, .failure(.cancelled)) }
            }
        } onCancel: {
            respond(name, .failure(.cancelled))
        }
        return try result.get()
    }

    /// Waits until there were so many requests.
    func requested(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.requested.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func respond(_ name: Int16, _ result: Result<Transcript, TranscriptionFailure>) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.0 == name }.map { state.waiting.remove(at: $0).1 }
        }
        waiting?.resume(returning: result)
    }
}

extension ManualClock<ContinuousClock.Instant> {
    fileprivate var clock: QueueClock {
        QueueClock(now: { self.now }, sleep: { try await self.sleep(until: $0) }, random: { 0.5 })
    }
}

@Suite("Queue of transcription", .timeLimit(.minutes(1)))
struct QueueTests {
    private let provider = ManualTranscriber()
    private let time = ManualClock<ContinuousClock.Instant>()

    private func queue(
        running: Int = 1, waiting: Int = 10, cache: any TranscriptCache = MemoryTranscriptCache(),
        accounting: Allowance? = nil
    ) -> TranscriptionQueue {
        var limits = TranscriptionQueue.Limits()
        limits.running = running
        limits.waiting = waiting
        return TranscriptionQueue(
            provider, cache: cache, accounting: accounting, limits: limits, clock: time.clock)
    }

    private func audio(_ name: Int16) -> SpeechAudio { SpeechAudio(Array(repeating: name, count: 16_000)) }
    private func transcript(_ text: String) -> Transcript { Transcript(language: nil, text: text, segments: []) }

    private func ask(
        _ queue: TranscriptionQueue, _ name: Int16, _ priority: TranscriptionPriority = .recorded,
        within timeout: Duration = .seconds(300)
    ) -> Task<Result<Transcript, TranscriptionFailure>, Never> {
        Task {
            do throws(TranscriptionFailure) {
                return .success(
                    try await queue.transcribe(
                        audio(name), for: .speaker, priority: priority, within: timeout))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Waits until the queue satisfies a condition.
    private func until(_ queue: TranscriptionQueue, _ condition: (TranscriptionStats) -> Bool) async {
        while !condition(await queue.stats) { await Task.yield() }
    }

    @Test("captions go before recordings, and each in the order of arrival") func priorities() async {
        let queue = queue()
        var tasks = [ask(queue, 1)]
        await provider.requested(1)
        for (number, priority) in [TranscriptionPriority.recorded, .recorded, .live, .live].enumerated() {
            tasks.append(ask(queue, Int16(number + 2), priority))
            await until(queue) { $0.waiting == number + 1 }
        }
        for (count, name) in [Int16(1), 4, 5, 2, 3].enumerated() {
            await provider.requested(count + 1)
            #expect(provider.requested.last == name)
            provider.respond(name, .success(transcript("\(name)")))
        }
        for (number, task) in tasks.enumerated() { #expect(await task.value == .success(transcript("\(number + 1)"))) }
        let stats = await queue.stats
        #expect(stats.waiting == 0 && stats.running == 0)
        #expect(stats.outcomes == ["done": 5])
        #expect(stats.milliseconds == 5_000)
    }

    @Test("while there are captions a slot is reserved for them, until a minute after the last")
    func reserved() async {
        let queue = queue(running: 2)
        let caption = ask(queue, 1, .live)
        await provider.requested(1)
        provider.respond(1, .success(transcript("")))
        _ = await caption.value
        let recordings = (2...5).map { ask(queue, Int16($0)) }
        await provider.requested(2)
        await until(queue) { $0.running == 1 && $0.waiting == 3 }
        let next = ask(queue, 6, .live)
        await provider.requested(3)
        #expect(provider.requested.last == 6)
        provider.respond(6, .success(transcript("")))
        _ = await next.value
        #expect(await queue.stats.running == 1)
        time.advance(by: .seconds(60))
        if let first = provider.requested.dropFirst().first { provider.respond(first, .success(transcript(""))) }
        await provider.requested(5)
        #expect(await queue.stats.running == 2)
        for name in provider.requested.suffix(2) { provider.respond(name, .success(transcript(""))) }
        await provider.requested(6)
        if let last = provider.requested.last { provider.respond(last, .success(transcript(""))) }
        for recording in recordings { #expect(await recording.value == .success(transcript(""))) }
    }

    @Test("a full queue rejects at once; finished jobs free their slots") func full() async {
        let queue = queue(running: 2, waiting: 1)
        let tasks = (1...3).map { ask(queue, Int16($0)) }
        await until(queue) { $0.running == 2 && $0.waiting == 1 }
        #expect(await ask(queue, 4).value == .failure(.queueFull))
        time.advance(by: .seconds(5))
        #expect(await queue.stats.oldest == .seconds(5))
        await provider.requested(2)
        for name in provider.requested { provider.respond(name, .success(transcript(""))) }
        await provider.requested(3)
        for name in provider.requested { provider.respond(name, .success(transcript(""))) }
        for task in tasks { #expect(await task.value == .success(transcript(""))) }
        let again = ask(queue, 5)
        await provider.requested(4)
        provider.respond(5, .success(transcript("five")))
        #expect(await again.value == .success(transcript("five")))
    }

    @Test("retries wait a random part of a time that doubles, and at least as long as requested")
    func retries() async {
        let queue = queue()
        let task = ask(queue, 1)
        let failures: [(TranscriptionFailure, Duration)] = [
            (.refused(status: 500, reason: "", retryAfter: nil), .milliseconds(250)), (.timedOut, .milliseconds(500)),
            (.refused(status: 429, reason: "", retryAfter: .seconds(7)), .seconds(7)),
        ]
        for (number, (failure, pause)) in failures.enumerated() {
            await provider.requested(number + 1)
            provider.respond(1, .failure(failure))
            await until(queue) { $0.retries == number + 1 }
            while time.deadlines.isEmpty { await Task.yield() }
            #expect(time.deadlines == [time.now + pause])
            #expect(await queue.stats.running == 0)
            time.advance(by: pause)
        }
        await provider.requested(4)
        provider.respond(1, .success(transcript("at last")))
        #expect(await task.value == .success(transcript("at last")))
    }

    @Test("retries end: by their number, by what failed, and by the time that is left") func retriesEnd() async {
        let queue = queue()
        let many = ask(queue, 1)
        for count in 1...4 {
            await provider.requested(count)
            provider.respond(1, .failure(.unreachable("\(count)")))
            if count < 4 {
                while time.deadlines.isEmpty { await Task.yield() }
                time.advance(by: .seconds(30))
            }
        }
        #expect(await many.value == .failure(.unreachable("4")))
        let hopeless = ask(queue, 2)
        await provider.requested(5)
        provider.respond(2, .failure(.invalidResponse("none")))
        #expect(await hopeless.value == .failure(.invalidResponse("none")))
        let short = ask(queue, 3, within: .seconds(5))
        await provider.requested(6)
        provider.respond(3, .failure(.refused(status: 503, reason: "", retryAfter: .seconds(60))))
        #expect(await short.value == .failure(.refused(status: 503, reason: "", retryAfter: .seconds(60))))
        #expect(await queue.stats.outcomes == ["unreachable": 1, "bad_answer": 1, "refused": 1])
    }

    @Test("a job that waits too long times out, and an attempt has no more time than the job") func deadlines() async {
        let queue = queue()
        let first = ask(queue, 1)
        await provider.requested(1)
        #expect(provider.deadlines == [time.now + .seconds(60)])
        let late = ask(queue, 2, within: .seconds(10))
        await until(queue) { $0.waiting == 1 }
        while time.deadlines.isEmpty { await Task.yield() }
        time.advance(by: .seconds(10))
        #expect(await late.value == .failure(.timedOut))
        let next = ask(queue, 3, within: .seconds(20))
        await until(queue) { $0.waiting == 1 }
        provider.respond(1, .success(transcript("")))
        _ = await first.value
        await provider.requested(2)
        #expect(provider.deadlines.last == time.now + .seconds(20))
        provider.respond(3, .success(transcript("")))
        _ = await next.value
        #expect(provider.requested == [1, 3])
    }

    @Test("a cancelled job is removed while it runs, waits for a slot, or for a retry") func cancelled() async {
        let queue = queue()
        let running = ask(queue, 1)
        await provider.requested(1)
        let waiting = ask(queue, 2)
        await until(queue) { $0.waiting == 1 }
        waiting.cancel()
        #expect(await waiting.value == .failure(.cancelled))
        running.cancel()
        #expect(await running.value == .failure(.cancelled))
        let failed = ask(queue, 3)
        await provider.requested(2)
        provider.respond(3, .failure(.timedOut))
        await until(queue) { $0.retries == 1 }
        failed.cancel()
        #expect(await failed.value == .failure(.cancelled))
        await until(queue) { $0.waiting == 0 && $0.running == 0 }
        let after = ask(queue, 4)
        await provider.requested(3)
        provider.respond(4, .success(transcript("four")))
        #expect(await after.value == .success(transcript("four")))
        #expect(time.deadlines.isEmpty)
    }

    @Test("it shuts down at once") func close() async {
        let queue = queue()
        let running = ask(queue, 1)
        await provider.requested(1)
        provider.respond(1, .failure(.timedOut))
        await until(queue) { $0.retries == 1 }
        let second = ask(queue, 2)
        await provider.requested(2)
        let waiting = ask(queue, 3)
        await until(queue) { $0.waiting == 2 }
        await queue.close()
        for task in [running, second, waiting] { #expect(await task.value == .failure(.shutDown)) }
        #expect(await ask(queue, 4).value == .failure(.shutDown))
    }

    @Test("the same audio is transcribed once for each language and provider")
    func cache() async throws {
        let cache = MemoryTranscriptCache()
        let queue = queue(cache: cache)
        let first = ask(queue, 1)
        await provider.requested(1)
        provider.respond(1, .success(transcript("one")))
        _ = await first.value
        #expect(await ask(queue, 1).value == .success(transcript("one")))
        #expect(provider.requested == [1])
        #expect(await queue.stats.outcomes == ["done": 1, "cached": 1])
        let keys = [
            TranscriptKey(audio(1), identity: "a", language: nil),
            TranscriptKey(audio(1), identity: "b", language: nil),
            TranscriptKey(audio(1), identity: "a", language: "en"),
            TranscriptKey(audio(2), identity: "a", language: nil),
        ]
        #expect(Set(keys).count == 4)
        let long = SpeechAudio(Array(repeating: 0, count: 16_000 * 601))
        await #expect(throws: TranscriptionFailure.tooLong(limit: .seconds(600))) {
            try await queue.transcribe(long, for: .speaker)
        }
    }

    @Test("each attempt is reserved before the provider gets anything, and is settled with how it ended")
    func accounts()
        async
    {
        let allowance = Allowance(2_500)
        let queue = queue(accounting: allowance)
        let first = ask(queue, 1)
        await provider.requested(1)
        #expect(allowance.begun == [.init(milliseconds: 1_000, provider: "hand", payer: .speaker)])
        #expect(allowance.ends.isEmpty)
        provider.respond(1, .success(transcript("one")))
        #expect(await first.value == .success(transcript("one")))
        #expect(allowance.ends == [nil])
        // From the cache it is free.
        #expect(await ask(queue, 1).value == .success(transcript("one")))
        // What was refused is tried again on what was given back: two attempts would be too many.
        let busy = TranscriptionFailure.refused(status: 503, reason: "", retryAfter: nil)
        let second = ask(queue, 2)
        await provider.requested(2)
        provider.respond(2, .failure(busy))
        while time.deadlines.isEmpty { await Task.yield() }
        time.advance(by: .seconds(30))
        await provider.requested(3)
        provider.respond(2, .success(transcript("two")))
        #expect(await second.value == .success(transcript("two")))
        #expect(allowance.ends == [nil, busy, nil])
        // Half a second is left, and the slot is free after the refusal.
        #expect(await ask(queue, 3).value == .failure(.budgetExhausted))
        #expect(await ask(queue, 4).value == .failure(.budgetExhausted))
        #expect(provider.requested == [1, 2, 2])
        #expect(allowance.begun.count == 3)
        let stats = await queue.stats
        #expect(stats.running == 0 && stats.waiting == 0 && stats.outcomes["budget_exhausted"] == 2)
    }

    @Test("an attempt that is cancelled is settled") func cancelledAccount() async {
        let allowance = Allowance(10_000)
        let queue = queue(accounting: allowance)
        let task = ask(queue, 1)
        await provider.requested(1)
        task.cancel()
        _ = await task.value
        #expect(allowance.ends == [.cancelled])
    }

    @Test("the cache in memory keeps the latest, within its bounds") func bounded() {
        let cache = MemoryTranscriptCache(count: 3, byteCount: 1_000)
        let keys = (0..<5).map { TranscriptKey(audio($0), identity: "", language: nil) }
        for key in keys { cache.keep(transcript("short"), for: key) }
        #expect(keys.map { cache.transcript(for: $0) != nil } == [false, false, true, true, true])
        cache.keep(transcript(String(repeating: "x", count: 850)), for: keys[4])
        #expect(keys.map { cache.transcript(for: $0) != nil } == [false, false, false, false, true])
        cache.keep(transcript(String(repeating: "x", count: 2_000)), for: keys[0])
        #expect(cache.transcript(for: keys[0]) == nil)
    }

    @Test("many at once, some cancelled, some failing: nothing is left behind and no slot is lost") func storm() async {
        let queue = TranscriptionQueue(
            Moody(), accounting: nil,
            limits: {
                var limits = TranscriptionQueue.Limits()
                limits.running = 3
                limits.waiting = 500
                limits.retryPolicy.initialDelay = .milliseconds(1)
                return limits
            }())
        let tasks = (0..<400).map { ask(queue, Int16($0), $0 % 3 == 0 ? .live : .recorded) }
        for (number, task) in tasks.enumerated() where number % 7 == 0 { task.cancel() }
        for task in tasks { _ = await task.value }
        let stats = await queue.stats
        #expect(stats.waiting == 0 && stats.running == 0)
        #expect(stats.outcomes.values.reduce(0, +) == 400)
        #expect(Moody.most.withLock { $0 } <= 3)
        #expect(await ask(queue, 1_000).value == .success(transcript("1000")))
    }
}

/// Fails at random, and counts concurrent requests.
private struct Moody: Transcriber {
    static let most = Mutex(0)
    private static let busy = Mutex(0)
    var identity: String { "moody" }
    var name: String { "moody" }

    func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let busy = Self.busy.withLock { busy in
            busy += 1
            return busy
        }
        Self.most.withLock { $0 = max($0, busy) }
        defer { Self.busy.withLock { $0 -= 1 } }
        await Task.yield()
        let name = audio.samples.first ?? 0
        if name < 1_000, Int.random(in: 0..<3) == 0 { throw .timedOut }
        return Transcript(language: nil, text: "\(name)", segments: [])
    }
}
