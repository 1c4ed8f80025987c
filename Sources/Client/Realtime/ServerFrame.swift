/// A parsed frame from the server.
///
/// Results stay bytes, since only the requester knows their type. Streams are decoded by the kind in their names;
/// additions of newer servers (a stream, a type of change) become `.unknown`, so that their sequences still count.
enum ServerFrame: Sendable {
    case result(id: Int, ResultFrame)
    case failure(id: Int, Problem)
    case snapshot(stream: String, StreamDocument, StreamPosition)
    case changes(stream: String, [StreamChange])
    case rows(stream: String, StreamRows)
    case presence(stream: String, Presence)
    case caption(stream: String, Caption)
    case captionTranslation(stream: String, CaptionTranslation)
    case typing(stream: String, TypingEvent)
    case run(stream: String, RunEvent)
    case reset(stream: String, reason: String)
    case heartbeat
    case bye(code: Int, reason: String, retryAfter: Int64?)
    case unknown
}

/// A result: the members that the protocol needs, and the whole frame for the requester.
struct ResultFrame: Sendable {
    /// In the result of a `hello`.
    var greeting: Greeting?
    /// The lifetime of a token in seconds, in the result of a `token`.
    var expiresIn: Double?
    /// The frame's JSON text.
    var frame: [UInt8]
}

/// The result of a `hello`.
struct Greeting: Decodable, Hashable, Sendable {
    var session: String
    var user: UserID
    var endpoint: EndpointID
    /// The heartbeat interval in seconds.
    var heartbeat: Double
    /// The result for each stream to resume: `ok` or `reset`.
    var resumed: [String: String]?
}

/// The snapshot of a stream.
enum StreamDocument: Hashable, Sendable {
    case user(UserDocument)
    case call(Call)
    case signals([StreamChange])
    case presence(Presence)
    case conversation(ConversationSnapshot)
    case inbox(InboxPage)
    case marks(MarksSnapshot)
    case translations(TranslationsSnapshot)
    case run(RunSnapshot)
    case unknown
}

/// Rows of keyed state.
enum StreamRows: Hashable, Sendable {
    case conversation(RowFrame<ConversationRow>)
    case inbox(RowFrame<InboxRow>)
    case marks(RowFrame<MarksRow>)
    case translations(RowFrame<TranslationsRow>)
}

/// The snapshot of a user's stream: the profile, the user's live calls, and friends.
struct UserDocument: Decodable, Hashable, Sendable {
    var me: Me
    var calls: [Call]
    /// Absent from older servers.
    var friends: [Friend]?
}

/// One change of a stream.
struct StreamChange: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// Of a user's stream: a whole call. Of a call's stream: the call's own fields, without participants.
        case call(Call)
        /// The participant in that version of the call.
        case participant(Participant, version: Int)
        case signal(Signal)
        case leg(LegNotice)
        case profile(Me)
        case friend(Friend)
        case friendRemoved(UserID)
        case unknown(type: String)
    }

    var sequence: Int64
    var content: Content
}
