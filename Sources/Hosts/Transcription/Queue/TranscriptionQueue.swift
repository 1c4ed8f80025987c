internal import Metrics

/// Runs transcription jobs: a limited number at a time, captions of calls before recordings, a limited number waiting,
/// each with a deadline, with retries where they may help, and from the cache where the transcript is known.
///
/// The task that waits owns the job: when it is cancelled, the job is removed, and the provider's work for it ends.
package actor TranscriptionQueue {
    package struct Limits: Hashable, Sendable {
        /// Jobs that run at a time.
        package var running = 2
        /// Jobs that may wait in addition.
        package var waiting = 64
        /// The timeout of one attempt.
        package var attempt: Duration = .seconds(60)
        package var maxDuration: Duration = .seconds(600)
        /// The default language as a BCP 47 tag; nil: detected by the provider.
        package var language: String?
        package var retryPolicy = RetryPolicy()

        package init() {}
    }

    /// The duration of each attempt.
    private static let timer = Timer(label: "transcription_attempt_seconds")

    private let transcriber: any Transcriber
    private let cache: any TranscriptCache
    private let accounting: (any TranscriptionAccounting)?
    private let limits: Limits
    private let clock: QueueClock
    private var admissions: AdmissionQueue
    private var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    private var attempts: [UInt64: Task<Result<Transcript, TranscriptionFailure>, Never>] = [:]
    private var pauses: [UInt64: Task<Void, Never>] = [:]
    private var lastID: UInt64 = 0
    private var isClosed = false
    private var counters = TranscriptionStats()

    /// - Parameter accounting: nil if nobody counts what the provider is given.
    package init(
        _ transcriber: any Transcriber, cache: any TranscriptCache = MemoryTranscriptCache(),
        accounting: (any TranscriptionAccounting)?, limits: Limits = Limits()
    ) {
        self.init(transcriber, cache: cache, accounting: accounting, limits: limits, clock: QueueClock())
    }

    init(
        _ transcriber: any Transcriber, cache: any TranscriptCache, accounting: (any TranscriptionAccounting)?,
        limits: Limits, clock: QueueClock
    ) {
        self.transcriber = transcriber
        self.cache = cache
        self.accounting = accounting
        self.limits = limits
        self.clock = clock
        admissions = AdmissionQueue(slots: limits.running, length: limits.waiting)
    }

    package var stats: TranscriptionStats {
        var stats = counters
        stats.waiting = admissions.waitingCount
        stats.running = admissions.running.count
        stats.oldest = admissions.oldest.map { $0.duration(to: clock.now()) } ?? .zero
        return stats
    }

    /// - Parameters:
    ///   - language: a BCP 47 tag; nil: that of the limits.
    ///   - isCached: whether the transcript is looked up in the cache, and kept there.
    ///   - timeout: for the whole job, waiting and retries included.
    package func transcribe(
        _ audio: SpeechAudio, for payer: TranscriptionPayer, language: String? = nil,
        priority: TranscriptionPriority = .recorded, isCached: Bool = true, within timeout: Duration = .seconds(300)
    ) async throws(TranscriptionFailure) -> Transcript {
        let deadline = clock.now() + timeout
        let language = language ?? limits.language
        do throws(TranscriptionFailure) {
            guard !isClosed else { throw .shutDown }
            guard audio.duration <= limits.maxDuration else { throw .tooLong(limit: limits.maxDuration) }
            lastID += 1
            let id = lastID
            // Before the cache lookup, since the job already holds the audio.
            guard admissions.admit(id, priority, at: clock.now()) else { throw .queueFull }
            defer { remove(id) }
            let key = TranscriptKey(audio, identity: transcriber.identity, language: language)
            if isCached, let known = await cache.transcript(for: key) {
                counters.outcomes["cached", default: 0] += 1
                return known
            }
            let transcript = try await transcribeWithRetries(id, audio, payer, language, deadline)
            if isCached { await cache.keep(transcript, for: key) }
            counters.outcomes["done", default: 0] += 1
            counters.milliseconds += audio.milliseconds
            return transcript
        } catch {
            counters.outcomes[error.kind, default: 0] += 1
            throw error
        }
    }

    /// Fails all jobs at once, and rejects new ones.
    package func close() {
        isClosed = true
        for task in attempts.values { task.cancel() }
        for task in pauses.values { task.cancel() }
        for (_, waiter) in waiters { waiter.resume(returning: false) }
        waiters = [:]
    }

    /// Retries until an attempt succeeds, no more attempts are allowed, or the deadline is too close.
    private func transcribeWithRetries(
        _ id: UInt64, _ audio: SpeechAudio, _ payer: TranscriptionPayer, _ language: String?,
        _ deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        var failures = 0
        while true {
            do throws(TranscriptionFailure) {
                try await waitForSlot(id, before: deadline)
                return try await attempt(id, audio, payer, language, deadline)
            } catch {
                failures += 1
                guard error.isRetryable, failures < limits.retryPolicy.maxAttempts else { throw error }
                var retryAfter: Duration?
                if case .refused(_, _, let requested) = error { retryAfter = requested }
                let delay = limits.retryPolicy.delay(
                    after: failures, retryAfter: retryAfter, random: clock.random())
                let next = clock.now() + delay
                // It fails with this error now rather than with a timeout later.
                guard next < deadline else { throw error }
                counters.retries += 1
                try await wait(id, until: next)
            }
        }
    }

    /// Returns when the job may run.
    private func waitForSlot(
        _ id: UInt64, before deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) {
        try check(deadline)
        if admissions.acquireSlot(id, at: clock.now()) { return }
        let sleep = clock.sleep
        let timeoutTask = Task {
            do { try await sleep(deadline) } catch { return }
            // The deadline may have passed just as the slot became free.
            if !Task.isCancelled { giveUp(id) }
        }
        defer { timeoutTask.cancel() }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { waiters[id] = $0 }
        } onCancel: {
            Task { await self.giveUp(id) }
        }
        guard isAdmitted else {
            try check(deadline)
            throw .timedOut
        }
        // The slot may have become free just as the job was cancelled.
        try check(deadline)
    }

    private func giveUp(_ id: UInt64) {
        waiters.removeValue(forKey: id)?.resume(returning: false)
    }

    private func attempt(
        _ id: UInt64, _ audio: SpeechAudio, _ payer: TranscriptionPayer, _ language: String?,
        _ deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let started = clock.now()
        let end = min(deadline, started + limits.attempt)
        let (transcriber, accounting) = (transcriber, accounting)
        let task = Task { () -> Result<Transcript, TranscriptionFailure> in
            do throws(TranscriptionFailure) {
                let settle = try await accounting?.begin(audio.milliseconds, with: transcriber.name, for: payer)
                do throws(TranscriptionFailure) {
                    let transcript = try await transcriber.transcribe(audio, language: language, deadline: end)
                    await settle?(nil)
                    return .success(transcript)
                } catch {
                    await settle?(error)
                    throw error
                }
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
        Self.timer.recordNanoseconds(Int64((started.duration(to: clock.now()) / .nanoseconds(1)).rounded()))
        resume(admissions.release(id, at: clock.now()))
        if case .failure = result { try check(nil) }
        return try result.get()
    }

    /// Waits for the job's next attempt. It holds no slot, but counts in the queue's length.
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

    /// Throws when the job must not go on.
    private func check(_ deadline: ContinuousClock.Instant?) throws(TranscriptionFailure) {
        if isClosed { throw .shutDown }
        if Task.isCancelled { throw .cancelled }
        if let deadline, clock.now() >= deadline { throw .timedOut }
    }

    private func remove(_ id: UInt64) {
        resume(admissions.remove(id, at: clock.now()))
    }

    private func resume(_ jobs: [UInt64]) {
        for id in jobs { waiters.removeValue(forKey: id)?.resume(returning: true) }
    }
}
