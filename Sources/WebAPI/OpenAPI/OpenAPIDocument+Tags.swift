// The groups of operations.
extension OpenAPIDocument {
    private static let tagDescriptions: [(String, String)] = [
        ("server", "The server: its version, what it offers, and its public keys."),
        ("accounts", "Signing up."),
        ("sessions", "Signing in and out: sessions and their tokens."),
        ("devices", "The installations on which the user has signed in."),
        ("me", "The user's own profile and settings."),
        ("users", "Other users' profiles."),
        ("blocks", "The users whom the user has blocked."),
        ("friends", "Friends, and requests to become friends."),
        ("links", "What a link leads to: a contact or a group."),
        ("reports", "Reports to the operator."),
        ("conversations", "Conversations: of two people, of groups, and with oneself."),
        ("push", "Devices that are told of messages and calls when they sleep."),
        ("inbox", "The list of the user's conversations."),
        ("members", "The members of conversations."),
        ("presence", "Whether the user is there."),
        ("typing", "Who is writing."),
        ("messages", "Messages: sending, reading, editing, deleting and searching."),
        ("translations", "Messages in other languages."),
        ("hints", "Explanations of what messages mean."),
        ("drafts", "Checking and rewriting messages that are not sent yet."),
        ("replies", "Replies to messages, as suggestions."),
        ("glossary", "Terms that are always translated in the same way."),
        ("summaries", "Summaries of messages and calls."),
        ("priority", "The unread messages that a user should see first."),
        ("assistant", "Questions of users about their own messages."),
        ("scheduled", "Messages that are sent later."),
        ("calls", "Calls and their signals, legs with the media gateway, captions, and WHIP and WHEP."),
        ("recordings", "Recordings of calls, their mixes and transcripts."),
        ("voice", "The sound of voice messages, uploaded or recorded by the server, before it is sent."),
        ("media", "Photos, and the audio of recordings and voice messages."),
        (webhooksTag, "What the server sends to webhooks, and what they respond: see the [guide](/docs/webhooks)."),
        ("admin", "The operator's port."),
        ("iceServers", "STUN and TURN servers, with credentials."),
    ]

    /// The tags that operations have, with their descriptions.
    var tags: [JSON] {
        let used = Set(operations.map(\.tag) + documents.map(\.tag) + (eventTypes.isEmpty ? [] : [Self.webhooksTag]))
        return Self.tagDescriptions.filter { used.contains($0.0) }.map { name, description in
            .object([("name", .text(name)), ("description", .text(description))])
        }
    }
}
