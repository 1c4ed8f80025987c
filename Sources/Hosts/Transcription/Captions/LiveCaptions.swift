internal import DequeModule
internal import Synchronization

/// Transcribes one track of a call live.
///
/// Feeding audio never waits: the voice activity detector processes it at once, and utterances are transcribed one
/// after the other, so that captions come in order. When the provider is slower than the speakers, the oldest utterance
/// is dropped and counted, since the latest matters more.
package final class LiveCaptions: Sendable {
    package struct Caption: Hashable, Sendable {
        /// Milliseconds since feeding began.
        package var start: Int64
        package var end: Int64
        package var text: String
        package var language: String?
    }

    package enum Event: Hashable, Sendable {
        case caption(Caption)
        /// One utterance has no caption; later ones may.
        case failed(TranscriptionFailure)
    }

    package struct Stats: Hashable, Sendable {
        package var captions: UInt64 = 0
        package var failed: UInt64 = 0
        /// Utterances that were dropped because too many waited.
        package var dropped: UInt64 = 0
    }

    private struct State {
        var detector: VoiceActivityDetector
        var waiting: Deque<Utterance> = []
        var stats = Stats()
        var isFinished = false
    }

    private let queue: TranscriptionQueue
    private let language: String?
    private let maxWaiting: Int
    private let timeout: Duration
    private let state: Mutex<State>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - maxWaiting: utterances, in addition to the one that is being transcribed.
    ///   - timeout: after which a caption is useless.
    package init(
        _ queue: TranscriptionQueue, language: String? = nil, detector limits: VoiceActivityDetector.Limits = .init(),
        maxWaiting: Int = 3, within timeout: Duration = .seconds(20)
    ) {
        self.queue = queue
        self.language = language
        self.maxWaiting = max(maxWaiting, 1)
        self.timeout = timeout
        state = Mutex(State(detector: VoiceActivityDetector(limits)))
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var stats: Stats { state.withLock { $0.stats } }
    /// Utterances whose transcription has not begun.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Adds the next samples, at 16 kHz. Does nothing after `finish`.
    package func feed(_ samples: some Sequence<Int16>) {
        update { $0.take(samples) }
    }

    /// Skips silence up to a time since the beginning.
    package func skip(to milliseconds: Int64) {
        update { $0.skip(to: milliseconds) }
    }

    /// Ends the audio: `run` returns when everything is transcribed.
    package func finish() {
        update { $0.finish() }
        state.withLock { $0.isFinished = true }
        wake.finish()
    }

    /// Emits each caption as it comes, until `finish`, or until the task is cancelled. To be called once.
    ///
    /// - Parameter payer: asked for each utterance before it is transcribed, and once more before it is emitted: nil if that is
    ///   not allowed, and it is dropped.
    package func run(payer: () async -> TranscriptionPayer?, _ emit: (Event) async -> Void) async {
        for await _ in wakes { await transcribeWaiting(payer, emit) }
        await transcribeWaiting(payer, emit)
    }

    private func update(_ body: (inout VoiceActivityDetector) -> [Utterance]) {
        let hasMore = state.withLock { state in
            guard !state.isFinished else { return false }
            let utterances = body(&state.detector)
            state.waiting.append(contentsOf: utterances)
            while state.waiting.count > maxWaiting {
                state.waiting.removeFirst()
                state.stats.dropped += 1
            }
            return !utterances.isEmpty
        }
        if hasMore { wake.yield() }
    }

    private func transcribeWaiting(_ payer: () async -> TranscriptionPayer?, _ emit: (Event) async -> Void) async {
        while !Task.isCancelled, let next = state.withLock({ $0.waiting.popFirst() }) {
            guard let speaker = await payer() else { continue }
            do throws(TranscriptionFailure) {
                let transcript = try await queue.transcribe(
                    next.audio, for: speaker, language: language, priority: .live, within: timeout)
                guard !transcript.text.isEmpty else { continue }
                let caption = Caption(
                    start: next.start + (transcript.segments.first?.start ?? 0),
                    end: next.start + (transcript.segments.last?.end ?? next.audio.milliseconds),
                    text: transcript.text, language: transcript.language)
                guard await payer() != nil else { continue }
                state.withLock { $0.stats.captions += 1 }
                await emit(.caption(caption))
            } catch {
                state.withLock { $0.stats.failed += 1 }
                if error != .cancelled { await emit(.failed(error)) }
            }
        }
    }
}
