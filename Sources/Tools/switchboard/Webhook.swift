import ArgumentParser
import Server

struct Webhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the webhooks that tell an app's own server what happens.",
        discussion: "What is changed takes effect at once, also in a running server.",
        subcommands: [
            Add.self, List.self, Rotate.self, Remove.self, Enable.self, Test.self, Replay.self, Listen.self,
        ])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a webhook; prints its id, then its secret, which cannot be printed again.",
            discussion: """
                Without --url it is read by GET /v1/server/events, with a server key of scope events, and has no secret.
                """)

        @Option(help: "The address: https, or http where webhooks.allow has it.")
        var url: String?

        @Option(help: "What it is for, as the list shows it.")
        var name: String?

        @Option(
            help: """
                An event: user.created, user.disabled, user.deleted, call.ringing, call.answered, call.missed, call.ended, \
                friend.requested, friend.accepted, friend.removed, conversation.created, conversation.updated, \
                conversation.member, message.created, message.edited, message.deleted, recording.ready or \
                transcript.ready. Repeat it, or separate events by commas; without it, all.
                """)
        var event: [String] = []

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.webhookAdd(url: url, name: name, events: event), options) }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print every webhook: id, name, address, state, events, waiting and dropped deliveries, creation."
        )

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.webhookList, options) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new secret. Messages are signed by the old one too for another 24 hours.")

        @Argument(help: "The webhook's id.")
        var id: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.webhookRotate(id: id), options) }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a webhook, with what waits for it.")

        @Argument(help: "The webhook's id.")
        var id: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.webhookRemove(id: id), options) }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enable a webhook that was disabled: by a response of 410, or by a restore.")

        @Argument(help: "The webhook's id.")
        var id: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.webhookEnable(id: id), options) }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a webhook.test event now, and print the response. The server must be running.")

        @Argument(help: "The webhook's id.")
        var id: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.webhookTest(id: id), options) }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send what happened since a time again, with the same ids.",
            discussion: "Events are kept for 30 days. Rings that are over are left out.")

        @Argument(help: "The webhook's id.")
        var id: String

        @Option(help: "Since when: a time such as 2026-11-24T12:00:00Z, or how long ago, such as 12h.")
        var since: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await control(.webhookReplay(id: id, since: since), options) }
    }
}
