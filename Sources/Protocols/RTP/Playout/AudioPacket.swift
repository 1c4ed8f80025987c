package import Wire

/// A packet of a voice, as it is handed from the forwarding path to whoever records or decodes it.
package struct SoundPacket: Hashable, Sendable {
    package let sequence: UInt16
    /// Of the clock at 48 kHz that Opus has.
    package let timestamp: UInt32
    package let arrival: Instant
    /// Opus (RFC 6716).
    package let payload: [UInt8]

    package init(sequence: UInt16, timestamp: UInt32, arrival: Instant, payload: [UInt8]) {
        self.sequence = sequence
        self.timestamp = timestamp
        self.arrival = arrival
        self.payload = payload
    }
}
