// Reactions, pins, threads and forwarding.
extension Messages {
    private struct Of: Encodable, Sendable { var conversation: ConversationID; var number: Int }
    private struct ListingReactions: Encodable, Sendable {
        var conversation: ConversationID
        var number: Int
        var emoji: String?
        var limit: Int?
        var cursor: String?
    }
    private struct ListingReceipts: Encodable, Sendable {
        var conversation: ConversationID
        var number: Int
        var limit: Int?
        var cursor: String?
    }
    private struct ListingThread: Encodable, Sendable {
        var conversation: ConversationID
        var thread: Int
        var before: Int?
        var limit: Int?
    }

    /// Reacts to a message, now or as soon as there is a connection. Reacting twice with an emoji changes nothing.
    ///
    /// - Parameters:
    ///   - emoji: One emoji.
    ///   - number: The message's number.
    public func react(_ emoji: String, to number: Int) async throws {
        try await realtime.write(.react, number, emoji: emoji, in: conversation)
    }

    /// Takes a reaction back, now or as soon as there is a connection. Doing so twice changes nothing.
    ///
    /// - Parameters:
    ///   - emoji: The emoji of the reaction.
    ///   - number: The message's number.
    public func removeReaction(_ emoji: String, from number: Int) async throws {
        try await realtime.write(.removeReaction, number, emoji: emoji, in: conversation)
    }

    /// The users who reacted to a message, page by page.
    ///
    /// - Parameters:
    ///   - number: The message's number.
    ///   - emoji: Only with this emoji; nil for all.
    ///   - limit: How many at most, 1 to 100.
    ///   - cursor: ``ReactionPage/nextCursor`` of the previous page.
    public func reactions(
        to number: Int, with emoji: String? = nil, limit: Int? = nil, after cursor: String? = nil
    ) async throws -> ReactionPage {
        try await realtime.request(
            "messages.reactions",
            ListingReactions(
                conversation: await realtime.resolve(conversation), number: number, emoji: emoji, limit: limit,
                cursor: cursor))
    }

    /// The users who have received and read a message, and when, page by page. Users who have turned read receipts off
    /// are absent. If you turn read receipts off, you get an empty page.
    ///
    /// - Parameters:
    ///   - number: The message's number.
    ///   - limit: How many at most, 1 to 100.
    ///   - cursor: ``ReceiptPage/nextCursor`` of the previous page.
    public func receipts(
        of number: Int, limit: Int? = nil, after cursor: String? = nil
    ) async throws -> ReceiptPage {
        try await realtime.request(
            "messages.receipts",
            ListingReceipts(
                conversation: await realtime.resolve(conversation), number: number, limit: limit, cursor: cursor))
    }

    /// Pins a message for all members, now or as soon as there is a connection. Pinning twice changes nothing.
    public func pin(_ number: Int) async throws { try await realtime.write(.pin, number, in: conversation) }

    /// Takes a pin off, now or as soon as there is a connection. Doing so twice changes nothing.
    public func unpin(_ number: Int) async throws { try await realtime.write(.unpin, number, in: conversation) }

    /// The messages of a thread, the newest of those before a number, in order.
    ///
    /// - Parameters:
    ///   - number: The number of the message that the thread is about.
    ///   - before: Only those before this number; nil for the newest.
    ///   - limit: How many at most, 1 to 100; nil is 50.
    /// - Returns: The messages, and whether there are earlier ones.
    public func thread(
        of number: Int, before: Int? = nil, limit: Int? = nil
    ) async throws -> (messages: [Message], hasEarlier: Bool) {
        let page: MessagePage = try await realtime.request(
            "messages.list",
            ListingThread(
                conversation: await realtime.resolve(conversation), thread: number, before: before, limit: limit))
        await realtime.keep(page.messages, in: conversation)
        return (page.messages, page.hasEarlier)
    }

    /// Sends a message into the thread of another one, now or as soon as there is a connection.
    ///
    /// - Parameters:
    ///   - text: As for ``send(_:replyTo:)``.
    ///   - root: The message that the thread is about, which is in no thread itself, and may wait too.
    /// - Returns: The message's identity, by which ``State/messages`` shows it at once.
    @discardableResult
    public func send(_ text: String, inThreadOf root: Message.ID) async throws -> Message.ID {
        try await realtime.send(text, replyTo: nil, thread: root, in: conversation)
    }

    /// Sends a message into the thread of another one, now or as soon as there is a connection.
    ///
    /// - Parameters:
    ///   - text: As for ``send(_:replyTo:)``.
    ///   - number: The number of the message that the thread is about, which is in no thread itself.
    /// - Returns: The message's identity, by which ``State/messages`` shows it at once.
    @discardableResult
    public func send(_ text: String, inThreadOf number: Int) async throws -> Message.ID {
        try await realtime.send(text, inThreadOf: number, in: conversation)
    }

    /// Sends the text of a message of this conversation to another one, with the name of the user who wrote it first,
    /// now or as soon as there is a connection.
    ///
    /// - Parameters:
    ///   - number: The message's number.
    ///   - target: The conversation that it is sent to.
    /// - Returns: The new message's identity, by which the other conversation shows it at once.
    @discardableResult
    public func forward(_ number: Int, to target: ConversationID) async throws -> Message.ID {
        try await realtime.forward(number, of: conversation, to: target)
    }
}
