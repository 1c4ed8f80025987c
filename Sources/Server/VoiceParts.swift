import Foundation
import Logging
import MediaFiles
import Model
import Storage
import Tokens
import Voice
import WebAPI

/// Voice messages: their commands, the directory of media, and where sounds are decoded.
struct VoiceParts: Sendable {
    let service: VoiceService
    private let files: MediaFiles
    private let work: BoundedWork

    init(_ configuration: ServerConfiguration, store: Store, directory: DataDirectory) async throws {
        let logger = Logger(label: "media")
        let (key, warning) = try MediaKey.load(from: directory.file("media-key"))
        if let warning { logger.warning("\(warning)") }
        files = try MediaFiles(path: directory.file("media"))
        // Half of the machine, since calls are what it is for.
        work = BoundedWork(atATime: ProcessInfo.processInfo.activeProcessorCount / 2, mostWaiting: 32)
        service = VoiceService(
            store: store, commands: VoiceCommands(rules: VoiceRules(configuration)), files: files,
            links: MediaLinks(key: key, seconds: configuration.integer("media.linkSeconds")), work: work)
        let removed = try await Self.sweep(files, store)
        if removed > 0 { logger.notice("removed files of nobody", metadata: ["count": "\(removed)"]) }
    }

    func media(_ gate: Gate) -> MediaOperations {
        MediaOperations(
            files: files, links: service.links, store: service.store, gate: gate,
            checkers: [.voice: VoiceOperations.checker(service.commands)])
    }

    /// Uploads that wait for a processor.
    var decodingsWaiting: Int { work.waitingCount }

    /// Removes the files that belong to nothing: a crash came between them and their rows.
    private static func sweep(_ files: MediaFiles, _ store: Store) async throws -> Int {
        let found = try await files.all()
        let unknown = try await store.read { store in try found.filter { try store.mediaFile($0) == nil } }
        for file in unknown { try await files.remove(file) }
        return unknown.count
    }
}
