/// The name of a stream that a client can listen to.
package enum StreamName: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A log with an epoch and a dense sequence, which a listener resumes from a position.
        case log
        /// The latest state of each of its rows, with an epoch and a sequence, which a listener resumes from a position.
        case keyed
        /// Events that are never stored; a new one replaces one about the same user that is still queued.
        case latestEvent
        /// Events that are never stored and keep their order: a bounded queue per listener, which drops the oldest.
        case orderedEvents
    }

    /// The changes of one user's data: `user:<user>`.
    case user(UserID)
    /// One call document: `call:<call>`.
    case call(CallID)
    /// The mailbox of one endpoint in one call: `signals:<call>:<endpoint>`.
    case signals(CallID, EndpointID)
    /// Whether a user is online: `presence:<user>`.
    case presence(UserID)
    /// The captions of a call, for its joined participants: `captions:<call>`.
    case captions(CallID)
    /// The same in another language: `captions:<call>:<language>`.
    case captionTranslations(CallID, language: String)
    /// One conversation, its members and messages: `conversation:<conversation>`.
    case conversation(ConversationID)
    /// How far the members of a conversation have read it, and what the user has noted on its messages:
    /// `marks:<conversation>`.
    case marks(ConversationID)
    /// Translations of a conversation's messages, into the language in which the user reads there:
    /// `translations:<conversation>`.
    case translations(ConversationID)
    /// Who is writing in a conversation: `typing:<conversation>`.
    case typing(ConversationID)
    /// The list of one user's conversations: `inbox:<user>`.
    case inbox(UserID)
    /// An answer of the assistant while it is written: `run:<run>`.
    case run(AssistantRunID)

    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("user", 2): guard let user = UserID(parts[1]) else { return nil }; self = .user(user)
        case ("presence", 2): guard let user = UserID(parts[1]) else { return nil }; self = .presence(user)
        case ("captions", 2): guard let call = CallID(parts[1]) else { return nil }; self = .captions(call)
        case ("captions", 3):
            guard let call = CallID(parts[1]), Self.isLanguage(parts[2]) else { return nil }
            self = .captionTranslations(call, language: parts[2])
        case ("marks", 2):
            guard let conversation = ConversationID(parts[1]) else { return nil }
            self = .marks(conversation)
        case ("translations", 2):
            guard let conversation = ConversationID(parts[1]) else { return nil }
            self = .translations(conversation)
        case ("typing", 2):
            guard let conversation = ConversationID(parts[1]) else { return nil }
            self = .typing(conversation)
        case ("run", 2): guard let run = AssistantRunID(parts[1]) else { return nil }; self = .run(run)
        case ("inbox", 2): guard let user = UserID(parts[1]) else { return nil }; self = .inbox(user)
        case ("conversation", 2):
            guard let conversation = ConversationID(parts[1]) else { return nil }
            self = .conversation(conversation)
        case ("call", 2): guard let call = CallID(parts[1]) else { return nil }; self = .call(call)
        case ("signals", 3):
            guard let call = CallID(parts[1]), let endpoint = EndpointID(parts[2]) else { return nil }
            self = .signals(call, endpoint)
        default: return nil
        }
    }

    /// Whether it has the letters of a language tag (RFC 5646 section 2.1).
    private static func isLanguage(_ text: String) -> Bool {
        (2...35).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }

    package var text: String {
        switch self {
        case .user(let user): "user:" + user.text
        case .call(let call): "call:" + call.text
        case .signals(let call, let endpoint): "signals:" + call.text + ":" + endpoint.text
        case .presence(let user): "presence:" + user.text
        case .captions(let call): "captions:" + call.text
        case .captionTranslations(let call, let language): "captions:" + call.text + ":" + language
        case .conversation(let conversation): "conversation:" + conversation.text
        case .inbox(let user): "inbox:" + user.text
        case .marks(let conversation): "marks:" + conversation.text
        case .translations(let conversation): "translations:" + conversation.text
        case .typing(let conversation): "typing:" + conversation.text
        case .run(let run): "run:" + run.text
        }
    }

    package var kind: Kind {
        switch self {
        case .user, .call, .signals: .log
        case .presence, .typing: .latestEvent
        case .captions, .captionTranslations, .run: .orderedEvents
        case .conversation, .inbox, .marks, .translations: .keyed
        }
    }

    /// Whether the stream keeps a log that a listener can resume from.
    package var isDurable: Bool { kind == .log }

    /// Whether a listener can resume the stream from a position.
    package var hasPositions: Bool { kind == .log || kind == .keyed }
}

extension StreamName {
    /// Whether the response to the principal's write may contain the stream's position. The position of another user's
    /// stream, or its absence, would reveal what they do and whom they block.
    package func isOwn(of principal: Principal) -> Bool {
        switch self {
        case .user(let user): user == principal.user
        case .signals(_, let endpoint): endpoint == principal.endpoint
        // Only participants change a call.
        case .call: true
        default: false
        }
    }
}

extension StreamName: CustomStringConvertible {
    package var description: String { text }
}

/// A position in a stream: everything up to and including `sequence` of `epoch` is known. In JSON `["e1", 904]`.
package struct Position: Hashable, Sendable {
    package var epoch: String
    package var sequence: Int64
    /// The numbers of the messages that a listener of a conversation holds, in `[epoch, sequence, first, last]`; nil for
    /// all. Not encoded.
    package var held: ClosedRange<Int64>?

    package init(epoch: String, sequence: Int64, held: ClosedRange<Int64>? = nil) {
        self.epoch = epoch
        self.sequence = sequence
        self.held = held
    }
}

extension Position: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        epoch = try container.decode(String.self)
        sequence = try container.decode(Int64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(epoch)
        try container.encode(sequence)
    }
}

/// One entry of a durable stream, as it was committed.
package struct Change: Sendable, Hashable {
    package var stream: StreamName
    package var position: Position
    /// The type of the change, such as `participant`.
    package var type: String
    /// The change's JSON text, encoded once in the transaction that made it.
    package var data: String

    package init(stream: StreamName, position: Position, type: String, data: String) {
        self.stream = stream
        self.position = position
        self.type = type
        self.data = data
    }
}
