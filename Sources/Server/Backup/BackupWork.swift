import Foundation
import MediaFiles
import Model
import Storage

/// Makes a backup of the data directory while the server runs.
///
/// A backup is a directory (0700) with a consistent snapshot of the database and the media files that it references. It
/// contains no keys: a restored server makes new ones. The database gets its final name last, so a directory without it
/// is not a complete backup.
struct BackupWork: Sendable {
    static let database = DataDirectory.databaseName
    static let media = "media"
    private static let pageSize = 1000

    let source: SQLiteDatabase
    let files: MediaFiles?

    /// - Parameter path: the absolute path of a directory that is empty or does not exist.
    /// - Returns: lines for the operator.
    func run(to path: String) async throws -> [String] {
        try Self.makeDirectory(path)
        let hold = files?.holdRemovals()
        defer { hold?.release() }
        let unfinished = path + "/" + Self.database + ".part"
        try await source.backUp(to: unfinished)
        var copied = MediaCopy()
        if let files {
            try files.prepareCopy(at: path + "/" + Self.media)
            try await Self.eachFile(of: unfinished) { page in
                copied += try await files.copy(page, to: path + "/" + Self.media)
            }
        }
        try DataDirectory.publish(unfinished, as: path + "/" + Self.database)
        return Self.lines(copied, "Backed up to \(path)")
    }

    static func lines(_ copied: MediaCopy, _ verb: String) -> [String] {
        ["\(verb): the database and \(copied.count) media files."]
            + (copied.missing > 0
                ? ["\(copied.missing) media files that the database references were missing."] : [])
    }

    private static func makeDirectory(_ path: String) throws {
        let manager = FileManager.default
        guard path.hasPrefix("/") else { throw BackupError("\(path) is not an absolute path.") }
        do {
            try manager.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard try manager.contentsOfDirectory(atPath: path).isEmpty else {
                throw BackupError("\(path) is not empty: a backup needs an empty directory.")
            }
            try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        } catch let error as BackupError {
            throw error
        } catch {
            throw BackupError("The server's user cannot create or write \(path): \(error.localizedDescription)")
        }
    }

    /// The media files that a snapshot references, page by page.
    private static func eachFile(of path: String, _ body: ([FileID]) async throws -> Void) async throws {
        let snapshot = try SQLiteSnapshot(path: path)
        var last: FileID?
        repeat {
            let after = last
            let page = try await snapshot.read {
                try StoreTransaction($0, now: Timestamp.systemClock()).mediaFiles(after: after, limit: pageSize)
            }
            try await body(page)
            last = page.last
        } while last != nil
    }
}

/// Why a backup could not be made or restored, for the operator.
struct BackupError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
