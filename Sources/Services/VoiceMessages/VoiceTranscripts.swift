package import Logging
package import MediaFiles
package import Messaging
package import Model
import ServiceLifecycle
package import Storage
package import Transcription
package import Voice

/// Transcribes voice messages in order, a few at a time. Messages that an earlier process left pending are transcribed
/// first.
package final class VoiceTranscripts: Service {
    private let store: Store
    private let commands: ConversationCommands
    private let secondsLimit: Int
    private let files: MediaFiles
    private let work: ConcurrencyLimiter
    private let queue: TranscriptionQueue?
    private let logger: Logger
    /// The provider's queue limits concurrent requests; this limits what is decoded for it.
    private let jobs = JobQueue<FileID>(maxConcurrent: 4)

    package init(
        store: Store, commands: ConversationCommands, rules: VoiceRules, files: MediaFiles, work: ConcurrencyLimiter,
        queue: TranscriptionQueue?,
        logger: Logger
    ) {
        self.store = store
        self.commands = commands
        secondsLimit = rules.secondsLimit
        self.files = files
        self.work = work
        self.queue = queue
        self.logger = logger
    }

    /// Whether a provider is configured.
    package var isConfigured: Bool { queue != nil }

    /// Begins to transcribe a file whose transcript is pending. Its message changes when it is done.
    package func transcribe(_ file: FileID) { jobs.add(file) }

    /// A complete transcript as the text of a file.
    package func text(of transcript: FileTranscript, as format: TranscriptFormat) -> String {
        let segments = (transcript.segments ?? []).map {
            Transcript.Segment(start: $0.start, end: $0.end, text: $0.text)
        }
        let whole = Transcript(language: transcript.language, text: transcript.text ?? "", segments: segments)
        return Subtitles.file(whole, as: format)
    }

    package func run() async {
        guard let queue else {
            try? await gracefulShutdown()
            return
        }
        do {
            for file in try await store.read({ try $0.untranscribedVoiceFiles() }) { transcribe(file) }
        } catch {
            logger.error("pending transcripts cannot be read", metadata: ["error": "\(error)"])
        }
        await jobs.run { await self.write($0, with: queue) }
    }

    private func write(_ file: FileID, with queue: TranscriptionQueue) async {
        let commands = commands
        let transcript: FileTranscript
        do throws(TranscriptionFailure) {
            transcript =
                if let author = try await author(of: file) {
                    try await runTranscription(of: file, for: TranscriptionPayer(author, for: .voiceMessage), queue)
                } else { .notAllowed }
        } catch .cancelled {
            return
        } catch .shutDown {
            return
        } catch {
            if case .programFailed(_, let complaint) = error, !complaint.isEmpty {
                logger.warning("a voice message is not transcribed", metadata: ["complaint": "\(complaint)"])
            }
            transcript = .failed(error)
        }
        do {
            _ = try await store.write { try commands.transcribed(file, transcript, in: $0) }
        } catch {
            logger.error("a transcript cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// Nil if they do not allow it. Read again now: it may have changed while the file waited.
    private func author(of file: FileID) async throws(TranscriptionFailure) -> UserID? {
        do {
            return try await store.read { try self.commands.transcribableAuthor(of: file, in: $0) }
        } catch {
            logger.error("what is allowed cannot be read", metadata: ["error": "\(error)"])
            throw .unreachable("its message cannot be read")
        }
    }

    private func runTranscription(
        of file: FileID, for payer: TranscriptionPayer, _ queue: TranscriptionQueue
    ) async throws(TranscriptionFailure) -> FileTranscript {
        let samples = try await samples(of: file)
        var transcription = LongTranscription(queue, for: payer)
        return FileTranscript(try await transcription.transcript(of: samples))
    }

    private func samples(of id: FileID) async throws(TranscriptionFailure) -> [Int16] {
        // Also one that was made when they could be longer.
        let seconds = max(secondsLimit, 1800) + 1
        do {
            var bytes: [UInt8] = []
            let file = try await files.open(id)
            try await file.read(0..<file.byteCount) { bytes += $0 }
            let whole = bytes
            return try await work.run { try VoiceReading.samples(of: whole, seconds: seconds) }
        } catch let error as Problem where error.retryAfter != nil {
            throw .queueFull
        } catch {
            logger.warning("a voice message cannot be read", metadata: ["error": "\(error)"])
            throw .unreachable("its audio cannot be read")
        }
    }
}
