import ArgumentParser
import Foundation
import Server

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the database and the media files to a new directory, while the server runs.",
        discussion: """
            The running server makes a consistent snapshot of the database, and then links or copies the media files that \
            it names; what is deleted meanwhile is kept until that is done. The directory is for the server's user alone \
            (0700). Keys are not in it: a restored server makes new ones.
            """)

    @Argument(help: "A directory that is empty or not there yet.")
    var directory: String

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let path = URL(filePath: directory).standardizedFileURL.path
        try await control(.backup(path: path), options)
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the data directory of storage.path out of a backup.",
        discussion: """
            The directory of storage.path must be empty, and no server may hold it. Signing, media and relay keys are new. \
            Clients come right by themselves; some have to sign in again. Revocations, blocks and deletions since the \
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
