import Model

/// A command from another thread to the sessions of a shard.
enum ShardCommand: Sendable {
    /// Delivers the changes of one commit to one stream.
    case receiveChanges(StreamBatch)
    case receiveEvent(StreamEvent)
    /// Lets a session listen to a stream as if its client had requested it.
    case attach(StreamName, session: UInt64)
    /// Lets all sessions forget a stream that has ended, once they have all of it.
    case detach(StreamName)
    /// Lets a session forget a stream that it may no longer see.
    case drop(StreamName, session: UInt64)
    /// Sends one last event of a stream to a user's sessions, and lets them forget it.
    case conclude(StreamEvent, for: UserID)
    case end(Ended, Bye)

    /// Which sessions end.
    enum Ended: Sendable {
        case all
        case session(UInt64)
        case user(UserID)
    }
}
