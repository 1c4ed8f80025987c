/// An entity's id as the server wrote it: a UUID in lower case. The phantom type keeps a user's id from being handed
/// over where a call's is expected.
public struct Identifier<Entity>: RawRepresentable, Hashable, Sendable {
    /// The id's text, as it stands in JSON.
    public let rawValue: String

    /// Takes an id's text as it is; the server is the one who judges it.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Takes an id's text as it is; the server is the one who judges it.
    public init(_ text: String) { self.rawValue = text }
}

extension Identifier: ExpressibleByStringLiteral {
    /// Takes a literal's text as it is.
    public init(stringLiteral value: String) { self.rawValue = value }
}

extension Identifier: CustomStringConvertible {
    /// The id's text.
    public var description: String { rawValue }
}

extension Identifier: Codable {
    /// Reads a JSON string.
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    /// Writes a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// What the ids stand for; nothing is ever made of these types.
public enum Entities {
    /// A person with an account.
    public enum User {}
    /// An installation that a user signed in on.
    public enum Device {}
    /// One signing in of a user on a device.
    public enum SignIn {}
    /// One running client, such as an app's process.
    public enum Endpoint {}
    /// A call.
    public enum Call {}
    /// A conversation.
    public enum Conversation {}
    /// A voice message.
    public enum VoiceMessage {}
    /// A recording of a call.
    public enum Recording {}
    /// A voice message that is being recorded.
    public enum VoiceRecording {}
}

/// A person with an account.
public typealias UserID = Identifier<Entities.User>
/// An installation that a user signed in on.
public typealias DeviceID = Identifier<Entities.Device>
/// One signing in of a user on a device, which can be revoked.
public typealias SignInID = Identifier<Entities.SignIn>
/// One running client: calls are accepted, joined and kept alive by endpoints.
public typealias EndpointID = Identifier<Entities.Endpoint>
/// A call.
public typealias CallID = Identifier<Entities.Call>
/// A conversation.
public typealias ConversationID = Identifier<Entities.Conversation>
/// A voice message.
public typealias VoiceMessageID = Identifier<Entities.VoiceMessage>
/// A recording of a call.
public typealias RecordingID = Identifier<Entities.Recording>
/// A voice message that is being recorded.
public typealias VoiceRecordingID = Identifier<Entities.VoiceRecording>
