import Foundation
import Glibc
import MediaFiles
import Model
import Storage
import Tokens

/// Makes a data directory from a backup.
///
/// Clients may be ahead of the backup. They recover by themselves: every stream has a new epoch, so all of them start
/// over from snapshots; the gateway has a new epoch; and refresh tokens that the backup does not contain lead to a new
/// sign-in.
struct RestoreWork: Sendable {
    /// - Parameter backup: the directory of the backup.
    /// - Returns: lines for the operator.
    static func run(_ configuration: ServerConfiguration, from backup: String) async throws -> [String] {
        let source = backup + "/" + BackupWork.database
        guard FileManager.default.isReadableFile(atPath: source) else {
            throw BackupError("\(backup) is not a backup: it has no readable \(BackupWork.database).")
        }
        let path = configuration[\.storage.path]
        let directory = try DataDirectory(path: path, creates: true)
        let others = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != DataDirectory.lockName }
        guard others.isEmpty else {
            throw BackupError(
                "\(path) is not empty: a backup is restored into an empty directory. Move its content away, or choose "
                    + "another with storage.path.")
        }
        do {
            return try await restore(from: backup, into: directory, configuration)
        } catch {
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != DataDirectory.lockName {
                try? FileManager.default.removeItem(atPath: directory.file(name))
            }
            throw error
        }
    }

    private static func restore(
        from backup: String, into directory: DataDirectory, _ configuration: ServerConfiguration
    ) async throws -> [String] {
        // In a staging directory until it is complete, so that a crash leaves no database that a server would open.
        let staging = directory.file("restoring")
        try FileManager.default.createDirectory(
            atPath: staging, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let unfinished = staging + "/" + BackupWork.database
        try FileManager.default.copyItem(atPath: backup + "/" + BackupWork.database, toPath: unfinished)
        guard chmod(unfinished, 0o600) == 0 else { throw BackupError("\(unfinished) cannot be written.") }
        let database = try SQLiteDatabase(path: unfinished)
        let copied: MediaCopy
        let compaction: SQLiteDatabase.Compaction
        do {
            try await database.checkIntegrity()
            let store = Store(database: database) { _ in }
            try await store.prepare()
            compaction = try await database.compact()
            try await store.beginAfterRestore()
            copied = try await copyMedia(from: backup, to: directory, store)
            try await database.checkpointAfterReads()
            await database.close()
        } catch {
            await database.close()
            throw error
        }
        _ = try SigningKey.load(from: directory.file("signing-key.pem"))
        _ = try MediaKey.load(from: directory.file("media-key"))
        _ = try WebhookKey.load(from: directory.file("webhooks-key"))
        _ = try PushKey.load(from: directory.file("push-key"))
        _ = try VAPIDKey.load(from: directory.file("vapid-key.pem"), subject: nil)
        _ = try RelaySecretFile.load(path: directory.file("relay-secret"))
        try DataDirectory.publish(unfinished, as: directory.file(BackupWork.database))
        try FileManager.default.removeItem(atPath: staging)
        let lines = BackupWork.lines(copied, "Restored to \(directory.path)") + SwitchboardServer.lines(compaction)
        return lines + [
            "Signing, media and relay keys are new: clients get new tokens by themselves, or sign in again.",
            "Nobody is pushed to until their app has started again: it registers the device anew.",
            "Server keys are revoked and webhooks are off, since some may have been revoked or removed after the backup: "
                + "create keys, and `switchboard webhook rotate` and `enable` the webhooks that you want.",
            "Changes since the backup are undone: revoked sign-ins, blocked users, disabled accounts, and deleted "
                + "messages and recordings are as they were before. Repeat those changes where they matter.",
            "Deleted accounts are back as well: `switchboard account delete --from FILE --yes` repeats the deletions that "
                + "a copy of the audit log has.",
        ]
    }

    private static func copyMedia(
        from backup: String, to directory: DataDirectory, _ store: Store
    ) async throws -> MediaCopy {
        let from = backup + "/" + BackupWork.media
        guard FileManager.default.fileExists(atPath: from) else { return MediaCopy() }
        let files = MediaFiles(reading: from)
        let target = directory.file(BackupWork.media)
        try files.prepareCopy(at: target)
        var copied = MediaCopy()
        var last: FileID?
        repeat {
            let after = last
            let page = try await store.read { try $0.mediaFiles(after: after, limit: 1000) }
            copied += try await files.copy(page, to: target)
            last = page.last
        } while last != nil
        return copied
    }
}
