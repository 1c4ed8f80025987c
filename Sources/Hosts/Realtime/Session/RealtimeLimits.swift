package import NIOCore

/// The limits of realtime sessions. The defaults are the protocol's; tests use smaller ones.
package struct RealtimeLimits: Sendable {
    /// How long a new connection may take until its hello.
    package var helloTimeout: TimeAmount = .seconds(3)
    /// The interval of the server's heartbeats.
    package var heartbeat: TimeAmount = .seconds(20)
    /// How long a client may be silent.
    package var silence: TimeAmount = .seconds(45)
    /// How long a session with something to send may go without sending any of it.
    package var stall: TimeAmount = .seconds(15)
    /// How long a result waits for the changes it caused before their streams are read again.
    package var resultTimeout: TimeAmount = .seconds(2)
    /// How long the transport may take to close after its bye.
    package var closeTimeout: TimeAmount = .seconds(2)
    /// How long a user is still shown as online after the last session has ended.
    package var presenceGrace: TimeAmount = .seconds(2)
    /// How long it takes, and is waited in between, until a change of who sees a presence has effect.
    package var presenceInterval: TimeAmount = .milliseconds(250)

    /// Live sessions of a user.
    package var sessionsPerUser = 64
    /// Requests of a session in flight at a time.
    package var requestsInFlight = 64
    /// Pages that are read for a session at a time; it may ask for more, which wait.
    package var pages = 2
    /// Streams that a session may listen to.
    package var listens = 256
    /// Bytes of one message from a client: an escaped SDP of 256 KiB fits.
    package var inboundBytes = 512 * 1024
    /// Messages, control frames and small fragments from a client within one second.
    package var inboundPerSecond = 500
    /// Invalid messages until the session ends.
    package var invalidFrames = 32
    /// Queued bytes above which streams lag instead of being queued.
    package var softQueueBytes = 64 * 1024
    /// Queued bytes at which the session ends, pages left out.
    package var hardQueueBytes = 1024 * 1024
    /// Events of an ordered stream that are queued for a slow client; at most `softQueueBytes` of them.
    package var orderedEvents = 64
    /// Between two readings of the rows that have moved in an inbox; what moves meanwhile is read together.
    package var inboxInterval: TimeAmount = .milliseconds(50)
    /// Rows of an inbox that are read one by one; if more have moved, all are looked at.
    package var inboxRows = 128
    /// Streams of a session that are read at a time to catch up.
    package var concurrentReads = 4

    package init() {}
}
