/// The shape of a JSON value in the realtime protocol.
///
/// The files of this folder are the table of the protocol: the frames of both sides, the streams, the reasons of
/// resets, the close codes and the limits. Where the code has them as an enum, the table is a `switch` over it, so that
/// a new case cannot be left out. `/asyncapi.json` is generated from the table.
package indirect enum ProtocolValue: Hashable, Sendable {
    case text(maxBytes: Int? = nil)
    case identifier
    case time
    case integer(ClosedRange<Int64>? = nil)
    case boolean
    case choice([String])
    case list(ProtocolValue)
    /// Several shapes are possible.
    case either([ProtocolValue])
    case object([ProtocolMember])
    /// `{}`.
    case empty
    /// An object whose names are the names of streams.
    case byStream(ProtocolValue)
    /// A document that the REST API also has, by its name in `/openapi.json`, without some of its members and with
    /// others.
    case document(String, without: [String] = [], with: [ProtocolMember] = [])
    /// The name of a stream; nil for any stream.
    case streamName(StreamPattern?)
    /// An epoch and a sequence: `["e1",904]`.
    case position
    /// A position; of a conversation also with the first and the last number that the client holds: `["e1",904,1,50]`.
    case resumePosition

    static let sequence = integer(ClientFrame.ids)
}

/// A member of an object. Clients ignore members that they do not know, and so does the server.
package struct ProtocolMember: Hashable, Sendable {
    package let name: String
    package let value: ProtocolValue
    package let isRequired: Bool
    package let meaning: String?

    static func required(_ name: String, _ value: ProtocolValue, _ meaning: String? = nil) -> Self {
        Self(name: name, value: value, isRequired: true, meaning: meaning)
    }

    static func optional(_ name: String, _ value: ProtocolValue, _ meaning: String? = nil) -> Self {
        Self(name: name, value: value, isRequired: false, meaning: meaning)
    }
}
