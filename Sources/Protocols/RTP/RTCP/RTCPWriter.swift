import Wire

/// Builds RTCP datagrams in a reused buffer.
///
/// A compound begins with a report; other packets follow it. With reduced size (RFC 5506) feedback may be sent alone. A
/// packet that would make the datagram larger than `limit` is not written, and the call returns false.
package struct RTCPWriter: ~Copyable {
    package private(set) var bytes: [UInt8] = []
    package let limit: Int

    package init(limit: Int = 1200) {
        self.limit = limit
        bytes.reserveCapacity(limit)
    }

    package var isEmpty: Bool { bytes.isEmpty }

    package mutating func begin() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// At most 31 blocks go into one report; more are left out.
    @discardableResult
    package mutating func append(_ report: SenderReport, blocks: [ReportBlock] = []) -> Bool {
        let blocks = blocks.prefix(31)
        guard begin(200, blocks.count, byteCount: 24 + blocks.count * ReportBlock.byteCount) else { return false }
        bytes.append(bigEndian: report.ssrc)
        bytes.append(bigEndian: report.ntpTime)
        bytes.append(bigEndian: report.rtpTimestamp)
        bytes.append(bigEndian: report.packetCount)
        bytes.append(bigEndian: report.byteCount)
        for block in blocks { append(block) }
        return true
    }

    @discardableResult
    package mutating func appendReceiverReport(from ssrc: UInt32, blocks: [ReportBlock] = []) -> Bool {
        let blocks = blocks.prefix(31)
        guard begin(201, blocks.count, byteCount: 4 + blocks.count * ReportBlock.byteCount) else { return false }
        bytes.append(bigEndian: ssrc)
        for block in blocks { append(block) }
        return true
    }

    /// The canonical name of a source, at most 255 bytes (RFC 3550 section 6.5.1).
    @discardableResult
    package mutating func appendName(_ name: [UInt8], of ssrc: UInt32) -> Bool {
        // Terminated by at least one zero byte.
        let padded = (6 + name.count + 4) & ~3
        guard let length = UInt8(exactly: name.count), begin(202, 1, byteCount: padded) else { return false }
        bytes.append(bigEndian: ssrc)
        bytes.append(1)
        bytes.append(length)
        bytes += name
        for _ in 6 + name.count..<padded { bytes.append(0) }
        return true
    }

    /// At most 31 sources.
    @discardableResult
    package mutating func appendGoodbye(_ sources: [UInt32]) -> Bool {
        let sources = sources.prefix(31)
        guard begin(203, sources.count, byteCount: sources.count * 4) else { return false }
        for source in sources { bytes.append(bigEndian: source) }
        return true
    }

    /// A generic NACK (RFC 4585 section 6.2.1) for `lost`, in ascending order. Writes as many as fit and returns how
    /// many.
    @discardableResult
    package mutating func appendNACK(_ lost: some Collection<UInt16>, of source: UInt32, from sender: UInt32) -> Int {
        let start = bytes.count
        guard begin(205, 1, byteCount: 12) else { return 0 }
        bytes.append(bigEndian: sender)
        bytes.append(bigEndian: source)
        var written = 0
        var index = lost.startIndex
        while index != lost.endIndex, bytes.count + 4 <= limit {
            let first = lost[index]
            var mask: UInt16 = 0
            written += 1
            lost.formIndex(after: &index)
            while index != lost.endIndex {
                let distance = lost[index] &- first
                guard (1...16).contains(distance) else { break }
                mask |= 1 << (distance &- 1)
                written += 1
                lost.formIndex(after: &index)
            }
            bytes.append(bigEndian: first)
            bytes.append(bigEndian: mask)
        }
        guard written > 0 else {
            bytes.removeLast(bytes.count - start)
            return 0
        }
        setLength(ofPacketAt: start)
        return written
    }

    @discardableResult
    package mutating func appendPictureLoss(of source: UInt32, from sender: UInt32) -> Bool {
        guard begin(206, 1, byteCount: 8) else { return false }
        bytes.append(bigEndian: sender)
        bytes.append(bigEndian: source)
        return true
    }

    @discardableResult
    package mutating func appendFullIntraRequest(of source: UInt32, number: UInt8, from sender: UInt32) -> Bool {
        guard begin(206, 4, byteCount: 16) else { return false }
        bytes.append(bigEndian: sender)
        bytes.append(bigEndian: UInt32(0))
        bytes.append(bigEndian: source)
        bytes.append(bigEndian: UInt32(number) << 24)
        return true
    }

    /// REMB: `bitrate` is rounded down to the 18 bits of the mantissa.
    @discardableResult
    package mutating func appendEstimatedMaximumBitrate(
        _ bitrate: UInt64, of sources: [UInt32], from sender: UInt32
    ) -> Bool {
        let sources = sources.prefix(255)
        guard begin(206, 15, byteCount: 16 + sources.count * 4) else { return false }
        let exponent = max(0, 64 - bitrate.leadingZeroBitCount - 18)
        bytes.append(bigEndian: sender)
        bytes.append(bigEndian: UInt32(0))
        bytes.append(bigEndian: UInt32(0x5245_4D42))
        bytes.append(
            bigEndian: UInt32(sources.count) << 24 | UInt32(exponent) << 18
                | UInt32(truncatingIfNeeded: bitrate >> UInt64(exponent)))
        for source in sources { bytes.append(bigEndian: source) }
        return true
    }

    private mutating func append(_ block: ReportBlock) {
        bytes.append(bigEndian: block.ssrc)
        let lost = min(max(block.cumulativeLost, -0x80_0000), 0x7F_FFFF)
        bytes.append(bigEndian: UInt32(block.fractionLost) << 24 | UInt32(bitPattern: lost) & 0xFF_FFFF)
        bytes.append(bigEndian: block.highestSequence)
        bytes.append(bigEndian: block.jitter)
        bytes.append(bigEndian: block.lastSenderReport)
        bytes.append(bigEndian: block.delaySinceSenderReport)
    }

    /// Writes the first four bytes of a packet whose body has `byteCount` bytes, a multiple of four.
    mutating func begin(_ type: UInt8, _ count: Int, byteCount: Int) -> Bool {
        guard bytes.count + 4 + byteCount <= limit else { return false }
        bytes.append(0x80 | UInt8(truncatingIfNeeded: count & 31))
        bytes.append(type)
        bytes.append(bigEndian: UInt16(truncatingIfNeeded: byteCount / 4))
        return true
    }

    mutating func append(bigEndian value: some FixedWidthInteger & BitwiseCopyable) {
        bytes.append(bigEndian: value)
    }

    /// Sets the length of a packet that was begun before its size was known, after padding it to whole words.
    mutating func setLength(ofPacketAt start: Int) {
        while (bytes.count - start) & 3 != 0 { bytes.append(0) }
        let words = (bytes.count - start) / 4 - 1
        bytes[start + 2] = UInt8(truncatingIfNeeded: words >> 8)
        bytes[start + 3] = UInt8(truncatingIfNeeded: words)
    }
}
