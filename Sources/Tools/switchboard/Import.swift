import ArgumentParser
import Server

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import users, conversations and messages of another system, while the server runs.",
        discussion: """
            The files have a JSON object on each line, as /docs/moving describes, and the sounds of voice messages are in a \
            folder beside: all.files of all.jsonl. What was imported before is skipped, so \
            that an import that was interrupted is run again. The exit code is 1 if a line was refused.
            """)

    @Argument(help: "A file of JSON Lines; others may follow it.")
    var file: String

    @Option(help: "The name of the system that the ids are of, where a line has no source.")
    var source: String?

    @Flag(help: "Only check the files: nothing is imported, and no server is needed.")
    var dryRun = false

    @Flag(help: "Leave out lines that are wrong or refused, and import the rest of their conversations for good.")
    var skipInvalid = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        // The parser has one list of values that it does not know: the other files come first in it.
        let others = options.settings.prefix { !$0.hasPrefix("--") }
        var options = options
        options.settings.removeFirst(others.count)
        let configuration = try options.load()
        try await failing {
            let run = try ImportRun(paths: [file] + others, source: source, continues: skipInvalid) {
                StandardError.write("switchboard: \($0)")
            }
            let report: ImportReport
            if dryRun {
                report = run.check.report
                run.check.lines.forEach { print($0) }
            } else {
                report = try await SwitchboardServer.withControl(configuration) { try await run.run($0) }
                report.lines.forEach { print($0) }
            }
            for reason in report.reasons { StandardError.write(reason) }
            guard report.isComplete else { throw ExitCode(1) }
        }
    }
}
