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
    /// Each has one piece at most with the provider.
    private static let most = 2

    private let store: Store
    private let commands: CallCommands
    private let files: MediaFiles
    private let queue: TranscriptionQueue?
    private let logger: Logger
    /// Tracks that wait, or are being written down.
    private let unfinished = Mutex(0)
    private let gauge = Gauge(label: "recording_tracks_unwritten")
    private let waiting = AsyncStream.makeStream(of: UnwrittenTrack.self)

    init(store: Store, commands: CallCommands, files: MediaFiles, queue: TranscriptionQueue?, logger: Logger) {
        self.store = store
        self.commands = commands
        self.files = files
        self.queue = queue
        self.logger = logger
    }

    var isConfigured: Bool { queue != nil }

    func transcribe(_ tracks: [UnwrittenTrack]) {
        count(tracks.count)
        for track in tracks { waiting.continuation.yield(track) }
    }

    private func count(_ change: Int) {
        unfinished.withLock { unfinished in
            unfinished += change
            gauge.record(unfinished)
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
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                var running = 0
                for await track in waiting.stream {
                    if running >= Self.most {
                        await group.next()
                        running -= 1
                    }
                    group.addTask {
                        await self.write(track, with: queue)
                        self.count(-1)
                    }
                    running += 1
                }
                group.cancelAll()
            }
        }
    }

    private func write(_ track: UnwrittenTrack, with queue: TranscriptionQueue) async {
        let transcript: FileTranscript
        do throws(TranscriptionFailure) {
            guard let said = try await words(of: track, queue) else { return }
            transcript = FileTranscript(said)
        } catch .cancelled {
            return
        } catch .shutDown {
            return
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
        let commands = commands
        do {
            _ = try await store.write { try commands.transcribed(track, transcript, in: $0) }
        } catch {
            logger.error("what was said cannot be kept", metadata: ["error": "\(error)"])
        }
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
