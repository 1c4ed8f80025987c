import ArgumentParser
import Foundation
import Server

@main
enum Program {
    /// Not async, since that opens a descriptor first.
    static func main() {
        StandardStreams.fill()
        // What any command makes is for its user alone: database, keys, sockets, media files, backups.
        umask(0o077)
        Task {
            await Switchboard.main()
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }
}

struct Switchboard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "switchboard",
        abstract: "Calls, signalling and a relay for your app, from one server.",
        version: ServerVersion.text,
        subcommands: [
            Serve.self, Reload.self, Drain.self, Check.self, Account.self, Token.self, Key.self, Webhook.self,
            Report.self, Audit.self, Languages.self, Engine.self,
            Migrate.self, Import.self, Export.self, Backup.self, Restore.self, Settings.self,
        ])
}

/// The options of every command that needs the configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "The YAML file with the settings; without it, the defaults apply.")
    var config: String?

    @Argument(
        parsing: .allUnrecognized,
        help: "Settings as options, such as --http-port 9000 for http.port. They override the file.")
    var settings: [String] = []

    var source: ConfigurationSource { ConfigurationSource(file: config, arguments: settings) }

    func validate() throws {
        // Of a repeated option, the last would win silently. Those in `settings` are checked with their values.
        let arguments = ProcessInfo.processInfo.arguments.dropFirst()
        let lists: Set<String> = ["--scope", "--address", "--event"]
        var given: Set<String> = []
        for argument in arguments where argument.hasPrefix("--") && !settings.contains(argument) {
            let name = argument.split(separator: "=", maxSplits: 1).first.map(String.init) ?? argument
            guard lists.contains(name) || given.insert(name).inserted else {
                throw ValidationError("\(name) is given twice: give it once.")
            }
        }
    }

    func load() throws -> ServerConfiguration {
        do {
            return try source.read()
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve until SIGTERM or SIGINT.",
        discussion: """
            SIGHUP reloads the configuration. SIGTERM and SIGINT let relayed calls go on for at most \
            shutdown.drainSeconds; a second signal does not wait for them.
            """)

    @Option(help: "Which parts to run: api, relay and gateway, separated by commas. The gateway needs the api.")
    var role = "api,relay,gateway"

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.load()
        let roles: Set<ServerRole>
        do {
            roles = try ServerRole.parse(role)
        } catch {
            throw ValidationError("\(error)")
        }
        try await failing { try await SwitchboardServer.run(configuration, from: options.source, roles: roles) }
    }
}

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Migrate the database to this version, and report what was done.",
        discussion: """
            No server may run on the data directory: stop it first. `serve` migrates by itself, so that this is only \
            needed to do it at another time.
            """)

    @Flag(help: "Make the data directory of storage.path and a new database if there are none.")
    var new = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.load()
        try await failing {
            for line in try await SwitchboardServer.migrate(configuration, creates: new) { print(line) }
        }
    }
}

struct Settings: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print every setting with its default, as a YAML file.")

    func run() { print(ReferenceFile.text, terminator: "") }
}

/// Runs `body`; an error is printed as one line on standard error, with exit code 1.
func failing(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let code as ExitCode {
        throw code
    } catch {
        StandardError.write("switchboard: \(error)")
        throw ExitCode(1)
    }
}
