import NIOCore

/// A limit of the protocol that clients have to know.
package struct ProtocolLimit: Hashable, Sendable {
    package let name: String
    package let value: Int64
    /// `milliseconds`, `bytes`, or what is counted.
    package let unit: String
    package let meaning: String
}

extension RealtimeLimits {
    /// The limits that a client can notice.
    package var described: [ProtocolLimit] {
        [
            time("helloTimeout", helloTimeout, "From the connection to the hello; then `bye` 4002."),
            time("heartbeat", heartbeat, "Between the server's heartbeats."),
            time("silence", silence, "How long the client may send nothing; then `bye` 4009."),
            time("stall", stall, "How long the client may read nothing of what is queued for it; then `bye` 4008."),
            time("presenceGrace", presenceGrace, "From a user's last session to being shown as offline."),
            count("sessionsPerUser", sessionsPerUser, "sessions", "Of one user at a time."),
            count("requestsInFlight", requestsInFlight, "requests", "Of one session; more are `rate_limited`."),
            count(
                "pages", pages, "requests",
                "With a `limit` that are answered at a time, and only while the client reads; others wait."),
            count("listens", listens, "streams", "That one session listens to, or one hello resumes."),
            count("inboundBytes", inboundBytes, "bytes", "Of one frame from the client; then close code 1009."),
            count("inboundPerSecond", inboundPerSecond, "frames", "From the client within a second; then `bye` 4029."),
            count("invalidFrames", invalidFrames, "frames", "That may be invalid; then `bye` 4010."),
            count("hardQueueBytes", hardQueueBytes, "bytes", "Queued for a slow client; then `bye` 4008."),
            count(
                "orderedEvents", orderedEvents, "events", "Of a stream of kind `ordered` that wait for a slow client."),
        ]
    }

    private func time(_ name: String, _ value: TimeAmount, _ meaning: String) -> ProtocolLimit {
        ProtocolLimit(name: name, value: value.nanoseconds / 1_000_000, unit: "milliseconds", meaning: meaning)
    }

    private func count(_ name: String, _ value: Int, _ unit: String, _ meaning: String) -> ProtocolLimit {
        ProtocolLimit(name: name, value: Int64(clamping: value), unit: unit, meaning: meaning)
    }
}
