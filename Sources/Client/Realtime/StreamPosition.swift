/// A position in a stream: everything up to and including `sequence` of that `epoch` is known. In JSON `["e1", 904]`,
/// of a conversation of which messages are held `["e1", 904, 1, 50]`.
struct StreamPosition: Hashable, Sendable {
    var epoch: String
    var sequence: Int64
    /// Of a conversation: the first and the last number that is held.
    var held: ClosedRange<Int64>?
}

extension StreamPosition: Codable {
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        epoch = try container.decode(String.self)
        sequence = try container.decode(Int64.self)
        guard !container.isAtEnd else { return }
        let (first, last) = (try container.decode(Int64.self), try container.decode(Int64.self))
        if first <= last { held = first...last }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(epoch)
        try container.encode(sequence)
        guard let held else { return }
        try container.encode(held.lowerBound)
        try container.encode(held.upperBound)
    }
}

/// A stream's name, in the server's spelling.
enum StreamName {
    static func user(_ user: UserID) -> String { "user:\(user)" }
    static func call(_ call: CallID) -> String { "call:\(call)" }
    static func signals(_ call: CallID, _ endpoint: EndpointID) -> String { "signals:\(call):\(endpoint)" }
    static func presence(_ user: UserID) -> String { "presence:\(user)" }
    static func captions(_ call: CallID) -> String { "captions:\(call)" }
    static func captions(_ call: CallID, into language: String) -> String { "captions:\(call):\(language)" }
    static func conversation(_ conversation: ConversationID) -> String { "conversation:\(conversation)" }
    static func inbox(_ user: UserID) -> String { "inbox:\(user)" }
    static func marks(_ conversation: ConversationID) -> String { "marks:\(conversation)" }
    static func translations(_ conversation: ConversationID) -> String { "translations:\(conversation)" }
    static func typing(_ conversation: ConversationID) -> String { "typing:\(conversation)" }
    static func run(_ run: AssistantRunID) -> String { "run:\(run)" }

    /// Keyed state: the latest of each row. What holds the rows decides which frames are news.
    static func isKeyed(_ name: String) -> Bool {
        ["conversation", "inbox", "marks", "translations"].contains(name.prefix { $0 != ":" })
    }

    /// Presence, captions, typing and answers that are written are ephemeral: they are never logged and cannot be resumed.
    static func isDurable(_ name: String) -> Bool {
        !["presence", "captions", "typing", "run"].contains(name.prefix { $0 != ":" })
    }

    /// Whether its captions are in the listener's language.
    static func isOfCaptionTranslations(_ name: String) -> Bool {
        name.hasPrefix("captions:") && name.count { $0 == ":" } == 2
    }

    /// The call that a `call:`, `signals:` or `captions:` stream belongs to.
    static func call(of name: String) -> CallID? {
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 2, ["call", "signals", "captions"].contains(parts[0]) else { return nil }
        return CallID(String(parts[1]))
    }
}
