/// What somebody does in a conversation right now. Newer servers may have more.
public struct TypingActivity: RawRepresentable, Hashable, Sendable, Codable {
    /// The activity as it is written in JSON.
    public let rawValue: String
    /// Takes any activity.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Writes a message.
    public static let typing = Self(rawValue: "typing")
    /// Records a voice message.
    public static let recording = Self(rawValue: "recording")
    static let stopped = Self(rawValue: "stopped")
}

/// An event of the stream that tells who is writing.
struct TypingEvent: Decodable, Hashable, Sendable {
    var user: UserID
    var state: TypingActivity
}

/// Who is writing in a conversation, without I/O. If no repetition comes within three seconds, the user has stopped.
struct TypingBook: Hashable, Sendable {
    /// For so many milliseconds an event counts.
    static let lifetime: Int64 = 3_000

    private struct Entry: Hashable, Sendable {
        var activity: TypingActivity
        var until: Int64
    }

    private var activities: [UserID: Entry] = [:]

    /// What each user does.
    var all: [UserID: TypingActivity] { activities.mapValues(\.activity) }

    /// When the next one stops.
    var deadline: Int64? { activities.values.map(\.until).min() }

    mutating func apply(_ event: TypingEvent, at now: Int64) {
        activities[event.user] =
            event.state == .stopped ? nil : Entry(activity: event.state, until: now + Self.lifetime)
    }

    mutating func expire(_ now: Int64) { activities = activities.filter { $0.value.until > now } }
}

extension Messages {
    private struct Noting: Encodable, Sendable { var conversation: ConversationID; var state: TypingActivity }

    /// Which other users are writing or recording: now, and then whenever it changes. The list is empty while there is
    /// no connection. The sequence ends when the user signs out, or may not listen to the conversation.
    public var typing: AsyncStream<[UserID: TypingActivity]> {
        get async { await realtime.typing(in: realtime.resolve(conversation)) }
    }

    /// Shows the other members that the user is typing or recording. Call it at the first key, and then every two
    /// seconds as long as it goes on; a message that is sent ends it.
    public func noteActivity(_ activity: TypingActivity = .typing) async throws {
        let _: Nothing = try await realtime.request(
            "typing.note", Noting(conversation: await realtime.resolve(conversation), state: activity))
    }

    /// Shows that the user stopped without a message.
    public func noteStopped() async throws {
        let _: Nothing = try await realtime.request(
            "typing.note", Noting(conversation: await realtime.resolve(conversation), state: .stopped))
    }
}
