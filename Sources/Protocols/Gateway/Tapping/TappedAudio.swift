package import Wire

/// A source of sound in a call that somebody listens to on the server.
package struct TappedSource: Hashable, Sendable {
    /// Tells it apart from every other source that this engine ever had.
    package let number: UInt32
    package let call: String
    package let track: TrackName

    package init(number: UInt32, call: String, track: TrackName) {
        self.number = number
        self.call = call
        self.track = track
    }
}

/// Which packet of Opus it is, and when it came. What redundancy says of earlier packets arrives as these.
package struct TappedPacket: Hashable, Sendable {
    package let source: UInt32
    package let sequence: UInt16
    /// Of a clock at 48 kHz.
    package let timestamp: UInt32
    package let arrival: Instant

    package init(source: UInt32, sequence: UInt16, timestamp: UInt32, arrival: Instant) {
        self.source = source
        self.sequence = sequence
        self.timestamp = timestamp
        self.arrival = arrival
    }
}
