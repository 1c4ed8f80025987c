import Foundation
import Logging
import Storage
import Voice
import WebAPI

/// Voice messages: their commands, and where sounds are decoded.
struct VoiceParts: Sendable {
    let service: VoiceService
    let transcripts: VoiceTranscripts
    private let work: BoundedWork

    init(
        _ configuration: ServerConfiguration, store: Store, media: MediaParts, transcription: TranscriptionParts
    ) {
        // Half of the machine, since calls are what it is for.
        work = BoundedWork(atATime: ProcessInfo.processInfo.activeProcessorCount / 2, mostWaiting: 32)
        let commands = VoiceCommands(rules: VoiceRules(configuration))
        transcripts = VoiceTranscripts(
            store: store, commands: commands, files: media.files, work: work, queue: transcription.queue,
            logger: Logger(label: "transcripts"))
        service = VoiceService(
            store: store, commands: commands, files: media.files, links: media.links, work: work,
            transcribing: transcripts)
    }

    /// Uploads that wait for a processor.
    var decodingsWaiting: Int { work.waitingCount }
}
