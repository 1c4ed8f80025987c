/// A position in a stream: everything up to and including `sequence` of that `epoch` is known. In JSON `["e1", 904]`.
struct StreamPosition: Hashable, Sendable {
    var epoch: String
    var sequence: Int64
}

extension StreamPosition: Codable {
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        epoch = try container.decode(String.self)
        sequence = try container.decode(Int64.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(epoch)
        try container.encode(sequence)
    }
}

/// A stream's name, in the server's spelling.
enum StreamName {
    static func user(_ user: UserID) -> String { "user:\(user)" }
    static func call(_ call: CallID) -> String { "call:\(call)" }
    static func signals(_ call: CallID, _ endpoint: EndpointID) -> String { "signals:\(call):\(endpoint)" }
    static func presence(_ user: UserID) -> String { "presence:\(user)" }
    static func captions(_ call: CallID) -> String { "captions:\(call)" }

    /// Presence and captions are ephemeral: they are never logged and cannot be resumed.
    static func isDurable(_ name: String) -> Bool { !name.hasPrefix("presence:") && !name.hasPrefix("captions:") }

    /// The call that a `call:`, `signals:` or `captions:` stream belongs to.
    static func call(of name: String) -> CallID? {
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 2, ["call", "signals", "captions"].contains(parts[0]) else { return nil }
        return CallID(String(parts[1]))
    }
}
