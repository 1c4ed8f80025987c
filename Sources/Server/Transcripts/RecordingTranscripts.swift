import Calls
import Containers
import Logging
import MediaFiles
import Metrics
import Model
import ServiceLifecycle
import Storage
import Synchronization
import Transcription
import WebAPI

/// Has the tracks of recordings written down, in the order in which that was asked for, some at a time. What a process
/// before this one left is done first.
///
/// A track is decoded as fast as its pieces are written down, so that one of hours takes no more memory than one of
/// seconds.
final class RecordingTranscripts: RecordingTranscribing, Service {
    private let store: Store
    private let commands: CallCommands
    private let files: MediaFiles
    private let queue: TranscriptionQueue?
    private let isAutomatic: Bool
    private let logger: Logger
    /// Tracks that wait, or are being written down: nothing is done twice.
    private let unfinished = Mutex<Set<UnwrittenTrack>>([])
    private let gauge = Gauge(label: "recording_tracks_unwritten")
    /// Each has one piece at most with the provider.
    private let backlog = Backlog<UnwrittenTrack>(most: 2)

    /// - Parameter isAutomatic: recordings are written down when they end.
    init(
        store: Store, commands: CallCommands, files: MediaFiles, queue: TranscriptionQueue?, isAutomatic: Bool,
        logger: Logger
    ) {
        self.isAutomatic = isAutomatic
        self.store = store
        self.commands = commands
        self.files = files
        self.queue = queue
        self.logger = logger
    }

    var isConfigured: Bool { queue != nil }

    func transcribe(_ tracks: [UnwrittenTrack]) {
        for track in tracks where note({ $0.insert(track).inserted }) { backlog.add(track) }
    }

    /// A recording has ended.
    func ended(_ recording: RecordingID) {
        guard isAutomatic, isConfigured else { return }
        Task { [store, commands, logger] in
            do {
                _ = try await store.write { store in
                    try commands.askForTranscript(of: recording, in: store)
                } committed: { work in
                    self.transcribe(work)
                }
            } catch {
                logger.error("a recording is not written down", metadata: ["error": "\(error)"])
            }
        }
    }

    private func note<Result>(_ change: (inout Set<UnwrittenTrack>) -> Result) -> Result {
        unfinished.withLock { unfinished in
            defer { gauge.record(unfinished.count) }
            return change(&unfinished)
        }
    }

    func text(of transcript: RecordingTranscript, _ names: [UserID: String], as format: TranscriptFormat) -> String {
        let segments = transcript.segments.map { segment in
            let name = names[segment.user] ?? "Somebody"
            return Transcript.Segment(
                start: segment.start, end: segment.end, text: segment.text,
                speaker: segment.source == .screen ? "\(name) (screen)" : name)
        }
        return Subtitles.file(Transcript(language: transcript.language, text: "", segments: segments), as: format)
    }

    func run() async {
        guard let queue else {
            try? await gracefulShutdown()
            return
        }
        do {
            transcribe(try await store.read { try $0.unwrittenTracks() })
        } catch {
            logger.error("what is to be written down cannot be read", metadata: ["error": "\(error)"])
        }
        await backlog.run { await self.write($0, with: queue) }
    }

    private func write(_ track: UnwrittenTrack, with queue: TranscriptionQueue) async {
        let transcript = await transcript(of: track, with: queue)
        // Before that is kept: from then on somebody may ask for it again.
        note { _ = $0.remove(track) }
        guard let transcript else { return }
        let commands = commands
        do {
            _ = try await store.write { try commands.transcribed(track, transcript, in: $0) }
        } catch {
            logger.error("what was said cannot be kept", metadata: ["error": "\(error)"])
        }
    }

    /// Nil when it is not wanted any more, or is left to the next process.
    private func transcript(of track: UnwrittenTrack, with queue: TranscriptionQueue) async -> FileTranscript? {
        let transcript: FileTranscript
        do throws(TranscriptionFailure) {
            guard let said = try await words(of: track, queue) else { return nil }
            transcript = FileTranscript(said)
        } catch .cancelled {
            return nil
        } catch .shutDown {
            return nil
        } catch {
            if case .programFailed(_, let complaint) = error, !complaint.isEmpty {
                logger.warning("a recording is not written down", metadata: ["complaint": "\(complaint)"])
            }
            transcript = .failed(error)
        }
        Counter(
            label: "recording_tracks_transcribed_total",
            dimensions: [("outcome", transcript.failure?.type ?? transcript.status.rawValue)]
        ).increment()
        return transcript
    }

    /// Nil when the recording is removed meanwhile.
    private func words(
        of track: UnwrittenTrack, _ queue: TranscriptionQueue
    ) async throws(TranscriptionFailure) -> Transcript? {
        do {
            var transcription = LongTranscription(queue)
            var sound = try TrackSound()
            let file = try await files.open(track.file)
            try await file.read(0..<file.byteCount) { bytes in
                guard try await isWanted(track) else { throw Unwanted() }
                sound.append(bytes)
                while let samples = try sound.next() {
                    try await transcription.take(samples)
                    // Some milliseconds of work: others have their turn.
                    await Task.yield()
                }
            }
            guard sound.hasBegun else { throw ContainerError.noOpus }
            return try await transcription.finish()
        } catch is Unwanted {
            return nil
        } catch let failure as TranscriptionFailure {
            throw failure
        } catch {
            if Task.isCancelled { throw .cancelled }
            logger.warning("a recording cannot be read", metadata: ["error": "\(error)"])
            throw .unreachable("its sound cannot be read")
        }
    }

    private func isWanted(_ track: UnwrittenTrack) async throws -> Bool {
        try await store.read { try $0.transcript(of: track.file)?.status == .pending }
    }

    private struct Unwanted: Error {}
}
