package import Wire

/// An audio source in a tapped call.
package struct TappedSource: Hashable, Sendable {
    /// Unique within this engine for ever.
    package let number: UInt32
    package let call: String
    package let track: TrackName
    /// Packets with two channels may come, whatever the first one has.
    package let isStereo: Bool

    package init(number: UInt32, call: String, track: TrackName, isStereo: Bool = false) {
        self.number = number
        self.call = call
        self.track = track
        self.isStereo = isStereo
    }
}

/// The header of a tapped Opus packet. The blocks of redundant audio are passed as the packets that they repeat.
package struct TappedPacket: Hashable, Sendable {
    package let source: UInt32
    package let sequence: UInt16
    /// At 48 kHz.
    package let timestamp: UInt32
    package let arrival: Instant

    package init(source: UInt32, sequence: UInt16, timestamp: UInt32, arrival: Instant) {
        self.source = source
        self.sequence = sequence
        self.timestamp = timestamp
        self.arrival = arrival
    }
}
