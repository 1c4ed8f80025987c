import Foundation
import Logging
import MediaFiles
import Messaging
import Services
import Storage
import Voice

/// Voice messages: their commands, and the limiter of audio decoding.
struct VoiceParts: Sendable {
    let service: VoiceService
    let transcripts: VoiceTranscripts
    let dictation: DictationService
    private let work: ConcurrencyLimiter

    init(
        _ configuration: ServerConfiguration, store: Store, commands conversations: ConversationCommands,
        media: MediaParts, transcription: TranscriptionParts
    ) {
        // Half of the processors: calls come first.
        work = ConcurrencyLimiter(maxConcurrent: ProcessInfo.processInfo.activeProcessorCount / 2, maxWaiting: 32)
        let commands = VoiceCommands(rules: VoiceRules(configuration))
        transcripts = VoiceTranscripts(
            store: store, commands: conversations, rules: commands.rules, files: media.files, work: work,
            queue: transcription.queue, logger: Logger(label: "transcripts"))
        dictation = DictationService(
            store: store, commands: conversations, files: media.files, work: work, queue: transcription.queue)
        service = VoiceService(
            store: store, commands: commands, files: media.files, links: media.links, work: work,
            transcripts: transcripts)
        store.observeVoice { [transcripts, files = media.files] notice in
            for file in notice.toTranscribe { transcripts.transcribe(file) }
            guard !notice.removed.isEmpty else { return }
            // A file that cannot be removed now is an orphan, which the next start removes.
            Task { for file in notice.removed { try? await files.remove(file) } }
        }
    }

    /// Uploads that wait to be decoded.
    var decodingsWaiting: Int { work.waitingCount }
}
