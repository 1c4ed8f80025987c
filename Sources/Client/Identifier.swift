/// An entity's id: a UUID in lower case. The phantom type keeps a user's id from being passed where a call's is
/// expected.
public struct Identifier<Entity>: RawRepresentable, Hashable, Sendable {
    /// The id's text, as in JSON.
    public let rawValue: String

    /// Creates an id from any text; only the server validates it.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates an id from any text; only the server validates it.
    public init(_ text: String) { self.rawValue = text }
}

extension Identifier: ExpressibleByStringLiteral {
    /// Creates an id from a literal.
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

/// Phantom types of the ids; they have no values.
public enum Entities {
    /// A person with an account.
    public enum User {}
    /// An installation that a user signed in on.
    public enum Device {}
    /// One sign-in of a user on a device.
    public enum SignIn {}
    /// One running client, such as an app's process.
    public enum Endpoint {}
    /// A call.
    public enum Call {}
    /// A conversation.
    public enum Conversation {}
    /// A message, by the id that its author's client gave it.
    public enum MessageClient {}
    /// A recording of a call.
    public enum Recording {}
    /// A voice message that is being recorded.
    public enum VoiceRecording {}
    /// A question to the assistant.
    public enum AssistantRun {}
    /// Questions to the assistant that know of each other.
    public enum AssistantThread {}
}

/// A person with an account.
public typealias UserID = Identifier<Entities.User>
/// An installation that a user signed in on.
public typealias DeviceID = Identifier<Entities.Device>
/// One sign-in of a user on a device, which can be revoked.
public typealias SignInID = Identifier<Entities.SignIn>
/// One running client: calls are accepted, joined and kept alive by endpoints.
public typealias EndpointID = Identifier<Entities.Endpoint>
/// A call.
public typealias CallID = Identifier<Entities.Call>
/// A conversation.
public typealias ConversationID = Identifier<Entities.Conversation>
/// A message, by the id that its author's client gave it: unique for each author.
public typealias MessageClientID = Identifier<Entities.MessageClient>
/// A recording of a call.
public typealias RecordingID = Identifier<Entities.Recording>
/// A voice message that is being recorded.
public typealias VoiceRecordingID = Identifier<Entities.VoiceRecording>
/// A question to the assistant.
public typealias AssistantRunID = Identifier<Entities.AssistantRun>
/// Questions to the assistant that know of each other.
public typealias AssistantThreadID = Identifier<Entities.AssistantThread>
