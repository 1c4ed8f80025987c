/// The conversations of the signed-in user, as a sequence of what their list shows: ``Switchboard/conversations``.
///
/// Iterating opens the connection. First comes the state that is stored on the device, at once and also without a
/// connection; then every change. A slow reader may miss states, but never the newest. Like ``Friends/all``, the
/// sequence goes on for the user who signs in next, and ends with ``Switchboard/close()``.
public struct Conversations: AsyncSequence, Sendable {
    /// What the list shows.
    public struct State: Hashable, Sendable {
        /// The conversations, those that are pinned and then the most recently active first, without the archived.
        public var rows: [InboxRow]
        /// How many conversations have unread messages, also of those that are not loaded.
        public var unread: Int
        /// How many messages of a conversation are not sent yet, or were refused.
        public var unsent: [ConversationID: Int]
        /// Why conversations of ``Conversations/create(_:)`` could not be created: they are in no row any more.
        /// ``Messages/retry(_:)-(WaitingWrite.ID)`` or ``Messages/discard(_:)-(WaitingWrite.ID)`` ends that.
        public var failed: [ConversationID: Problem] = [:]
        /// Whether ``Conversations/loadMore(limit:)`` has more.
        public var hasMore: Bool
        /// Whether changes arrive as they happen. Otherwise this is the state that was stored, or that was known when
        /// the connection was lost.
        public var isCurrent: Bool
    }

    /// Iterates over the states.
    public struct Iterator: AsyncIteratorProtocol {
        let realtime: RealtimeEndpoint
        var signals: AsyncStream<Void>?
        var last: State?

        /// The next state that differs from the last one; nil once the client is closed.
        public mutating func next() async -> State? {
            let signals: AsyncStream<Void>
            if let opened = self.signals { signals = opened } else { signals = await realtime.inboxSignals() }
            self.signals = signals
            var iterator = signals.makeAsyncIterator()
            while await iterator.next() != nil {
                guard let state = await realtime.inboxState(), state != last else { continue }
                last = state
                return state
            }
            return nil
        }
    }

    let realtime: RealtimeEndpoint

    private struct Creation: Encodable, Sendable {
        var clientID = newUUID()
        var kind: Conversation.Kind
        var members: [UserID]?
        var name: String?
    }

    /// Iterates over the states.
    public func makeAsyncIterator() -> Iterator { Iterator(realtime: realtime) }

    /// Loads more of the list, if there is more. Without a connection, this throws.
    ///
    /// - Parameter limit: How many rows at most, 1 to 100; nil is 50.
    public func loadMore(limit: Int? = nil) async throws {
        try await realtime.loadMoreConversations(limit: limit)
    }

    /// Creates a conversation, now or as soon as there is a connection. It is in the list at once, and can be written
    /// in.
    ///
    /// - Parameter conversation: The conversation to create.
    /// - Returns: The id of the conversation that exists, or a provisional one, which works for all functions of this
    ///   client also after the server has given it another one: ``Messages/State/conversation`` has that then.
    /// - Throws: ``SwitchboardError/overflow`` if 10,000 writes or 64 MiB wait already, and
    ///   ``SwitchboardError/storeFailed(_:)``.
    public func create(_ conversation: NewConversation) async throws -> ConversationID {
        try await realtime.create(conversation)
    }

    /// The conversation with another user, which is created if it does not exist. If the other user is not a friend, it
    /// is a request: at most three messages arrive before they accept it.
    public func direct(with user: UserID) async throws -> Conversation {
        try await create(Creation(kind: .direct, members: [user]))
    }

    /// Creates a group. Friends are members at once; others are invited, and see nothing of it until they accept.
    ///
    /// - Parameters:
    ///   - name: Its name, at most 80 characters; nil for none.
    ///   - members: The users to add, at most 100.
    public func group(named name: String? = nil, members: [UserID]) async throws -> Conversation {
        try await create(Creation(kind: .group, members: members, name: name))
    }

    /// The user's conversation with themselves, for notes, which is created if it does not exist.
    public func notes() async throws -> Conversation { try await create(Creation(kind: .notes)) }

    private func create(_ creation: Creation) async throws -> Conversation {
        let result: ConversationResult = try await realtime.request("conversations.create", creation)
        return result.conversation
    }
}

extension Switchboard {
    /// The conversations of the signed-in user.
    public var conversations: Conversations { Conversations(realtime: realtime) }

    /// The messages of a conversation, and what can be done in it.
    public func messages(in conversation: ConversationID) -> Messages {
        Messages(conversation: conversation, realtime: realtime)
    }
}
