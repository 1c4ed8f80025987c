package import Calls
import Containers
package import Logging
package import MediaFiles
import Metrics
package import Model
import ServiceLifecycle
package import Storage
import Synchronization
package import Transcription

/// Transcribes the tracks of recordings in the order of the requests, a few at a time. Tracks that an earlier process
/// left pending are transcribed first.
///
/// A track is decoded as fast as its segments are transcribed, so that a long one needs no more memory than a short
/// one.
package final class RecordingTranscripts: Service {
    private let store: Store
    private let commands: CallCommands
    private let consent: SpeechConsent
    private let files: MediaFiles
    private let queue: TranscriptionQueue?
    private let isAutomatic: Bool
    private let logger: Logger
    /// Tracks that wait or are being transcribed, so that nothing is done twice.
    private let unfinished = Mutex<Set<UntranscribedTrack>>([])
    private let gauge = Gauge(label: "recording_tracks_untranscribed")
    /// Each track has at most one segment with the provider.
    private let jobs = JobQueue<UntranscribedTrack>(maxConcurrent: 2)

    /// - Parameter isAutomatic: whether recordings are transcribed when they end.
    package init(
        store: Store, commands: CallCommands, consent: SpeechConsent, files: MediaFiles, queue: TranscriptionQueue?,
        isAutomatic: Bool, logger: Logger
    ) {
        self.consent = consent
        self.isAutomatic = isAutomatic
        self.store = store
        self.commands = commands
        self.files = files
        self.queue = queue
        self.logger = logger
    }

    /// Whether a provider is configured.
    package var isConfigured: Bool { queue != nil }

    /// Begins to transcribe tracks whose transcripts are pending. All users of the recording are notified when it is
    /// done.
    package func transcribe(_ tracks: [UntranscribedTrack]) {
        for track in tracks where note({ $0.insert(track).inserted }) { jobs.add(track) }
    }

    /// A recording has ended.
    package func ended(_ recording: RecordingID) {
        guard isAutomatic, isConfigured else { return }
        Task { [store, commands, logger] in
            do {
                _ = try await store.write { store in
                    try commands.requestTranscript(of: recording, in: store)
                } committed: { work in
                    self.transcribe(work)
                }
            } catch {
                logger.error("a recording is not transcribed", metadata: ["error": "\(error)"])
            }
        }
    }

    private func note<Result>(_ change: (inout Set<UntranscribedTrack>) -> Result) -> Result {
        unfinished.withLock { unfinished in
            defer { gauge.record(unfinished.count) }
            return change(&unfinished)
        }
    }

    /// A complete transcript as the text of a file.
    package func text(of transcript: RecordingTranscript, _ names: [UserID: String], as format: TranscriptFormat)
        -> String
    {
        let segments = transcript.segments.map { segment in
            let name = names[segment.user] ?? "Somebody"
            return Transcript.Segment(
                start: segment.start, end: segment.end, text: segment.text,
                speaker: segment.source == .screen ? "\(name) (screen)" : name)
        }
        return Subtitles.file(Transcript(language: transcript.language, text: "", segments: segments), as: format)
    }

    package func run() async {
        guard let queue else {
            try? await gracefulShutdown()
            return
        }
        do {
            transcribe(try await store.read { try $0.untranscribedTracks() })
        } catch {
            logger.error("pending transcripts cannot be read", metadata: ["error": "\(error)"])
        }
        await jobs.run { await self.write($0, with: queue) }
    }

    private func write(_ track: UntranscribedTrack, with queue: TranscriptionQueue) async {
        let transcript = await transcript(of: track, with: queue)
        // Before the transcript is stored, since it may be requested again from then on.
        note { _ = $0.remove(track) }
        guard let transcript else { return }
        let (commands, consent) = (commands, consent)
        do {
            let named = try await store.read { try consent.withLanguage(transcript, of: track, store: $0) }
            _ = try await store.write { try commands.transcribed(track, named, in: $0) }
        } catch {
            logger.error("a transcript cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// Nil if it is no longer pending, or is left to the next process.
    private func transcript(of track: UntranscribedTrack, with queue: TranscriptionQueue) async -> FileTranscript? {
        let transcript: FileTranscript
        do throws(TranscriptionFailure) {
            if let speaker = try await speaker(on: track) {
                let payer = TranscriptionPayer(speaker, for: .recording)
                guard let result = try await runTranscription(of: track, for: payer, queue) else { return nil }
                transcript = FileTranscript(result)
            } else {
                transcript = .notAllowed
            }
        } catch .cancelled {
            return nil
        } catch .shutDown {
            return nil
        } catch {
            if case .programFailed(_, let complaint) = error, !complaint.isEmpty {
                logger.warning("a recording is not transcribed", metadata: ["complaint": "\(complaint)"])
            }
            transcript = .failed(error)
        }
        Counter(
            label: "recording_tracks_transcribed_total",
            dimensions: [("outcome", transcript.failure?.type ?? transcript.status.rawValue)]
        ).increment()
        return transcript
    }

    /// Nil if the recording is removed meanwhile.
    private func runTranscription(
        of track: UntranscribedTrack, for payer: TranscriptionPayer, _ queue: TranscriptionQueue
    ) async throws(TranscriptionFailure) -> Transcript? {
        do {
            var transcription = LongTranscription(queue, for: payer)
            var audio = try TrackAudio()
            let file = try await files.open(track.file)
            try await file.read(0..<file.byteCount) { bytes in
                guard try await isPending(track) else { throw NoLongerPending() }
                audio.append(bytes)
                while let samples = try audio.next() {
                    try await transcription.take(samples)
                    // Decoding takes milliseconds: let other tasks run.
                    await Task.yield()
                }
            }
            guard audio.hasBegun else { throw ContainerError.noOpus }
            return try await transcription.finish()
        } catch is NoLongerPending {
            return nil
        } catch let failure as TranscriptionFailure {
            throw failure
        } catch {
            if Task.isCancelled { throw .cancelled }
            logger.warning("a recording cannot be read", metadata: ["error": "\(error)"])
            throw .unreachable("its audio cannot be read")
        }
    }

    /// Nil if they do not allow it.
    private func speaker(on track: UntranscribedTrack) async throws(TranscriptionFailure) -> UserID? {
        do {
            return try await store.read { try self.consent.speaker(on: track, store: $0) }
        } catch {
            if Task.isCancelled { throw .cancelled }
            logger.error("what is allowed cannot be read", metadata: ["error": "\(error)"])
            throw .unreachable("its recording cannot be read")
        }
    }

    private func isPending(_ track: UntranscribedTrack) async throws -> Bool {
        try await store.read { try $0.transcript(of: track.file)?.status == .pending }
    }

    private struct NoLongerPending: Error {}
}
