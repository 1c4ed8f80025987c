/// A frame from the server, understood.
///
/// Results stay bytes, since only who asked knows their type. Streams are decoded by the kind that their name tells;
/// what a newer server adds (a stream, a type of change) is kept as `.unknown`, so that its sequence still counts.
enum ServerFrame: Sendable {
    case result(id: Int, Answer)
    case failure(id: Int, Problem)
    case snapshot(stream: String, StreamDocument, StreamPosition)
    case changes(stream: String, [StreamChange])
    case presence(stream: String, Presence)
    case caption(stream: String, Caption)
    case reset(stream: String, reason: String)
    case heartbeat
    case bye(code: Int, reason: String, retryAfter: Int64?)
    case unknown
}

/// A result: what the protocol itself needs of it, and the whole frame for who asked.
struct Answer: Sendable {
    /// In the answer to a hello.
    var greeting: Greeting?
    /// Seconds that a token is good for, in the answer to one.
    var expiresIn: Double?
    /// The frame's JSON text.
    var frame: [UInt8]
}

/// The answer to a hello.
struct Greeting: Decodable, Hashable, Sendable {
    var session: String
    var user: UserID
    var endpoint: EndpointID
    /// Seconds between two heartbeats.
    var heartbeat: Double
    /// What became of each stream that was to be resumed: `ok` or `reset`.
    var resumed: [String: String]?
}

/// A stream as a whole.
enum StreamDocument: Hashable, Sendable {
    case user(UserDocument)
    case call(Call)
    case signals([StreamChange])
    case presence(Presence)
    case unknown
}

/// The snapshot of a user's stream: their profile and the live calls they are in.
struct UserDocument: Decodable, Hashable, Sendable {
    var me: Me
    var calls: [Call]
}

/// One change of a stream.
struct StreamChange: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// Of a user's stream: a whole call. Of a call's stream: the call's own fields, without participants.
        case call(Call)
        /// As of that version of the call.
        case participant(Participant, version: Int)
        case signal(Signal)
        case leg(LegNotice)
        case profile(Me)
        case unknown(type: String)
    }

    var sequence: Int64
    var content: Content
}
