package import NIOCore

/// The bounds of realtime sessions. The defaults are the protocol's; tests make them small.
package struct RealtimeLimits: Sendable {
    /// How long a new connection may take until its hello.
    package var helloTimeout: TimeAmount = .seconds(3)
    /// How often the server says that it is there.
    package var heartbeat: TimeAmount = .seconds(20)
    /// How long a client may be silent.
    package var silence: TimeAmount = .seconds(45)
    /// How long a session with something to send may go without sending any of it.
    package var stall: TimeAmount = .seconds(15)
    /// How long a result waits for the changes it caused before their streams are read again.
    package var answerDelay: TimeAmount = .seconds(2)
    /// How long the transport may take to close after its bye.
    package var farewell: TimeAmount = .seconds(2)
    /// How long a user whose last session went is still shown as there.
    package var presenceGrace: TimeAmount = .seconds(2)

    /// Live sessions of a user.
    package var sessionsPerUser = 64
    /// Requests that may be unanswered at once.
    package var requestsInFlight = 64
    /// Streams that a session may listen to.
    package var listens = 256
    /// Bytes of one message from a client: an SDP of 256 KiB fits, whatever its escapes.
    package var inboundBytes = 512 * 1024
    /// Messages, control frames and small fragments from a client within one second.
    package var inboundPerSecond = 500
    /// Messages that were no frame of the protocol, until the session ends.
    package var faults = 32
    /// Queued bytes from which on streams lag instead of being queued.
    package var softQueueBytes = 64 * 1024
    /// Queued bytes at which the session ends.
    package var hardQueueBytes = 1024 * 1024
    /// Events that wait for a slow client in a stream that keeps their order; no more than `softQueueBytes` of them.
    package var orderedEvents = 64
    /// Streams that are caught up at once.
    package var readsAtOnce = 4

    package init() {}
}
