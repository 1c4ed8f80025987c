import ArgumentParser
import Foundation
import Server

extension Webhook {
    struct Listen: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pull events from a server and post them, signed, to an address that it cannot reach.",
            discussion: """
                For a developer's laptop: the server has a webhook without --url, and a key of the scope events. Prints the \
                secret, then a line for each event: type, id, status. Each is posted until it is received.
                """)

        @Option(help: "Where to post the events, such as http://127.0.0.1:3000/hooks.")
        var forward: String

        @Option(help: "The server's address, such as https://calls.example.org.")
        var server: String

        @Option(help: "A server key of the scope events. Other users of this machine can see it: give it a short life.")
        var key: String

        @Option(help: "A secret to sign with, as it was printed; without it, a new one is printed.")
        var secret: String?

        @Option(help: "A file that keeps the position, so that the next run goes on from it.")
        var cursor: String?

        func run() async throws {
            let options = EventListener.Options(
                forward: forward, server: server, key: key, secret: secret, cursor: cursor)
            try await failing {
                try await EventListener(options) { line in
                    print(line)
                    fflush(nil)
                }.run()
            }
        }
    }
}
