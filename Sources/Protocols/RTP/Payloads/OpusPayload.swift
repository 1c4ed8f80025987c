import Wire

/// The properties of an Opus packet that are known without decoding it (RFC 6716 section 3.1).
///
/// It is a part of RTP, as the payloads of video are: playout and the gateway read it in packets, and need no module for Opus.
/// Files have the same packets, so that their readers use it too.
package struct OpusPayload: Hashable, Sendable {
    /// Samples at 48 kHz, the unit of its timestamps.
    package let duration: UInt32
    /// Comfort noise: what an encoder sends now and then during silence (DTX).
    package let isSilence: Bool

    /// Nil for an empty payload, or one longer than 120 ms.
    package init?(_ payload: RawSpan) {
        guard let first = payload.byte(at: 0) else { return nil }
        let frames: UInt32
        switch first & 3 {
        case 0: frames = 1
        case 1, 2: frames = 2
        default:
            guard let count = payload.byte(at: 1) else { return nil }
            frames = UInt32(count & 63)
        }
        duration = frames &* Self.frameDuration(configuration: first >> 3)
        guard duration > 0, duration <= 5760 else { return nil }
        isSilence = payload.byteCount <= 2
    }

    private static func frameDuration(configuration: UInt8) -> UInt32 {
        let size = UInt32(configuration & 3)
        switch configuration {
        // SILK: 10, 20, 40, 60 ms.
        case 0..<12: return size == 3 ? 2880 : 480 << size
        // Hybrid: 10 or 20 ms.
        case 12..<16: return 480 << (size & 1)
        // CELT: 2.5, 5, 10, 20 ms.
        default: return 120 << size
        }
    }
}

/// Redundant audio (RFC 2198), which is forwarded as it is, or as its newest block to receivers without RED.
package enum RedundantAudio {
    /// The newest block's payload type and its range in the payload; nil when the blocks run past the end.
    ///
    ///     |1|   block PT  |  timestamp offset         |   block length    |      for each older block
    ///     |0|   block PT  |      for the newest
    package static func newest(in payload: RawSpan) -> (payloadType: UInt8, range: Range<Int>)? {
        var offset = 0
        var redundantByteCount = 0
        while let first = payload.byte(at: offset) {
            guard first & 0x80 != 0 else {
                let start = offset &+ 1 &+ redundantByteCount
                return start <= payload.byteCount ? (first, start..<payload.byteCount) : nil
            }
            guard let length = payload.integer(at: offset &+ 2, as: UInt16.self) else { return nil }
            redundantByteCount &+= Int(length & 0x3FF)
            offset &+= 4
        }
        return nil
    }

    /// A block of a payload: how many packets before the newest it was first sent, and how much lower its timestamp
    /// was.
    package struct Block: Hashable, Sendable {
        package let age: UInt16
        package let timestampOffset: UInt32
        package let range: Range<Int>
    }

    /// The non-empty blocks, oldest first, each first sent one packet before the next; none when they run past the end.
    package static func visit(_ payload: RawSpan, _ body: (Block) -> Void) {
        guard let newest = newest(in: payload) else { return }
        var age: UInt16 = 0
        var start = newest.range.lowerBound
        var offset = 0
        while let first = payload.byte(at: offset), first & 0x80 != 0 {
            guard let word = payload.integer(at: offset, as: UInt32.self) else { return }
            start &-= Int(word & 0x3FF)
            age &+= 1
            offset &+= 4
        }
        offset = 0
        while age > 0 {
            guard let word = payload.integer(at: offset, as: UInt32.self) else { return }
            let end = start &+ Int(word & 0x3FF)
            if end > start {
                body(Block(age: age, timestampOffset: word >> 10 & 0x3FFF, range: start..<end))
            }
            start = end
            age &-= 1
            offset &+= 4
        }
        if !newest.range.isEmpty { body(Block(age: 0, timestampOffset: 0, range: newest.range)) }
    }

    /// Replaces the payload type of the blocks of a payload at `offset` by the receiver's.
    package static func renumber(_ old: UInt8, to new: UInt8, in bytes: inout MutableRawSpan, at offset: Int) {
        var offset = offset
        while let first = bytes.bytes.byte(at: offset) {
            if first & 0x7F == old { bytes.store(first & 0x80 | new & 0x7F, at: offset) }
            guard first & 0x80 != 0 else { return }
            offset &+= 4
        }
    }
}
