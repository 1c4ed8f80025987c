package import Wire

/// An audio packet, as the forwarding path passes it to recorders and decoders.
package struct AudioPacket: Hashable, Sendable {
    package let sequence: UInt16
    /// On the 48 kHz RTP clock of Opus.
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
