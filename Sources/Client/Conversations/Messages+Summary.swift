extension Messages {
    private struct Summarising: Encodable, Sendable {
        var conversation: ConversationID
        var from: Int?
        var to: Int?
        var thread: Int?
        var unread: Bool?
        var call: CallID?
    }

    /// What is worth knowing of the conversation, or of a part of it. It needs a connection.
    ///
    /// The last one of the conversation is kept for ``storedSummary()``, unless it is of a call, or nothing else is
    /// stored of the conversation.
    ///
    /// - Throws: ``Problem/Kind/providerNotConfigured`` where nothing understands texts.
    public func summary(of scope: SummaryScope = SummaryScope()) async throws -> Summary {
        let id = await realtime.resolve(conversation)
        let (owner, sequence) = (await realtime.storeOwner, await realtime.knownSequence(of: id))
        let summary: Summary = try await realtime.request(
            "summaries.create",
            Summarising(
                conversation: id, from: scope.from, to: scope.to, thread: scope.thread,
                unread: scope.isUnread ? true : nil, call: scope.call))
        await realtime.keep(summary, of: scope, asOf: sequence, in: id, for: owner)
        return summary
    }

    /// The last summary of the conversation that this device has read. It needs no connection, and opens none.
    ///
    /// - Returns: Nil if none is kept, or nothing is left of it.
    public func storedSummary() async -> StoredSummary? { await realtime.storedSummary(of: conversation) }
}

extension Conversations {
    private struct Ranking: Encodable, Sendable { var limit: Int? }
    private struct Ranked: Decodable, Sendable {
        var messages: [PriorityMessage]
        var people: [User]
    }

    /// The unread messages that the user should see first, the most important first, and the profiles of their authors.
    /// It needs a connection.
    ///
    /// - Parameter limit: How many at most, 1 to 50; nil is 20.
    /// - Throws: ``Problem/Kind/providerNotConfigured`` where nothing understands texts.
    public func priority(limit: Int? = nil) async throws -> (messages: [PriorityMessage], people: [User]) {
        let page: Ranked = try await realtime.request("priority.list", Ranking(limit: limit))
        return (page.messages, page.people)
    }
}
