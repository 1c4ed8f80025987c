import Model

/// A command from another thread to the sessions of a shard.
enum ShardCommand: Sendable {
    /// Delivers the changes of one commit to one stream.
    case receiveChanges(StreamBatch)
    case receiveEvent(StreamEvent)
    /// Rows of an inbox have moved.
    case receiveNotice(InboxNotice)
    /// Lets all sessions read on in the inboxes that they listen to.
    case rereadInboxes
    /// Lets a session read all of its streams of this form anew; nil for all sessions.
    case rereadAll(StreamPattern, session: UInt64?)
    /// Lets a session read a stream anew, of which it may see other things than before.
    case reread(StreamName, session: UInt64)
    /// Lets a session listen to a stream as if its client had requested it.
    case attach(StreamName, session: UInt64)
    /// Lets all sessions forget a stream that has ended, once they have all of it.
    case detach(StreamName)
    /// Lets a session forget a stream that it may no longer see.
    case drop(StreamName, session: UInt64)
    /// Lets the listeners to a user's presence, and the user's own sessions, read anew what they see.
    case rereadPresence(of: UserID, own: [UInt64])
    /// The person at a session's client is there, or not.
    case setActive(Bool, session: UInt64)
    case end(Ended, Bye)

    /// Which sessions end.
    enum Ended: Sendable {
        case all
        case session(UInt64)
        case user(UserID)
    }
}
