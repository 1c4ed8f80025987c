import Calls
import DatagramIO
import Gateway
package import Logging
import MediaGateway
import Metrics
import Model
import RTP
import Storage
package import Transcription
import Wire

/// Makes live captions of calls and publishes them to their streams.
///
/// It decodes one call after the other, on at most one processor, twenty times a second.
package actor Captioner {
    /// A track with audio.
    private struct Speaker {
        let voice: CaptionedVoice
        let publishing: Task<Void, Never>
        var droppedCount: UInt64 = 0
    }

    private struct CaptionedCall {
        let inbox = CaptionInbox()
        var speakers: [TappedTrack: Speaker] = [:]
        /// Those who do not allow it.
        var silent: Set<TappedTrack> = []
        /// The tasks of speakers who have left, until their last captions are published.
        var finishing: [TappedTrack: Task<Void, Never>] = [:]
    }

    private static let interval = Duration.milliseconds(50)

    private let queue: TranscriptionQueue
    private let calls: CallService
    private let whip: WHIPSessions
    private let consent: SpeechConsent
    private let logger: Logger
    private var captioned: [CallID: CaptionedCall] = [:]
    private var loop: Task<Void, Never>?
    private let published = Counter(label: "captions_total", dimensions: [("outcome", "published")])
    private let failed = Counter(label: "captions_total", dimensions: [("outcome", "failed")])
    private let dropped = Counter(label: "captions_total", dimensions: [("outcome", "dropped")])
    private let droppedPackets = Counter(label: "captions_packets_dropped_total")
    private let delay = Timer(label: "caption_delay_seconds")
    private let speakers = Gauge(label: "captions_tracks")

    package init(
        _ queue: TranscriptionQueue, calls: CallService, whip: WHIPSessions, consent: SpeechConsent, logger: Logger
    ) {
        self.consent = consent
        self.queue = queue
        self.calls = calls
        self.whip = whip
        self.logger = logger
    }

    /// Begins to caption a call. The returned sink is to receive its audio.
    func begin(_ call: CallID) -> any AudioSink {
        let new = captioned[call] ?? CaptionedCall()
        captioned[call] = new
        if loop == nil { loop = Task { await run() } }
        return new.inbox
    }

    /// Ends the captions of a call. Captions that are not published yet are dropped.
    func end(_ call: CallID) {
        guard let ended = captioned.removeValue(forKey: call) else { return }
        for speaker in ended.speakers.values { speaker.publishing.cancel() }
        for publishing in ended.finishing.values { publishing.cancel() }
    }

    func stop() async {
        for call in Array(captioned.keys) { end(call) }
        await loop?.value
    }

    private func run() async {
        while !captioned.isEmpty {
            for call in Array(captioned.keys) {
                advance(call)
                // Let other tasks run between two calls.
                await Task.yield()
            }
            speakers.record(captioned.values.reduce(0) { $0 + $1.speakers.count })
            try? await Task.sleep(for: Self.interval)
        }
        speakers.record(0)
        loop = nil
    }

    private func advance(_ call: CallID) {
        guard var state = captioned[call] else { return }
        let (entries, droppedCount) = state.inbox.take()
        if droppedCount > 0 { droppedPackets.increment(by: droppedCount) }
        for entry in entries {
            switch entry {
            case .packet(_, let track) where state.silent.contains(track): continue
            case .packet(let packet, let track):
                if state.speakers[track] == nil {
                    state.speakers[track] = speaker(track, of: call, from: packet.arrival)
                }
                state.speakers[track]?.voice.take(packet)
            case .ended(let track):
                state.silent.remove(track)
                guard let speaker = state.speakers.removeValue(forKey: track) else { continue }
                speaker.voice.finish(at: SystemClock.now())
                state.finishing[track] = speaker.publishing
            }
        }
        let now = SystemClock.now()
        for (track, speaker) in state.speakers {
            speaker.voice.advance(to: now)
            let count = speaker.voice.captions.stats.dropped
            dropped.increment(by: Int(count - speaker.droppedCount))
            state.speakers[track]?.droppedCount = count
        }
        captioned[call] = state
    }

    private func speaker(_ track: TappedTrack, of call: CallID, from begin: Instant) -> Speaker? {
        guard let endpoint = EndpointID(track.name.participant), let source = LegTrack(track.name).map(\.source) else {
            return nil
        }
        let captions = LiveCaptions(queue)
        let voice: CaptionedVoice
        do {
            voice = try CaptionedVoice(begin: begin, captions)
        } catch {
            logger.error("audio cannot be decoded", metadata: ["error": "\(error)"])
            return nil
        }
        let elapsed = SystemClock.now().nanoseconds(since: begin) / 1_000_000
        let wall = Timestamp(milliseconds: Timestamp.systemClock().milliseconds - Int64(clamping: elapsed))
        let publishing = Task {
            // What is said meanwhile waits.
            if await payer(endpoint, in: call) != nil {
                await publish(captions, of: endpoint, source, in: call, from: begin, wall)
            } else {
                silence(track, of: call)
            }
            forget(track, of: call)
        }
        return Speaker(voice: voice, publishing: publishing)
    }

    /// Publishes captions until the stream of events ends.
    private nonisolated func publish(
        _ captions: LiveCaptions, of endpoint: EndpointID, _ source: LegTrack.Source, in call: CallID,
        from begin: Instant, _ wall: Timestamp
    ) async {
        // Whoever speaks may have changed their mind since.
        await captions.run(payer: { await payer(endpoint, in: call) }) { event in
            switch event {
            case .caption(let caption):
                await publish(caption, of: endpoint, source, in: call, from: wall)
                published.increment()
                let spokenAt = begin.adding(nanoseconds: UInt64(clamping: caption.end) &* 1_000_000)
                delay.recordNanoseconds(Int64(clamping: SystemClock.now().nanoseconds(since: spokenAt)))
            case .failed(let failure):
                failed.increment()
                await publish(failure, in: call)
            }
        }
    }

    /// Who speaks there; nil if they do not allow it.
    private nonisolated func payer(_ endpoint: EndpointID, in call: CallID) async -> TranscriptionPayer? {
        let (others, consent) = (whip.users(in: call), consent)
        do {
            return try await calls.store.read { store in
                let participants = try store.call(call)?.participants ?? []
                guard
                    let speaker = participants.first(where: { $0.endpoint == endpoint })?.user ?? others[endpoint],
                    try consent.allows(speaker, in: call, store: store)
                else { return nil }
                return TranscriptionPayer(speaker, for: .captions)
            }
        } catch {
            logger.error("what is allowed cannot be read", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func silence(_ track: TappedTrack, of call: CallID) {
        guard captioned[call]?.speakers.removeValue(forKey: track) != nil else { return }
        captioned[call]?.silent.insert(track)
    }

    private func forget(_ track: TappedTrack, of call: CallID) {
        captioned[call]?.finishing[track] = nil
    }

    private nonisolated func publish(
        _ caption: LiveCaptions.Caption, of endpoint: EndpointID, _ source: LegTrack.Source, in call: CallID,
        from begin: Timestamp
    ) async {
        let others = whip.users(in: call)
        await record("a caption") { store, commands in
            try commands.said(
                caption.text, on: endpoint, source, in: call,
                from: Timestamp(milliseconds: begin.milliseconds &+ caption.start),
                lasting: max(caption.end &- caption.start, 0), language: caption.language, also: others,
                at: store.now, in: store)
        }
    }

    private nonisolated func publish(_ failure: TranscriptionFailure, in call: CallID) async {
        if case .shutDown = failure { return }
        if case .programFailed(_, let complaint) = failure, !complaint.isEmpty {
            logger.warning("a caption failed", metadata: ["call": "\(call)", "complaint": "\(complaint)"])
        }
        await record("why captions failed") { store, commands in
            try commands.captionsFailed(call, failure.description, at: store.now, in: store)
        }
    }

    private nonisolated func record(
        _ what: String,
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> CallOutcome?
    ) async {
        guard !Task.isCancelled else { return }
        do {
            try await calls.note(command)
        } catch {
            logger.error("\(what) cannot be published", metadata: ["error": "\(error)"])
        }
    }
}
