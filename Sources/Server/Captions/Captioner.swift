import Calls
import DatagramIO
import Gateway
import Logging
import MediaGateway
import Metrics
import Model
import RTP
import Storage
import Transcription
import WebAPI
import Wire

/// Has what is said in calls written down while it is said, and tells their streams.
///
/// It decodes one call after the other, on one processor at most, twenty times a second.
actor Captioner {
    /// Somebody who is heard.
    private struct Speaker {
        let voice: CaptionedVoice
        let telling: Task<Void, Never>
        var droppedCount: UInt64 = 0
    }

    private struct CaptionedCall {
        let inbox = CaptionInbox()
        var speakers: [HeardTrack: Speaker] = [:]
        /// Of those who have gone, until their last words are told.
        var rest: [HeardTrack: Task<Void, Never>] = [:]
    }

    private static let interval = Duration.milliseconds(50)

    private let queue: TranscriptionQueue
    private let calls: CallService
    private let doors: DoorLegs
    private let logger: Logger
    private var captioned: [CallID: CaptionedCall] = [:]
    private var loop: Task<Void, Never>?
    private let given = Counter(label: "captions_total", dimensions: [("outcome", "given")])
    private let failed = Counter(label: "captions_total", dimensions: [("outcome", "failed")])
    private let dropped = Counter(label: "captions_total", dimensions: [("outcome", "dropped")])
    private let droppedPackets = Counter(label: "captions_packets_dropped_total")
    private let delay = Timer(label: "caption_delay_seconds")
    private let speakers = Gauge(label: "captions_tracks")

    init(_ queue: TranscriptionQueue, calls: CallService, doors: DoorLegs, logger: Logger) {
        self.queue = queue
        self.calls = calls
        self.doors = doors
        self.logger = logger
    }

    /// What it returns is to hear the call.
    func begin(_ call: CallID) -> any SoundListener {
        let new = captioned[call] ?? CaptionedCall()
        captioned[call] = new
        if loop == nil { loop = Task { await run() } }
        return new.inbox
    }

    /// What is not told yet is not told any more: nobody wants it.
    func end(_ call: CallID) {
        guard let ended = captioned.removeValue(forKey: call) else { return }
        for speaker in ended.speakers.values { speaker.telling.cancel() }
        for telling in ended.rest.values { telling.cancel() }
    }

    func stop() async {
        for call in Array(captioned.keys) { end(call) }
        await loop?.value
    }

    private func run() async {
        while !captioned.isEmpty {
            for call in Array(captioned.keys) {
                advance(call)
                // Others may come between two calls.
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
            case .packet(let packet, let track):
                if state.speakers[track] == nil {
                    state.speakers[track] = speaker(track, of: call, from: packet.arrival)
                }
                state.speakers[track]?.voice.take(packet)
            case .ended(let track):
                guard let speaker = state.speakers.removeValue(forKey: track) else { continue }
                speaker.voice.finish(at: SystemClock.now())
                state.rest[track] = speaker.telling
            }
        }
        let now = SystemClock.now()
        for (track, speaker) in state.speakers {
            speaker.voice.advance(to: now)
            let count = speaker.voice.captions.figures.dropped
            dropped.increment(by: Int(count - speaker.droppedCount))
            state.speakers[track]?.droppedCount = count
        }
        captioned[call] = state
    }

    private func speaker(_ track: HeardTrack, of call: CallID, from begin: Instant) -> Speaker? {
        guard let endpoint = EndpointID(track.name.participant), let source = LegTrack(track.name).map(\.source) else {
            return nil
        }
        let captions = LiveCaptions(queue)
        let voice: CaptionedVoice
        do {
            voice = try CaptionedVoice(begin: begin, captions)
        } catch {
            logger.error("a voice cannot be decoded", metadata: ["error": "\(error)"])
            return nil
        }
        let passed = SystemClock.now().nanoseconds(since: begin) / 1_000_000
        let wall = Timestamp(milliseconds: Timestamp.systemClock().milliseconds - Int64(clamping: passed))
        let telling = Task {
            await tell(captions, of: endpoint, source, in: call, from: begin, wall)
            forget(track, of: call)
        }
        return Speaker(voice: voice, telling: telling)
    }

    /// Tells all that comes, until nothing more does.
    private nonisolated func tell(
        _ captions: LiveCaptions, of endpoint: EndpointID, _ source: LegTrack.Source, in call: CallID,
        from begin: Instant, _ wall: Timestamp
    ) async {
        await captions.run { event in
            switch event {
            case .caption(let caption):
                await tell(caption, of: endpoint, source, in: call, from: wall)
                given.increment()
                let said = begin.adding(nanoseconds: UInt64(clamping: caption.end) &* 1_000_000)
                delay.recordNanoseconds(Int64(clamping: SystemClock.now().nanoseconds(since: said)))
            case .failed(let failure):
                failed.increment()
                await tell(failure, in: call)
            }
        }
    }

    private func forget(_ track: HeardTrack, of call: CallID) {
        captioned[call]?.rest[track] = nil
    }

    private nonisolated func tell(
        _ caption: LiveCaptions.Caption, of endpoint: EndpointID, _ source: LegTrack.Source, in call: CallID,
        from begin: Timestamp
    ) async {
        let others = doors.users(in: call)
        await note("what was said") { store, commands in
            try commands.said(
                caption.text, on: endpoint, source, in: call,
                from: Timestamp(milliseconds: begin.milliseconds &+ caption.start),
                lasting: max(caption.end &- caption.start, 0), language: caption.language, also: others,
                at: store.now, in: store)
        }
    }

    private nonisolated func tell(_ failure: TranscriptionFailure, in call: CallID) async {
        if case .shutDown = failure { return }
        if case .programFailed(_, let complaint) = failure, !complaint.isEmpty {
            logger.warning("there is no caption", metadata: ["call": "\(call)", "complaint": "\(complaint)"])
        }
        await note("why there is no caption") { store, commands in
            try commands.captionsFailed(call, failure.description, at: store.now, in: store)
        }
    }

    private nonisolated func note(
        _ what: String,
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> CallOutcome?
    ) async {
        guard !Task.isCancelled else { return }
        do {
            try await calls.note(command)
        } catch {
            logger.error("\(what) cannot be told", metadata: ["error": "\(error)"])
        }
    }
}
