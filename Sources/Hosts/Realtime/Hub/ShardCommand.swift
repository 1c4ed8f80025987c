import Model

/// What is done to the sessions of a shard from outside its loop.
enum ShardCommand: Sendable {
    /// Changes that one commit made to one stream.
    case changed(StreamBatch)
    case happened(StreamEvent)
    /// Lets a session listen to a stream as if its client had asked.
    case attach(StreamName, session: UInt64)
    /// Lets everybody forget a stream that is over, once they have all of it.
    case detach(StreamName)
    /// Lets a session forget a stream that it may no longer see.
    case drop(StreamName, session: UInt64)
    /// Tells a user's sessions one last event of a stream, and lets them forget it.
    case conclude(StreamEvent, for: UserID)
    case end(Ended, Bye)

    /// Whose sessions end.
    enum Ended: Sendable {
        case all
        case session(UInt64)
        case user(UserID)
    }
}
