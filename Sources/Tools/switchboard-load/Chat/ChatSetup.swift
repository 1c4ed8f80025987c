/// Makes the friends and conversations of a plan.
struct ChatSetup: Sendable {
    var run: ChatConnections
    var plan: ChatPlan

    /// Conversations that are made at a time.
    private static let concurrency = 16

    /// Two users, the lower one first.
    private struct Pair: Hashable { var one, other: Int }

    /// Lets the users write and read in two languages, and tries whether the server translates between these.
    func makeReaders() async throws {
        try await run.forEach(run.people.indices, atOnce: Self.concurrency) { user in
            _ = try await run.ask(
                user, "me.update",
                #"{"languages":["\#(ChatLanguage(of: user).rawValue)"],"translation":{"mode":"automatic"}}"#)
        }
        for user in 0..<2 {
            let language = ChatLanguage(of: user)
            let notes = try await run.ask(
                user, "conversations.create", #"{"clientID":"\#(UUIDText.make())","kind":"self"}"#)
            guard let id = notes.conversation else {
                throw CallsFailure(what: "conversations.create: a result without a conversation")
            }
            let sent = try await run.ask(
                user, "messages.send",
                #"{"conversation":"\#(id)","clientID":"\#(UUIDText.make())","#
                    + #""text":"\#(language.text(0, bytes: 100))"}"#)
            // An error says what is missing.
            _ = try await run.ask(
                user, "translations.request",
                #"{"conversation":"\#(id)","numbers":[\#(sent.messages.first?.number ?? 0)],"#
                    + #""language":"\#(language.other.rawValue)"}"#)
        }
    }

    /// Returns the ids of the conversations, in their order.
    func make(_ progress: @Sendable (Int) -> Void) async throws -> [String] {
        // Only friends of its creator are in a group at once, and only a friend can be written to without limit.
        var friends: Set<Pair> = []
        for conversation in plan.conversations {
            guard let creator = conversation.members.first else { continue }
            for other in conversation.members.dropFirst() {
                friends.insert(Pair(one: min(creator, other), other: max(creator, other)))
            }
        }
        try await run.forEach(Array(friends), atOnce: Self.concurrency) { try await befriend($0) }
        let made = MadeConversations(plan.conversations.count)
        try await run.forEach(Array(plan.conversations.enumerated()), atOnce: Self.concurrency, progress) {
            await made.set($0.offset, to: try await create($0.element))
        }
        return await made.ids
    }

    private func befriend(_ pair: Pair) async throws {
        let (one, other) = (run.people[pair.one].user, run.people[pair.other].user)
        _ = try await run.ask(
            pair.one, "friends.request", #"{"clientID":"\#(UUIDText.make())","user":"\#(other)"}"#)
        _ = try await run.ask(pair.other, "friends.accept", #"{"user":"\#(one)"}"#)
    }

    private func create(_ conversation: ChatPlan.Conversation) async throws -> String {
        let others = conversation.members.dropFirst().map { #""\#(run.people[$0].user)""# }.joined(separator: ",")
        let kind = conversation.isDirect ? "direct" : "group"
        let frame = try await run.ask(
            conversation.members[0], "conversations.create",
            #"{"clientID":"\#(UUIDText.make())","kind":"\#(kind)","members":[\#(others)]}"#)
        guard let id = frame.conversation else {
            throw CallsFailure(what: "conversations.create: a result without a conversation")
        }
        return id
    }
}

/// The ids of conversations that are made at the same time.
private actor MadeConversations {
    private(set) var ids: [String]

    init(_ count: Int) { ids = Array(repeating: "", count: count) }

    func set(_ index: Int, to id: String) { ids[index] = id }
}
