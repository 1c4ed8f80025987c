// Writes of the app that are about more than texts. Each says how something is to be, so that the later of two decides.
extension WriteQueue {
    /// Queues a write about a message: a reaction, a star, a pin, listening, or deleting it for the user themselves. An
    /// unsent write that it undoes is removed.
    mutating func write(
        _ kind: WriteEntry.Kind, _ target: WriteEntry.Target, emoji: String? = nil, in conversation: ConversationID,
        at wallClock: Int64
    ) throws(SwitchboardError) {
        var entry = WriteEntry(kind, in: conversation, at: wallClock)
        (entry.target, entry.emoji) = (target, emoji)
        try replaceOpposites(with: entry)
    }

    /// Queues a change of how the user keeps the conversation. An earlier change of the same that was not sent yet
    /// goes.
    mutating func change(
        _ membership: MembershipChange, in conversation: ConversationID, at wallClock: Int64
    ) throws(SwitchboardError) {
        var entry = WriteEntry(.membership, in: conversation, at: wallClock)
        entry.membership = membership
        try replaceOpposites(with: entry)
    }

    private mutating func replaceOpposites(with entry: WriteEntry) throws(SwitchboardError) {
        for other in entries where other.isOpposite(of: entry) && !isInFlight(other) {
            removeEntry(other.id)
        }
        try add(entry)
    }

    /// Queues a voice message, whose sound is stored, or on the server.
    mutating func sendVoice(
        _ sound: WriteEntry.Sound, replyTo: WriteEntry.Target? = nil, thread: WriteEntry.Target? = nil,
        in conversation: ConversationID, as clientID: MessageClientID, at wallClock: Int64
    ) throws(SwitchboardError) {
        var entry = WriteEntry(.voice, in: conversation, at: wallClock)
        (entry.clientID, entry.sound, entry.replyTo, entry.thread) = (clientID, sound, replyTo, thread)
        try add(entry)
    }

    /// Queues what deletes everything up to a message for the user alone.
    mutating func clear(
        _ kind: WriteEntry.Kind, upTo number: Int?, in conversation: ConversationID, at wallClock: Int64
    ) throws(SwitchboardError) {
        // A conversation that was never created is dropped, with the messages that were written in it.
        if let creation = creation(of: conversation), !isInFlight(creation), !creation.wasSent {
            if kind == .deleteForMe { remove(creation) }
            return
        }
        for other in entries(in: conversation)
        where (other.kind == .clear || other.kind == kind) && !isInFlight(other) {
            removeEntry(other.id)
        }
        var entry = WriteEntry(kind, in: conversation, at: wallClock)
        entry.upTo = number
        try add(entry)
    }

    /// Queues a message with the text of another one.
    mutating func forward(
        _ source: WriteEntry.Source, text: String?, to conversation: ConversationID, as clientID: MessageClientID,
        at wallClock: Int64
    ) throws(SwitchboardError) {
        var entry = WriteEntry(.forward, in: conversation, at: wallClock)
        (entry.clientID, entry.text, entry.source) = (clientID, text, source)
        try add(entry)
    }

    /// Queues the creation of a conversation, which has a provisional id until then. If one waits already, that one is
    /// returned.
    mutating func create(
        _ creation: NewConversation, at wallClock: Int64
    ) throws(SwitchboardError) -> ConversationID {
        if creation.isOnlyOne, let waiting = entries.first(where: { $0.creation == creation }) {
            return waiting.conversation
        }
        let clientID = MessageClientID(newUUID())
        var entry = WriteEntry(.create, in: .provisional(clientID), at: wallClock)
        (entry.clientID, entry.creation) = (clientID, creation)
        try add(entry)
        return entry.conversation
    }

    /// The entry that makes a conversation, if that waits or has failed.
    func creation(of conversation: ConversationID) -> WriteEntry? {
        entries.first { $0.kind == .create && $0.conversation == conversation }
    }

    /// The conversation that an id names: a provisional one may have been made since.
    func resolve(_ id: ConversationID) -> ConversationID { created[id] ?? id }
}

extension WriteEntry {
    init(_ kind: Kind, in conversation: ConversationID, at wallClock: Int64) {
        self.init(
            id: 0, kind: kind, conversation: conversation, clientID: MessageClientID(newUUID()), createdAt: wallClock)
    }
}

extension ConversationID {
    private static let provisionalPrefix = "new-"

    /// The id of a conversation that waits to be created. The server gives it another one.
    static func provisional(_ clientID: MessageClientID) -> ConversationID {
        ConversationID(provisionalPrefix + clientID.rawValue)
    }

    /// Whether it names a conversation that waits to be created: the server does not know it.
    public var isProvisional: Bool { rawValue.hasPrefix(Self.provisionalPrefix) }
}
