// Writes that wait for a connection.
extension Messages {
    /// Sends a message, now or as soon as there is a connection.
    ///
    /// - Parameters:
    ///   - text: At most 65,536 bytes of UTF-8. `<@user id>` mentions a user, `<@all>` everybody.
    ///   - message: The message that it replies to, which may wait too.
    /// - Returns: The message's identity, by which ``State/messages`` shows it at once.
    /// - Throws: ``SwitchboardError/overflow`` if 10,000 writes or 64 MiB wait already, and
    ///   ``SwitchboardError/storeFailed(_:)``.
    @discardableResult
    public func send(_ text: String, replyTo message: Message.ID? = nil) async throws -> Message.ID {
        try await realtime.send(text, replyTo: message, thread: nil, in: conversation)
    }

    /// Changes the text of one of the user's own messages, also of one that waits to be sent.
    ///
    /// If somebody else, such as another device, has changed it meanwhile, the edit fails with
    /// ``Problem/Kind/conflict``: ``retry(_:)-(Message.ID)`` bases it on the text that the message has then.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - text: As for ``send(_:replyTo:)``.
    /// - Throws: ``SwitchboardError/invalidArgument(_:)`` if the message is not held.
    public func edit(_ message: Message.ID, to text: String) async throws {
        try await realtime.edit(message, to: text, in: conversation)
    }

    /// Deletes a message for everybody: one of the user's own, also one that waits to be sent, or, as an administrator,
    /// one of somebody else.
    ///
    /// - Throws: ``SwitchboardError/invalidArgument(_:)`` if the message is not held.
    public func delete(_ message: Message.ID) async throws {
        try await realtime.delete(message, in: conversation)
    }

    /// Sends what the server refused again: the message, or its edit or deletion. Does nothing if nothing failed.
    public func retry(_ message: Message.ID) async throws {
        try await realtime.retry(message, in: conversation)
    }

    /// Drops a write that the server refused, or that was never sent. Does nothing if there is no such write.
    public func discard(_ message: Message.ID) async throws {
        try await realtime.discard(message, in: conversation)
    }
}

extension Messages {
    /// Sends another write again that the server refused. Does nothing if it did not fail.
    public func retry(_ write: WaitingWrite.ID) async throws {
        try await realtime.retry(write.clientID, in: conversation)
    }

    /// Drops another write that the server refused, or that was never sent. Does nothing if there is no such write.
    /// Dropping the creation of a conversation also drops the messages that were written in it.
    public func discard(_ write: WaitingWrite.ID) async throws {
        try await realtime.discard(write.clientID, in: conversation)
    }
}

// What needs a connection.
extension Messages {
    private struct Mark: Encodable, Sendable {
        var conversation: ConversationID
        var read: Int?
        var delivered: Int?
    }
    private struct Of: Encodable, Sendable { var conversation: ConversationID; var number: Int }
    private struct Update: Encodable, Sendable {
        var conversation: ConversationID
        var name: String?
        var settings: ConversationSettings?
    }
    private struct Disappearing: Encodable, Sendable {
        var conversation: ConversationID
        /// Null is something else than absent.
        var disappearAfter: Int??
    }
    private struct Addition: Encodable, Sendable { var conversation: ConversationID; var members: [UserID] }
    private struct OfMember: Encodable, Sendable { var conversation: ConversationID; var user: UserID }
    private struct RoleChange: Encodable, Sendable {
        var conversation: ConversationID
        var user: UserID
        var role: MemberRole
        var version: Int?
    }
    private struct Listing: Encodable, Sendable {
        var conversation: ConversationID; var limit: Int?; var cursor: String?
    }
    private struct Edits: Decodable, Sendable {
        var edits: [MessageEdit]
        var nextCursor: String?
    }
    private struct EditsOf: Encodable, Sendable {
        var conversation: ConversationID
        var number: Int
        var cursor: String?
    }
    private struct MemberResult: Decodable, Sendable { var member: ConversationMember }

    /// Marks the messages up to a number as read, on all of the user's devices. The mark only rises.
    ///
    /// - Parameter number: The number of the last message that was on the screen.
    public func markRead(upTo number: Int) async throws {
        try await mark(Mark(conversation: await realtime.resolve(conversation), read: number))
    }

    /// Shows the others that the messages up to a number have arrived on a device of the user's. The mark only rises.
    ///
    /// - Parameter number: The number of the last message that has arrived, such as that of ``InboxRow/lastMessage``.
    public func markDelivered(upTo number: Int) async throws {
        try await mark(Mark(conversation: await realtime.resolve(conversation), delivered: number))
    }

    private func mark(_ mark: Mark) async throws {
        let marks: ReadMarks = try await realtime.request("conversations.mark", mark)
        await realtime.keep(.marks(marks), in: mark.conversation)
    }

    /// The former texts of a message, the oldest first; a deleted message has none.
    ///
    /// - Parameter number: The message's number.
    public func edits(of number: Int) async throws -> [MessageEdit] {
        var edits: [MessageEdit] = []
        var page = EditsOf(conversation: await realtime.resolve(conversation), number: number)
        repeat {
            let result: Edits = try await realtime.request("messages.edits", page)
            edits += result.edits
            page.cursor = result.nextCursor
        } while page.cursor != nil
        return edits
    }

    /// The members, in the order of their ids, page by page.
    ///
    /// - Parameters:
    ///   - limit: How many at most, 1 to 100.
    ///   - cursor: ``MemberPage/nextCursor`` of the previous page.
    public func members(limit: Int? = nil, after cursor: String? = nil) async throws -> MemberPage {
        try await realtime.request(
            "members.list", Listing(conversation: await realtime.resolve(conversation), limit: limit, cursor: cursor))
    }

    /// Renames a group.
    ///
    /// - Parameter name: At most 80 characters; an empty one removes the name.
    @discardableResult
    public func rename(_ name: String) async throws -> Conversation {
        try await change("conversations.update", Update(conversation: await realtime.resolve(conversation), name: name))
    }

    /// Changes who may do what in a group. Settings that are nil stay unchanged.
    @discardableResult
    public func change(_ settings: ConversationSettings) async throws -> Conversation {
        try await change(
            "conversations.update", Update(conversation: await realtime.resolve(conversation), settings: settings))
    }

    /// Sets after how many seconds messages disappear that are sent from now on, at everybody's and from all devices.
    /// Both may in a conversation of two people, and in a group an administrator.
    ///
    /// - Parameter seconds: 10 to 31,536,000, which is a year; nil if they are to stay.
    @discardableResult
    public func setDisappearing(after seconds: Int?) async throws -> Conversation {
        try await change(
            "conversations.update",
            Disappearing(conversation: await realtime.resolve(conversation), disappearAfter: seconds))
    }

    /// Adds people to a group, at most 100: friends at once, others as invited.
    @discardableResult
    public func add(_ users: [UserID]) async throws -> Conversation {
        try await change("members.add", Addition(conversation: await realtime.resolve(conversation), members: users))
    }

    /// Removes somebody from a group: they keep what they have seen. Removing twice changes nothing.
    public func remove(_ user: UserID) async throws {
        let _: Nothing = try await realtime.request(
            "members.remove", OfMember(conversation: await realtime.resolve(conversation), user: user))
    }

    /// Makes a member of a group an administrator, or an administrator a member.
    ///
    /// - Parameters:
    ///   - user: The member.
    ///   - role: ``MemberRole/admin`` or ``MemberRole/member``.
    ///   - version: ``ConversationMember/version`` of what the decision is based on: if the member has changed since,
    ///     this throws ``Problem/Kind/conflict``. Nil does not ask.
    @discardableResult
    public func setRole(
        of user: UserID, to role: MemberRole, basedOn version: Int? = nil
    ) async throws -> ConversationMember {
        let result: MemberResult = try await realtime.request(
            "members.update",
            RoleChange(conversation: await realtime.resolve(conversation), user: user, role: role, version: version))
        return result.member
    }

    /// Makes another member the owner of a group. The former owner becomes an administrator.
    @discardableResult
    public func handOver(to user: UserID) async throws -> Conversation {
        try await change(
            "conversations.handOver", OfMember(conversation: await realtime.resolve(conversation), user: user))
    }

    /// Leaves a group. The user can still read the messages that they have seen. Leaving twice changes nothing.
    public func leave() async throws {
        let id = await realtime.resolve(conversation)
        let _: Nothing = try await realtime.request("members.leave", ["conversation": id])
        await realtime.withdrawAnswers(in: id)
    }

    /// Accepts the invitation to a group, or somebody's request to write. Accepting twice changes nothing.
    @discardableResult
    public func accept() async throws -> Conversation {
        try await change("members.accept", ["conversation": await realtime.resolve(conversation)])
    }

    /// Declines an invitation or a request. Nobody is notified. Declining twice changes nothing.
    public func decline() async throws {
        let id = await realtime.resolve(conversation)
        let _: Nothing = try await realtime.request("members.decline", ["conversation": id])
        await realtime.withdrawAnswers(in: id)
    }

    private func change(_ name: String, _ params: some Encodable & Sendable) async throws -> Conversation {
        let result: ConversationResult = try await realtime.request(name, params)
        await realtime.keep(.conversation(result), in: result.conversation.id)
        return result.conversation
    }
}
