import Synchronization
import Testing

@testable import Transcription

/// A provider that a test leads by the hand: each request waits until it is answered.
private final class HandLed: Transcriber {
    private struct State {
        var asked: [Int16] = []
        var deadlines: [ContinuousClock.Instant] = []
        var waiting: [(Int16, CheckedContinuation<Result<Transcript, TranscriptionFailure>, Never>)] = []
        var watchers: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    let identity: String

    init(identity: String = "hand") { self.identity = identity }

    /// What was asked for so far, by first samples.
    var asked: [Int16] { state.withLock { $0.asked } }
    var deadlines: [ContinuousClock.Instant] { state.withLock { $0.deadlines } }

    func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let name = audio.samples.first ?? 0
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watchers = state.withLock { state in
                    state.asked.append(name)
                    state.deadlines.append(deadline)
                    state.waiting.append((name, continuation))
                    let count = state.asked.count
                    defer { state.watchers.removeAll { $0.0 <= count } }
                    return state.watchers.filter { $0.0 <= count }
                }
                for watcher in watchers { watcher.1.resume() }
                if Task.isCancelled { answer(name, .failure(.cancelled)) }
            }
        } onCancel: {
            answer(name, .failure(.cancelled))
        }
        return try result.get()
    }

    /// Until it was asked so many times.
    func asked(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.asked.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func answer(_ name: Int16, _ result: Result<Transcript, TranscriptionFailure>) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.0 == name }.map { state.waiting.remove(at: $0).1 }
        }
        waiting?.resume(returning: result)
    }
}

/// Time that stands still until it is moved.
private final class HeldClock: Sendable {
    private struct State {
        var now: ContinuousClock.Instant = .now
        var sleepers: [UInt64: (ContinuousClock.Instant, CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<UInt64> = []
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    var now: ContinuousClock.Instant { state.withLock { $0.now } }
    /// When those who sleep want to wake, the soonest first.
    var alarms: [ContinuousClock.Instant] { state.withLock { $0.sleepers.values.map(\.0).sorted() } }

    var clock: QueueClock {
        QueueClock(now: { self.now }, sleep: { try await self.sleep(until: $0) }, chance: { 0.5 })
    }

    func move(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let now = state.now
            let due = state.sleepers.filter { $0.value.0 <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.1)
        }
        for continuation in woken { continuation.resume() }
    }

    private func sleep(until instant: ContinuousClock.Instant) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if state.now >= instant { return .success(()) }
                    state.sleepers[id] = (instant, continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.1.resume(throwing: CancellationError())
        }
    }
}

@Suite("Queue of transcription", .timeLimit(.minutes(1)))
struct QueueTests {
    private let hand = HandLed()
    private let time = HeldClock()

    private func queue(
        running: Int = 1, waiting: Int = 10, cache: any TranscriptCache = MemoryTranscriptCache()
    ) -> TranscriptionQueue {
        var limits = TranscriptionQueue.Limits()
        limits.running = running
        limits.waiting = waiting
        return TranscriptionQueue(hand, cache: cache, limits: limits, clock: time.clock)
    }

    private func sound(_ name: Int16) -> SpeechAudio { SpeechAudio(Array(repeating: name, count: 16_000)) }
    private func words(_ text: String) -> Transcript { Transcript(language: nil, text: text, segments: []) }

    private func ask(
        _ queue: TranscriptionQueue, _ name: Int16, _ priority: TranscriptionPriority = .recorded,
        within patience: Duration = .seconds(300)
    ) -> Task<Result<Transcript, TranscriptionFailure>, Never> {
        Task {
            do throws(TranscriptionFailure) {
                return .success(try await queue.transcribe(sound(name), priority: priority, within: patience))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Until the queue is as it should be; what leads there has begun.
    private func until(_ queue: TranscriptionQueue, _ isSo: (TranscriptionFigures) -> Bool) async {
        while !isSo(await queue.figures) { await Task.yield() }
    }

    @Test("captions go before recordings, and each in the order of coming") func priorities() async {
        let queue = queue()
        var tasks = [ask(queue, 1)]
        await hand.asked(1)
        for (number, priority) in [TranscriptionPriority.recorded, .recorded, .live, .live].enumerated() {
            tasks.append(ask(queue, Int16(number + 2), priority))
            await until(queue) { $0.waiting == number + 1 }
        }
        for (count, name) in [Int16(1), 4, 5, 2, 3].enumerated() {
            await hand.asked(count + 1)
            #expect(hand.asked.last == name)
            hand.answer(name, .success(words("\(name)")))
        }
        for (number, task) in tasks.enumerated() { #expect(await task.value == .success(words("\(number + 1)"))) }
        let figures = await queue.figures
        #expect(figures.waiting == 0 && figures.running == 0)
        #expect(figures.outcomes == ["done": 5])
        #expect(figures.milliseconds == 5_000)
    }

    @Test("while there are captions a slot is kept for them, and given back a minute after the last")
    func reserved() async {
        let queue = queue(running: 2)
        let caption = ask(queue, 1, .live)
        await hand.asked(1)
        hand.answer(1, .success(words("")))
        _ = await caption.value
        let recordings = (2...5).map { ask(queue, Int16($0)) }
        await hand.asked(2)
        await until(queue) { $0.running == 1 && $0.waiting == 3 }
        let next = ask(queue, 6, .live)
        await hand.asked(3)
        #expect(hand.asked.last == 6)
        hand.answer(6, .success(words("")))
        _ = await next.value
        #expect(await queue.figures.running == 1)
        time.move(by: .seconds(60))
        if let first = hand.asked.dropFirst().first { hand.answer(first, .success(words(""))) }
        await hand.asked(5)
        #expect(await queue.figures.running == 2)
        for name in hand.asked.suffix(2) { hand.answer(name, .success(words(""))) }
        await hand.asked(6)
        if let last = hand.asked.last { hand.answer(last, .success(words(""))) }
        for recording in recordings { #expect(await recording.value == .success(words(""))) }
    }

    @Test("beyond its length it says so at once; what is done makes room") func full() async {
        let queue = queue(running: 2, waiting: 1)
        let tasks = (1...3).map { ask(queue, Int16($0)) }
        await until(queue) { $0.running == 2 && $0.waiting == 1 }
        #expect(await ask(queue, 4).value == .failure(.queueFull))
        time.move(by: .seconds(5))
        #expect(await queue.figures.oldest == .seconds(5))
        await hand.asked(2)
        for name in hand.asked { hand.answer(name, .success(words(""))) }
        await hand.asked(3)
        for name in hand.asked { hand.answer(name, .success(words(""))) }
        for task in tasks { #expect(await task.value == .success(words(""))) }
        let again = ask(queue, 5)
        await hand.asked(4)
        hand.answer(5, .success(words("five")))
        #expect(await again.value == .success(words("five")))
    }

    @Test("retries wait a random part of a time that doubles, and at least as long as was asked for")
    func retries() async {
        let queue = queue()
        let task = ask(queue, 1)
        let failures: [(TranscriptionFailure, Duration)] = [
            (.refused(status: 500, reason: "", retryAfter: nil), .milliseconds(250)), (.timedOut, .milliseconds(500)),
            (.refused(status: 429, reason: "", retryAfter: .seconds(7)), .seconds(7)),
        ]
        for (number, (failure, pause)) in failures.enumerated() {
            await hand.asked(number + 1)
            hand.answer(1, .failure(failure))
            await until(queue) { $0.retries == number + 1 }
            while time.alarms.isEmpty { await Task.yield() }
            #expect(time.alarms == [time.now + pause])
            #expect(await queue.figures.running == 0)
            time.move(by: pause)
        }
        await hand.asked(4)
        hand.answer(1, .success(words("at last")))
        #expect(await task.value == .success(words("at last")))
    }

    @Test("retries end: by their number, by what failed, and by the time that is left") func retriesEnd() async {
        let queue = queue()
        let many = ask(queue, 1)
        for count in 1...4 {
            await hand.asked(count)
            hand.answer(1, .failure(.unreachable("\(count)")))
            if count < 4 {
                while time.alarms.isEmpty { await Task.yield() }
                time.move(by: .seconds(30))
            }
        }
        #expect(await many.value == .failure(.unreachable("4")))
        let hopeless = ask(queue, 2)
        await hand.asked(5)
        hand.answer(2, .failure(.badAnswer("none")))
        #expect(await hopeless.value == .failure(.badAnswer("none")))
        let short = ask(queue, 3, within: .seconds(5))
        await hand.asked(6)
        hand.answer(3, .failure(.refused(status: 503, reason: "", retryAfter: .seconds(60))))
        #expect(await short.value == .failure(.refused(status: 503, reason: "", retryAfter: .seconds(60))))
        #expect(await queue.figures.outcomes == ["unreachable": 1, "bad_answer": 1, "refused": 1])
    }

    @Test("who waits too long is told, and an attempt has no more time than the job") func deadlines() async {
        let queue = queue()
        let first = ask(queue, 1)
        await hand.asked(1)
        #expect(hand.deadlines == [time.now + .seconds(60)])
        let late = ask(queue, 2, within: .seconds(10))
        await until(queue) { $0.waiting == 1 }
        while time.alarms.isEmpty { await Task.yield() }
        time.move(by: .seconds(10))
        #expect(await late.value == .failure(.timedOut))
        let next = ask(queue, 3, within: .seconds(20))
        await until(queue) { $0.waiting == 1 }
        hand.answer(1, .success(words("")))
        _ = await first.value
        await hand.asked(2)
        #expect(hand.deadlines.last == time.now + .seconds(20))
        hand.answer(3, .success(words("")))
        _ = await next.value
        #expect(hand.asked == [1, 3])
    }

    @Test("who is cancelled leaves: while it runs, waits for its turn, or to be tried again") func cancelled() async {
        let queue = queue()
        let running = ask(queue, 1)
        await hand.asked(1)
        let waiting = ask(queue, 2)
        await until(queue) { $0.waiting == 1 }
        waiting.cancel()
        #expect(await waiting.value == .failure(.cancelled))
        running.cancel()
        #expect(await running.value == .failure(.cancelled))
        let failed = ask(queue, 3)
        await hand.asked(2)
        hand.answer(3, .failure(.timedOut))
        await until(queue) { $0.retries == 1 }
        failed.cancel()
        #expect(await failed.value == .failure(.cancelled))
        await until(queue) { $0.waiting == 0 && $0.running == 0 }
        let after = ask(queue, 4)
        await hand.asked(3)
        hand.answer(4, .success(words("four")))
        #expect(await after.value == .success(words("four")))
        #expect(time.alarms.isEmpty)
    }

    @Test("it shuts down at once") func close() async {
        let queue = queue()
        let running = ask(queue, 1)
        await hand.asked(1)
        hand.answer(1, .failure(.timedOut))
        await until(queue) { $0.retries == 1 }
        let second = ask(queue, 2)
        await hand.asked(2)
        let waiting = ask(queue, 3)
        await until(queue) { $0.waiting == 2 }
        await queue.close()
        for task in [running, second, waiting] { #expect(await task.value == .failure(.shutDown)) }
        #expect(await ask(queue, 4).value == .failure(.shutDown))
    }

    @Test("the same sound is transcribed once; another language, another provider is another matter")
    func cache() async throws {
        let cache = MemoryTranscriptCache()
        let queue = queue(cache: cache)
        let first = ask(queue, 1)
        await hand.asked(1)
        hand.answer(1, .success(words("one")))
        _ = await first.value
        #expect(await ask(queue, 1).value == .success(words("one")))
        #expect(hand.asked == [1])
        #expect(await queue.figures.outcomes == ["done": 1, "cached": 1])
        let keys = [
            TranscriptKey(sound(1), identity: "a", language: nil),
            TranscriptKey(sound(1), identity: "b", language: nil),
            TranscriptKey(sound(1), identity: "a", language: "en"),
            TranscriptKey(sound(2), identity: "a", language: nil),
        ]
        #expect(Set(keys).count == 4)
        let long = SpeechAudio(Array(repeating: 0, count: 16_000 * 601))
        await #expect(throws: TranscriptionFailure.tooLong(limit: .seconds(600))) { try await queue.transcribe(long) }
    }

    @Test("the cache in memory keeps the latest, within its bounds") func bounded() {
        let cache = MemoryTranscriptCache(count: 3, byteCount: 1_000)
        let keys = (0..<5).map { TranscriptKey(sound($0), identity: "", language: nil) }
        for key in keys { cache.keep(words("short"), for: key) }
        #expect(keys.map { cache.transcript(for: $0) != nil } == [false, false, true, true, true])
        cache.keep(words(String(repeating: "x", count: 850)), for: keys[4])
        #expect(keys.map { cache.transcript(for: $0) != nil } == [false, false, false, false, true])
        cache.keep(words(String(repeating: "x", count: 2_000)), for: keys[0])
        #expect(cache.transcript(for: keys[0]) == nil)
    }

    @Test("many at once, some cancelled, some failing: nothing is left behind and no slot is lost") func storm() async {
        let queue = TranscriptionQueue(
            Moody(),
            limits: {
                var limits = TranscriptionQueue.Limits()
                limits.running = 3
                limits.waiting = 500
                limits.patience.first = .milliseconds(1)
                return limits
            }())
        let tasks = (0..<400).map { ask(queue, Int16($0), $0 % 3 == 0 ? .live : .recorded) }
        for (number, task) in tasks.enumerated() where number % 7 == 0 { task.cancel() }
        for task in tasks { _ = await task.value }
        let figures = await queue.figures
        #expect(figures.waiting == 0 && figures.running == 0)
        #expect(figures.outcomes.values.reduce(0, +) == 400)
        #expect(Moody.most.withLock { $0 } <= 3)
        #expect(await ask(queue, 1_000).value == .success(words("1000")))
    }
}

/// Fails now and then, and keeps count of how many it works for at a time.
private struct Moody: Transcriber {
    static let most = Mutex(0)
    private static let busy = Mutex(0)
    var identity: String { "moody" }

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
