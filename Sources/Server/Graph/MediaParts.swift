import Logging
import MediaFiles
import Model
import Services
import Storage
import Tokens
import WebAPI

/// The directory of media files, and the URLs at which they are served.
struct MediaParts: Sendable {
    let files: MediaFiles
    let links: MediaLinks
    /// Also makes digests of what must not be guessed.
    let key: MediaKey
    private let store: Store

    init(_ configuration: ServerConfiguration, store: Store, directory: DataDirectory) async throws {
        let logger = Logger(label: "media")
        let (key, warning) = try MediaKey.load(from: directory.file("media-key"))
        if let warning { logger.warning("\(warning)") }
        self.store = store
        self.key = key
        files = try MediaFiles(
            path: directory.file("media"), minFreeBytes: configuration[\.media.minFreeBytes])
        links = MediaLinks(key: key, seconds: configuration[\.media.linkSeconds])
        let removed = try await Self.sweep(files, store)
        if removed > 0 { logger.notice("removed orphaned files", metadata: ["count": "\(removed)"]) }
    }

    func operations(_ checkers: [MediaFile.Kind: MediaChecker]) -> MediaOperations {
        MediaOperations(files: files, links: links, store: store, checkers: checkers)
    }

    /// Removes files without a row in the database, which a crash can leave behind.
    private static func sweep(_ files: MediaFiles, _ store: Store) async throws -> Int {
        let found = try await files.all()
        let unknown = try await store.read { store in try found.filter { try store.mediaFile($0) == nil } }
        for file in unknown { try await files.remove(file) }
        return unknown.count
    }
}
