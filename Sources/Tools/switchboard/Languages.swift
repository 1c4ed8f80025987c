import ArgumentParser
import Server

struct Languages: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read about the languages of messages, and erase or repair what was made of them.",
        subcommands: [Statistics.self, Erase.self, Repair.self, Reindex.self])

    struct Statistics: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count messages by language, and translations by languages and state.",
            discussion: """
                Lines with tabs: message, language, count; translation, from, into, state, count; waiting, count, age of \
                the oldest; vectors, model, count, bytes, how many messages wait for it; how many vectors are to be made \
                anew, and how many conversations to be compared with theirs; calls of hosted services in this month \
                (UTC), what for, engine, outcome, count, characters, tokens read, read again and written, dollars by the \
                prices in the configuration, how many of them are estimates, and seconds of speech; of a running server \
                also how much of what was asked for was there, and engine, what for, name, whether it is hosted or your own.
                """)

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.languageStatistics, options) }
    }

    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase all translations, or those into one language. They are made again for who asks.")

        @Option(help: "The language, as a BCP 47 tag such as pt-BR; without it, all.")
        var into: String?

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.translationErase(into: into), options) }
    }

    struct Repair: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have vectors compared with their messages: wrong ones go, missing ones are made.",
            discussion: """
                The server does it each night at 02:00 UTC, and goes on with it where it stopped. If none runs, it begins \
                when one does.
                """)

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.vectorRepair, options) }
    }

    struct Reindex: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have all vectors made anew, such as after the model of a service has changed under its name.",
            discussion: "The old ones are used until then. If no server runs, it begins when one does.")

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.vectorReindex, options) }
    }
}
