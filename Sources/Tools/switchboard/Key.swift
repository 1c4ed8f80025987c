import ArgumentParser
import Server

struct Key: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the keys with which an app's own back end uses /v1/server.",
        discussion: "A running server accepts a new key at once, and no longer accepts a revoked one.",
        subcommands: [Create.self, List.self, Rotate.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key and print it. It is not stored, so it cannot be printed again.")

        @Option(help: "What the key is for, as the list shows it.")
        var name: String

        @Option(
            help: """
                What the key may do: users, tokens, calls:read, calls:write, conversations:read, \
                conversations:write, recordings, events or operator. Repeat it, \
                or separate scopes by commas.
                """)
        var scope: [String]

        @Option(help: "How long it is valid, such as 90d, 12h, 30m or 45s; without it, until it is revoked.")
        var expires: String?

        @Option(help: "A range of addresses from which it may be used, such as 192.0.2.0/24. Repeat it for several.")
        var address: [String] = []

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await control(
                .keyCreate(name: name, scopes: scope, expires: expires, addresses: address), options)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print every key: id, name, state, scopes, addresses, creation, expiry, last use.")

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.keyList, options) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new key with the same id. The old one is accepted for another 24 hours.")

        @Argument(help: "The key's id.")
        var id: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.keyRotate(id: id), options) }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a key at once, for ever.")

        @Argument(help: "The key's id.")
        var id: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.keyRevoke(id: id), options) }
    }
}

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print who changed what with a key or on the command line, and what was refused.",
        discussion: """
            Time, actor, action, subject, outcome and address, the oldest first. Refusals are counted for each minute. \
            Entries are kept for 400 days; at most the latest 10000 are printed.
            """)

    @Option(help: "Since when: a time such as 2026-11-24T12:00:00Z, or how long ago, such as 7d.")
    var since = "1d"

    @Flag(help: "Print a line of JSON for each entry.")
    var json = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws { try await control(.audit(since: since, json: json), options) }
}
