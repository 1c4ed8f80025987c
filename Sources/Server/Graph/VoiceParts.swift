import Foundation
import Logging
import Services
import Storage
import Voice

/// Voice messages: their commands, and the limiter of audio decoding.
struct VoiceParts: Sendable {
    let service: VoiceService
    let transcripts: VoiceTranscripts
    private let work: ConcurrencyLimiter

    init(
        _ configuration: ServerConfiguration, store: Store, media: MediaParts, transcription: TranscriptionParts
    ) {
        // Half of the processors: calls come first.
        work = ConcurrencyLimiter(maxConcurrent: ProcessInfo.processInfo.activeProcessorCount / 2, maxWaiting: 32)
        let commands = VoiceCommands(rules: VoiceRules(configuration))
        transcripts = VoiceTranscripts(
            store: store, commands: commands, files: media.files, work: work, queue: transcription.queue,
            logger: Logger(label: "transcripts"))
        service = VoiceService(
            store: store, commands: commands, files: media.files, links: media.links, work: work,
            transcripts: transcripts)
    }

    /// Uploads that wait to be decoded.
    var decodingsWaiting: Int { work.waitingCount }
}
