internal import Metrics

/// Has sound written down, for all that want it: so many at a time, captions of calls before recordings, a bounded number
/// waiting, each with a deadline, tried again where that may help, and not again where the answer is known.
///
/// Whoever waits holds the job: when that task is cancelled, the job leaves, and the provider's work for it ends.
package actor TranscriptionQueue {
    package struct Limits: Hashable, Sendable {
        /// At a time.
        package var running = 2
        /// Jobs that may wait beside those that run.
        package var waiting = 64
        /// One attempt of a provider.
        package var attempt: Duration = .seconds(60)
        package var longestSound: Duration = .seconds(600)
        /// What is spoken where nobody says otherwise, as BCP 47 writes it; nil: to be found out.
        package var language: String?
        package var patience = Patience()

        package init() {}
    }

    /// What the provider was asked for takes, of all attempts.
    private static let timer = Timer(label: "transcription_attempt_seconds")

    private let transcriber: any Transcriber
    private let cache: any TranscriptCache
    private let limits: Limits
    private let clock: QueueClock
    private var line: WaitingLine
    private var turns: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    private var attempts: [UInt64: Task<Result<Transcript, TranscriptionFailure>, Never>] = [:]
    private var pauses: [UInt64: Task<Void, Never>] = [:]
    private var lastID: UInt64 = 0
    private var isClosed = false
    private var counted = TranscriptionFigures()

    package init(
        _ transcriber: any Transcriber, cache: any TranscriptCache = MemoryTranscriptCache(),
        limits: Limits = Limits()
    ) {
        self.init(transcriber, cache: cache, limits: limits, clock: QueueClock())
    }

    init(_ transcriber: any Transcriber, cache: any TranscriptCache, limits: Limits, clock: QueueClock) {
        self.transcriber = transcriber
        self.cache = cache
        self.limits = limits
        self.clock = clock
        line = WaitingLine(slots: limits.running, length: limits.waiting)
    }

    package var figures: TranscriptionFigures {
        var figures = counted
        figures.waiting = line.waitingCount
        figures.running = line.running.count
        figures.oldest = line.oldest.map { $0.duration(to: clock.now()) } ?? .zero
        return figures
    }

    /// - Parameters:
    ///   - language: as BCP 47 writes it; nil: that of the limits.
    ///   - patience: for all of it, waiting and retries included.
    package func transcribe(
        _ audio: SpeechAudio, language: String? = nil, priority: TranscriptionPriority = .recorded,
        within patience: Duration = .seconds(300)
    ) async throws(TranscriptionFailure) -> Transcript {
        let deadline = clock.now() + patience
        let language = language ?? limits.language
        do throws(TranscriptionFailure) {
            guard !isClosed else { throw .shutDown }
            guard audio.duration <= limits.longestSound else { throw .tooLong(limit: limits.longestSound) }
            lastID += 1
            let id = lastID
            // Before the cache is asked: who asks it holds the sound.
            guard line.admit(id, priority, at: clock.now()) else { throw .queueFull }
            defer { leave(id) }
            let key = TranscriptKey(audio, identity: transcriber.identity, language: language)
            if let known = await cache.transcript(for: key) {
                counted.outcomes["cached", default: 0] += 1
                return known
            }
            let transcript = try await persist(id, audio, language, deadline)
            await cache.keep(transcript, for: key)
            counted.outcomes["done", default: 0] += 1
            counted.milliseconds += audio.milliseconds
            return transcript
        } catch {
            counted.outcomes[error.kind, default: 0] += 1
            throw error
        }
    }

    /// Ends everything at once: those who wait are told, and nobody is let in any more.
    package func close() {
        isClosed = true
        for task in attempts.values { task.cancel() }
        for task in pauses.values { task.cancel() }
        for (_, turn) in turns { turn.resume(returning: false) }
        turns = [:]
    }

    /// Attempt after attempt, until one succeeds, none may be made any more, or it would be too late.
    private func persist(
        _ id: UInt64, _ audio: SpeechAudio, _ language: String?, _ deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        var failures = 0
        while true {
            do throws(TranscriptionFailure) {
                try await turn(of: id, before: deadline)
                return try await attempt(id, audio, language, deadline)
            } catch {
                failures += 1
                guard error.isWorthARetry, failures < limits.patience.attempts else { throw error }
                var wanted: Duration?
                if case .refused(_, _, let retryAfter) = error { wanted = retryAfter }
                let pause = limits.patience.pause(after: failures, wanted: wanted, chance: clock.chance())
                let next = clock.now() + pause
                // Whoever waits is better told now what went wrong.
                guard next < deadline else { throw error }
                counted.retries += 1
                try await wait(id, until: next)
            }
        }
    }

    /// Returns when the job may run.
    private func turn(of id: UInt64, before deadline: ContinuousClock.Instant) async throws(TranscriptionFailure) {
        try check(deadline)
        if line.wantsSlot(id, at: clock.now()) { return }
        let sleep = clock.sleep
        let alarm = Task {
            do { try await sleep(deadline) } catch { return }
            // It may have rung in the moment in which the turn came.
            if !Task.isCancelled { giveUp(id) }
        }
        defer { alarm.cancel() }
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { turns[id] = $0 }
        } onCancel: {
            Task { await self.giveUp(id) }
        }
        guard isMine else {
            try check(deadline)
            throw .timedOut
        }
        // Its turn came as it was cancelled.
        try check(deadline)
    }

    private func giveUp(_ id: UInt64) {
        turns.removeValue(forKey: id)?.resume(returning: false)
    }

    private func attempt(
        _ id: UInt64, _ audio: SpeechAudio, _ language: String?, _ deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let began = clock.now()
        let end = min(deadline, began + limits.attempt)
        let transcriber = transcriber
        let task = Task { () -> Result<Transcript, TranscriptionFailure> in
            do throws(TranscriptionFailure) {
                return .success(try await transcriber.transcribe(audio, language: language, deadline: end))
            } catch {
                return .failure(error)
            }
        }
        attempts[id] = task
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        attempts[id] = nil
        Self.timer.recordNanoseconds(Int64((began.duration(to: clock.now()) / .nanoseconds(1)).rounded()))
        hand(on: line.release(id, at: clock.now()))
        if case .failure = result { try check(nil) }
        return try result.get()
    }

    /// Waits outside of the line for its next attempt, but in it as far as its length goes.
    private func wait(_ id: UInt64, until next: ContinuousClock.Instant) async throws(TranscriptionFailure) {
        let sleep = clock.sleep
        let pause = Task { _ = try? await sleep(next) }
        pauses[id] = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        pauses[id] = nil
        try check(nil)
    }

    /// Whether the job still has a reason to go on.
    private func check(_ deadline: ContinuousClock.Instant?) throws(TranscriptionFailure) {
        if isClosed { throw .shutDown }
        if Task.isCancelled { throw .cancelled }
        if let deadline, clock.now() >= deadline { throw .timedOut }
    }

    private func leave(_ id: UInt64) {
        hand(on: line.leave(id, at: clock.now()))
    }

    private func hand(on jobs: [UInt64]) {
        for id in jobs { turns.removeValue(forKey: id)?.resume(returning: true) }
    }
}
