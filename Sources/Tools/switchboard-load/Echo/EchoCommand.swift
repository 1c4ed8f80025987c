import ArgumentParser
import Dispatch
import Foundation
import Wire

/// `switchboard-load echo`: a user who answers, and sends back the audio and video of the caller.
struct EchoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "echo",
        abstract: "A user who answers every call and sends its audio and video back.",
        discussion: """
            For a developer who has nobody to call. It signs up a new user, or signs in with --email and --password \
            (and creates that account if there is none), answers calls of two and of groups, and sends back what it \
            receives until the caller hangs up:

              switchboard-load echo --url http://127.0.0.1:8080 --name Echo

            Of a group it sends back the participant who speaks. Calls of two are connected directly, at an address of \
            this machine that the caller reaches; through a relay they are not. Each event is a line of the output. \
            Ctrl-C hangs up and ends.
            """)

    @Option(help: "The server's address, http or https.")
    var url = "http://127.0.0.1:8080"

    @Option(help: "The name of a new user, 1 to 80 characters.")
    var name = "Echo"

    @Option(help: "The e-mail address to sign in with, so that every run is the same user. Requires --password.")
    var email: String?

    @Option(help: "The password, at least 8 characters.")
    var password: String?

    @Option(help: "The invite code, if the server requires one to sign up.")
    var invite: String?

    @Option(help: "How many calls at once, 1 to 64. With more than one, call waiting is turned on for the user.")
    var limit = 4

    @Option(
        help: "An address of this machine to offer to callers, instead of all. May be repeated.")
    var address: [String] = []

    func validate() throws {
        guard (email == nil) == (password == nil) else {
            throw ValidationError("--email and --password must be given together, or neither.")
        }
        guard (1...80).contains(name.count) else { throw ValidationError("--name must have 1 to 80 characters.") }
        guard (1...64).contains(limit) else { throw ValidationError("--limit must be 1 to 64.") }
        guard let components = URLComponents(string: url), ["http", "https"].contains(components.scheme),
            components.host?.isEmpty == false
        else { throw ValidationError("--url must be an http or https address, such as http://127.0.0.1:8080.") }
        _ = try addresses()
    }

    private func addresses() throws -> [IPAddress] {
        try address.map { text in
            guard let address = IPAddress(text), !address.isUnspecified else {
                throw ValidationError("--address must be an IP address of this machine, not \(text).")
            }
            return address
        }
    }

    func run() async throws {
        var server = url
        while server.hasSuffix("/") { server.removeLast() }
        let service = try EchoService(
            server, EchoAccount(name: name, email: email, password: password, invite: invite), limit: limit,
            EchoAddresses(try addresses()), report: { $0.print() })
        let signals = [SIGINT, SIGTERM].map { number in
            StopSignal.handle(number) { Task { await service.stop() } }
        }
        defer { for source in signals { source.cancel() } }
        try await service.run()
    }
}

/// Handles the signals that end the program.
private enum StopSignal {
    /// Calls `stop` instead of ending the process.
    static func handle(_ number: Int32, stop: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: stop)
        source.resume()
        return source
    }
}
