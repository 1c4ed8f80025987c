import ArgumentParser
import Server

struct Report: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read what users report about others.", subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the newest reports: time, id, reporter, reported user, reason, text.")

        @Option(help: "How many, 1 to 10000.")
        var count = 1000

        @OptionGroup var options: ConfigurationOptions

        func validate() throws {
            guard (1...10_000).contains(count) else { throw ValidationError("--count must be from 1 to 10000.") }
        }

        func run() async throws { try await control(.reportList(count: count), options) }
    }
}
