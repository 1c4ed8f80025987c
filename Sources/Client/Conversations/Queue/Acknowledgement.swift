/// What a response has acknowledged. It is shown and stored at once: the connection may break before a stream tells it.
enum Acknowledgement: Sendable {
    case message(Message)
    /// Whether the user reacts to a message with an emoji.
    case reaction(String, isOn: Bool, to: Message)
    case own(OwnMessage)
    /// How far the user has read and received the conversation.
    case marks(ReadMarks)
    case membership(Membership)
    case conversation(ConversationResult)
    /// The conversation is new.
    case created(ConversationResult)
    /// The user has deleted a message for themselves.
    case hidden(Int)
    /// The user has deleted everything for themselves up to a number, nil for all so far; and has taken the
    /// conversation off the list.
    case cleared(upTo: Int?, isOffTheList: Bool)

    /// The message that it replaces or removes.
    var number: Int? {
        switch self {
        case .message(let message), .reaction(_, _, let message): message.number
        case .hidden(let number): number
        case .own(let own): own.number
        case .marks, .membership, .conversation, .created, .cleared: nil
        }
    }

    /// Whether it changes ``MarksState``.
    var isOfMarks: Bool {
        switch self {
        case .reaction, .own, .marks: true
        case .message, .membership, .conversation, .created, .hidden, .cleared: false
        }
    }

    func apply(to state: inout ConversationState, _ marks: inout MarksState) {
        switch self {
        case .message(let message): state.acknowledge(message)
        case .reaction(let emoji, let isOn, let message):
            state.acknowledge(message)
            // The stream may be further already.
            guard state.messages[message.number]?.version ?? 0 <= message.version else { return }
            marks.acknowledge(emoji, isOn: isOn, on: message.number)
        case .own(let own):
            marks.keep(own)
            if own.hidden == true { state.hide([own.number]) }
        case .marks(let read):
            marks.acknowledge(read)
            state.acknowledge(read)
        case .membership(let membership): state.keep(membership)
        case .conversation(let result), .created(let result):
            state.keep(result.conversation)
            state.keep(result.membership)
            for person in result.people { state.keep(person) }
        case .hidden(let number): state.hide([number])
        case .cleared(let number, _): state.remove(before: (number ?? state.conversation?.lastNumber ?? 0) + 1)
        }
    }
}

/// The user's own marks, as responses have them.
struct ReadMarks: Decodable, Hashable, Sendable {
    var read: Int
    var delivered: Int
}
