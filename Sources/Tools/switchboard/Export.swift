import ArgumentParser
import Foundation
import Server

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Export users, conversations and messages to a file, while the server runs.",
        discussion: """
            The file has a JSON object on each line, as /docs/moving describes, and `import` reads it. The sounds of voice \
            messages are in a folder beside it: all.files of all.jsonl. Without --user it has \
            the e-mail addresses and the hashes of the passwords of those whom it concerns: it is only for the server's user \
            (0600).
            """)

    @Argument(help: "A file that does not exist yet.")
    var file: String

    @Option(help: "The id of a conversation: only that one, with all members.")
    var conversation: String?

    @Option(
        help: "An e-mail address, a user's id, or ext: and the app's own id: the conversations as that user sees them.")
    var user: String?

    @OptionGroup var options: ConfigurationOptions

    func validate() throws {
        guard conversation == nil || user == nil else {
            throw ValidationError("Name either a conversation or a user.")
        }
    }

    func run() async throws {
        let configuration = try options.load()
        let path = URL(filePath: file).standardizedFileURL.path
        try await failing {
            let count = try await SwitchboardServer.withControl(configuration) { send in
                try await ExportRun.run(to: path, conversation: conversation, user: user, send)
            }
            print("Exported \(count) lines to \(path).")
        }
    }
}
