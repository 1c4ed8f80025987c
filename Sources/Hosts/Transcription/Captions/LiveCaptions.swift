internal import DequeModule
internal import Synchronization

/// Writes down what is said on one track of a call while it is said.
///
/// Whoever has the sound feeds it and never waits: it passes the voice gate at once, and what was spoken is put before the
/// queue, one utterance after the other, so that captions come in order. When the provider is slower than the speakers,
/// the oldest utterance is given up, since what is said now matters more, and counted.
package final class LiveCaptions: Sendable {
    package struct Caption: Hashable, Sendable {
        /// Milliseconds from where feeding began.
        package var start: Int64
        package var end: Int64
        package var text: String
        package var language: String?
    }

    package enum Event: Hashable, Sendable {
        case caption(Caption)
        /// One utterance has no caption; those after it may.
        case failed(TranscriptionFailure)
    }

    package struct Figures: Hashable, Sendable {
        package var captions: UInt64 = 0
        package var failed: UInt64 = 0
        /// Utterances that were given up because too many waited.
        package var dropped: UInt64 = 0
    }

    private struct State {
        var gate: VoiceGate
        var waiting: Deque<Utterance> = []
        var figures = Figures()
        var isFinished = false
    }

    private let queue: TranscriptionQueue
    private let language: String?
    private let mostWaiting: Int
    private let patience: Duration
    private let state: Mutex<State>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - mostWaiting: utterances, beside the one that is being written down.
    ///   - patience: after which a caption is not worth anything.
    package init(
        _ queue: TranscriptionQueue, language: String? = nil, gate limits: VoiceGate.Limits = .init(),
        mostWaiting: Int = 3, within patience: Duration = .seconds(20)
    ) {
        self.queue = queue
        self.language = language
        self.mostWaiting = max(mostWaiting, 1)
        self.patience = patience
        state = Mutex(State(gate: VoiceGate(limits)))
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var figures: Figures { state.withLock { $0.figures } }
    /// Utterances that nobody has begun to write down.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Takes the sound that comes next, at 16 kHz; what comes after `finish` is nothing.
    package func feed(_ samples: some Sequence<Int16>) {
        take { $0.take(samples) }
    }

    /// There was no sound until so many milliseconds from the beginning.
    package func skip(to milliseconds: Int64) {
        take { $0.skip(to: milliseconds) }
    }

    /// Nothing more comes: `run` returns when what was said is written down.
    package func finish() {
        take { $0.finish() }
        state.withLock { $0.isFinished = true }
        wake.finish()
    }

    /// Gives each caption as it comes, until `finish`, or until the task is cancelled. It runs once.
    package func run(_ give: (Event) async -> Void) async {
        for await _ in wakes { await writeDown(give) }
        await writeDown(give)
    }

    private func take(_ body: (inout VoiceGate) -> [Utterance]) {
        let hasMore = state.withLock { state in
            guard !state.isFinished else { return false }
            let utterances = body(&state.gate)
            state.waiting.append(contentsOf: utterances)
            while state.waiting.count > mostWaiting {
                state.waiting.removeFirst()
                state.figures.dropped += 1
            }
            return !utterances.isEmpty
        }
        if hasMore { wake.yield() }
    }

    private func writeDown(_ give: (Event) async -> Void) async {
        while !Task.isCancelled, let next = state.withLock({ $0.waiting.popFirst() }) {
            do throws(TranscriptionFailure) {
                let transcript = try await queue.transcribe(
                    next.audio, language: language, priority: .live, within: patience)
                guard !transcript.text.isEmpty else { continue }
                let caption = Caption(
                    start: next.start + (transcript.segments.first?.start ?? 0),
                    end: next.start + (transcript.segments.last?.end ?? next.audio.milliseconds),
                    text: transcript.text, language: transcript.language)
                state.withLock { $0.figures.captions += 1 }
                await give(.caption(caption))
            } catch {
                state.withLock { $0.figures.failed += 1 }
                if error != .cancelled { await give(.failed(error)) }
            }
        }
    }
}
