/// A conversation with its messages, as a sequence of what a chat shows: ``Switchboard/messages(in:)``.
///
/// Iterating opens the connection. First comes the state that is stored on the device, at once and also without a
/// connection; then every change. A slow reader may miss states, but never the newest. The sequence ends when the user
/// signs out, and with ``Switchboard/close()``.
///
/// ``send(_:replyTo:)``, ``sendVoice(_:durationMs:replyTo:inThreadOf:)``, ``edit(_:to:)``, ``delete(_:)``, reactions,
/// stars, pins, ``forward(_:to:)``, ``hide(_:)``, ``clear()``, ``deleteForMe()``, ``schedule(_:at:replyTo:)``,
/// ``mute(_:)`` and other functions that say "now or as soon as there is a connection" return as soon as the write is
/// stored on this device, in the directory of ``SwitchboardOptions/store``; it is shown at once. The write is sent when
/// there is a connection, in the order of the conversation, if necessary in a later run of the app, and the server
/// executes it once. A write that the server refuses is no longer shown as done, and says why. All other functions need
/// a connection, and have had their effect when they return.
///
/// In a conversation of ``Conversations/create(_:)``, messages wait until it is created.
public struct Messages: AsyncSequence, Sendable {
    /// What a chat shows.
    public struct State: Hashable, Sendable {
        /// The conversation; nil while nothing is known of it.
        public var conversation: Conversation?
        /// The signed-in user's own part.
        public var membership: Membership?
        /// The members, in the order of their ids, including those who left; at most 100.
        public var members: [ConversationMember]
        /// The profiles of members and authors.
        public var people: [UserID: User]
        /// The messages in order: the newest, or those around a number that was asked for. At the end of the newest are
        /// those that wait to be sent.
        public var messages: [ChatMessage]
        /// Whether ``Messages/loadEarlier(limit:)`` has more.
        public var hasEarlier: Bool
        /// Whether ``Messages/loadLater(limit:)`` has more.
        public var hasLater: Bool
        /// Whether ``Messages/members(limit:after:)`` has more.
        public var hasMoreMembers: Bool
        /// How far the members are, and what the user has noted on messages.
        public var marks: ConversationMarks
        /// How many messages the user has scheduled; nil while that is not known.
        public var scheduled: ScheduledSummary?
        /// How the user reads the conversation; nil while that is not known, and once they have left.
        public var reading: ConversationReading?
        /// What else waits to be sent, or was refused: ``Messages/retry(_:)-(WaitingWrite.ID)`` sends it again.
        public var writes: [WaitingWrite] = []
        /// The text that was kept with ``Messages/keepDraft(_:)``.
        public var draft: String?
        /// Whether changes arrive as they happen, and the marks are up to date. Otherwise this is the state that was
        /// stored, or that was known when the connection was lost; or the user has left the conversation.
        public var isCurrent: Bool
        /// Why the conversation cannot be read, such as ``Problem/Kind/notFound``.
        public var problem: Problem?
    }

    /// Iterates over the states.
    public struct Iterator: AsyncIteratorProtocol {
        let conversation: ConversationID
        let realtime: RealtimeEndpoint
        var signals: AsyncStream<Void>?
        var last: State?

        /// The next state that differs from the last one; nil once the user has signed out, or the client is closed.
        public mutating func next() async -> State? {
            let signals: AsyncStream<Void>
            if let opened = self.signals {
                signals = opened
            } else {
                signals = await realtime.signals(of: conversation)
            }
            self.signals = signals
            var iterator = signals.makeAsyncIterator()
            while await iterator.next() != nil {
                guard let state = await realtime.chatState(of: conversation), state != last else { continue }
                last = state
                return state
            }
            return nil
        }
    }

    /// The conversation.
    public let conversation: ConversationID
    let realtime: RealtimeEndpoint

    /// Iterates over the states.
    public func makeAsyncIterator() -> Iterator { Iterator(conversation: conversation, realtime: realtime) }
}

// What is shown.
extension Messages {
    /// Shows earlier messages too, if there are any: those that are stored at once, and the server's.
    ///
    /// At most 4,000 messages are held at a time, by one reader or several: then this throws
    /// ``SwitchboardError/overflow``, and ``load(around:limit:)`` leads further.
    ///
    /// - Parameter limit: How many at most, 1 to 100; nil is 50.
    /// - Throws: ``SwitchboardError/invalidArgument(_:)`` while nobody iterates over the conversation, and without a
    ///   connection, if nothing earlier is stored.
    public func loadEarlier(limit: Int? = nil) async throws {
        try await realtime.loadEarlier(in: await realtime.resolve(conversation), limit: limit)
    }

    /// Shows later messages too, after ``load(around:limit:)``, as ``loadEarlier(limit:)`` shows earlier ones.
    ///
    /// - Parameter limit: How many at most, 1 to 100; nil is 50.
    public func loadLater(limit: Int? = nil) async throws {
        try await realtime.loadLater(in: await realtime.resolve(conversation), limit: limit)
    }

    /// Shows the messages around a number instead of the newest, for example those around a message to which another
    /// one replies.
    ///
    /// - Parameters:
    ///   - number: The number of a message.
    ///   - limit: How many at most, 1 to 100; nil is 50.
    public func load(around number: Int, limit: Int? = nil) async throws {
        try await realtime.load(around: number, in: await realtime.resolve(conversation), limit: limit)
    }

    /// Shows the newest messages again.
    public func showNewest() async throws {
        try await realtime.showNewest(in: await realtime.resolve(conversation))
    }

    /// Keeps text that is being written, on this device; nil or an empty text removes it.
    public func keepDraft(_ text: String?) async throws {
        try await realtime.keepDraft(text, in: conversation)
    }
}
