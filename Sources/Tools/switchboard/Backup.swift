import ArgumentParser
import Foundation
import Server

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the database and the media files to a new directory, while the server runs.",
        discussion: """
            The running server makes a consistent snapshot of the database, and then links or copies the media files that \
            it references; files that are deleted meanwhile are kept until then. The directory is only for the \
            server's user (0700). It contains no keys: a restored server makes new ones.
            """)

    @Argument(help: "A directory that is empty or does not exist yet.")
    var directory: String

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let path = URL(filePath: directory).standardizedFileURL.path
        try await control(.backup(path: path), options)
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the data directory of storage.path from a backup.",
        discussion: """
            The directory of storage.path must be empty, and no server may use it. Signing, media and relay keys are new. \
            Clients recover by themselves; some have to sign in again. Revocations, blocks and deletions since the \
            backup are undone.
            """)

    @Argument(help: "The directory of the backup.")
    var directory: String

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.load()
        try await failing {
            for line in try await SwitchboardServer.restore(configuration, from: directory) { print(line) }
        }
    }
}
