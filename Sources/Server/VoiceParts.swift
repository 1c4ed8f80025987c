import Foundation
import Storage
import Voice
import WebAPI

/// Voice messages: their commands, and where sounds are decoded.
struct VoiceParts: Sendable {
    let service: VoiceService
    private let work: BoundedWork

    init(_ configuration: ServerConfiguration, store: Store, media: MediaParts) {
        // Half of the machine, since calls are what it is for.
        work = BoundedWork(atATime: ProcessInfo.processInfo.activeProcessorCount / 2, mostWaiting: 32)
        service = VoiceService(
            store: store, commands: VoiceCommands(rules: VoiceRules(configuration)), files: media.files,
            links: media.links, work: work)
    }

    /// Uploads that wait for a processor.
    var decodingsWaiting: Int { work.waitingCount }
}
