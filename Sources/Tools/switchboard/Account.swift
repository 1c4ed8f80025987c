import ArgumentParser
import Server

struct Account: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage accounts, on the server's machine.",
        subcommands: [Create.self, List.self, Disable.self, Enable.self, Delete.self, Invite.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an account; the password is read from standard input.")

        @Option(help: "The e-mail address to sign in with.")
        var email: String

        @Option(help: "The name that others see; the default is the address.")
        var name: String?

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            let password = readLine(strippingNewline: true) ?? ""
            try await control(
                .accountCreate(email: email, password: password, displayName: name ?? email), options)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print every account: id, address, name, state.")

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.accountList, options) }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Disable an account and sign it out everywhere.")

        @Option(help: "The e-mail address of the account.")
        var email: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.accountDisable(email: email), options) }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Enable a disabled account.")

        @Option(help: "The e-mail address of the account.")
        var email: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.accountEnable(email: email), options) }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an account for ever, with what is stored of its user.",
            discussion: """
                The account is signed out at once, and a running server erases the rest within a minute; otherwise the \
                next start of the server does. After a backup was restored, --from repeats the deletions that the audit \
                log has: lines of `switchboard audit` or of the server's log.
                """)

        @Argument(help: "The e-mail address of the account, the user's id, or ext: and the app's own id.")
        var account: String?

        @Option(help: "A file with lines of the audit log, or - for standard input: repeat the deletions in it.")
        var from: String?

        @Flag(help: "Confirm that the account is to be deleted: this cannot be undone.")
        var yes = false

        @OptionGroup var options: ConfigurationOptions

        func validate() throws {
            guard (account == nil) != (from == nil) else {
                throw ValidationError("Name either an account or, with --from, a file.")
            }
            guard yes else { throw ValidationError("A deletion cannot be undone. Confirm it with --yes.") }
        }

        func run() async throws {
            if let account {
                return try await control(.accountDelete(accounts: [account], isRepetition: false), options)
            }
            guard let from else { return }
            try await failing {
                let users = try DeletionLog.users(inFile: from)
                if users.isEmpty { print("\(from) has no deletions.") }
                for start in stride(from: 0, to: users.count, by: DeletionLog.batch) {
                    let batch = Array(users[start..<min(start + DeletionLog.batch, users.count)])
                    try await control(.accountDelete(accounts: batch, isRepetition: true), options)
                }
            }
        }
    }

    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print invite codes, each good for one sign-up.")

        @Option(help: "How many codes, 1 to 1000.")
        var count = 1

        @OptionGroup var options: ConfigurationOptions

        func validate() throws {
            guard (1...1000).contains(count) else { throw ValidationError("--count must be from 1 to 1000.") }
        }

        func run() async throws { try await control(.invite(count: count), options) }
    }
}

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print access tokens of virtual users for load tests, as a line of JSON each.")

    @Option(help: "How many users, 1 to 100000.")
    var count = 1

    @Option(help: "The prefix of the users' names: PREFIX-1 and so on.")
    var prefix = "load"

    @OptionGroup var options: ConfigurationOptions

    func validate() throws {
        guard (1...100_000).contains(count) else { throw ValidationError("--count must be from 1 to 100000.") }
        guard !prefix.isEmpty, prefix.utf8.count <= 32,
            prefix.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { throw ValidationError("--prefix must be 1 to 32 letters and digits.") }
    }

    func run() async throws { try await control(.token(count: count, prefix: prefix), options) }
}

/// Has `request` handled by the running server, or by this process if none runs, and prints the response.
func control(_ request: ControlRequest, _ options: ConfigurationOptions) async throws {
    let configuration = try options.load()
    try await failing {
        let response = try await SwitchboardServer.control(request, configuration)
        for line in response.lines { print(line) }
        if let error = response.error {
            StandardError.write("switchboard: \(error)")
            throw ExitCode(1)
        }
    }
}
