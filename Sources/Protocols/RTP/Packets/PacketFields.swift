package import Wire

// Setters for single fields of a packet in its buffer. They do nothing if the packet is too short.

extension MutableRawSpan {
    package mutating func setRTPPayloadType(_ type: UInt8) {
        guard let old = bytes.byte(at: 1) else { return }
        store(old & 0x80 | type & 0x7F, at: 1)
    }

    package mutating func setRTPMarker(_ marker: Bool) {
        guard let old = bytes.byte(at: 1) else { return }
        store(old & 0x7F | (marker ? 0x80 : 0), at: 1)
    }

    package mutating func setRTPSequence(_ sequence: UInt16) { store(sequence, at: 2) }
    package mutating func setRTPTimestamp(_ timestamp: UInt32) { store(timestamp, at: 4) }
    package mutating func setRTPSource(_ ssrc: UInt32) { store(ssrc, at: 8) }
}

/// The 24 bits of abs-send-time: seconds modulo 64 in 6.18 fixed point.
package enum AbsoluteSendTime {
    package static func value(at now: Instant) -> UInt32 {
        let seconds = now.nanoseconds / 1_000_000_000 & 63
        let fraction = (now.nanoseconds % 1_000_000_000) << 18 / 1_000_000_000
        return UInt32(truncatingIfNeeded: seconds << 18 | fraction)
    }

    package static func store(_ time: UInt32, at offset: Int, into target: inout MutableRawSpan) {
        target.store(UInt16(truncatingIfNeeded: time >> 8), at: offset)
        target.store(UInt8(truncatingIfNeeded: time), at: offset &+ 2)
    }
}

/// Retransmissions (RFC 4588 section 4): a separate stream, whose payload begins with the sequence number of the packet
/// that it repairs. `PacketComposer` writes them.
package enum Retransmission {
    /// Turns a retransmission into the packet that it repairs, in place: the header moves by two bytes.
    ///
    /// The result is the range of the repaired packet. Returns nil and changes nothing if it carries no packet: padding
    /// that only probes the link, or something malformed.
    package static func unwrap(
        _ bytes: inout MutableRawSpan, payloadType: UInt8, ssrc: UInt32
    ) -> Range<Int>? {
        let payload: Range<Int>
        let original: UInt16
        do {
            let packet = try RTPPacket(bytes.bytes)
            guard let sequence = packet.payload.integer(at: 0, as: UInt16.self) else { return nil }
            payload = packet.payloadRange
            original = sequence
        } catch {
            return nil
        }
        let end = bytes.byteCount
        bytes.move(0..<payload.lowerBound, to: 2)
        var repaired = bytes._mutatingExtracting(2..<end)
        repaired.setRTPPayloadType(payloadType)
        repaired.setRTPSequence(original)
        repaired.setRTPSource(ssrc)
        return 2..<end
    }
}
