import Wire

/// The Opus packets of a file, in order, with their start times.
///
/// Times are samples at 48 kHz, whatever the original rate (RFC 7845 section 4). The first `head.preSkip` samples of
/// the decoder's output are not played.
package struct OpusTrack: Sendable {
    package let head: OpusHead
    /// The number of audible samples: without the pre-skip, and without those that the file trims at the end.
    package internal(set) var sampleCount: UInt64 = 0
    /// The file has no end mark: its writer was interrupted. The packets in it are complete.
    package internal(set) var isTruncated = false
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    private struct Entry {
        let end: Int
        let start: UInt64
        let duration: UInt32
    }

    init(_ head: OpusHead) {
        self.head = head
    }

    package var packetCount: Int { entries.count }
    /// The end of the last packet, the pre-skip included.
    package var end: UInt64 { entries.last.map { $0.start &+ UInt64($0.duration) } ?? 0 }

    /// A packet, its start, the pre-skip included, and its duration. Gaps between packets are silence.
    package func packet(_ index: Int) -> (bytes: ArraySlice<UInt8>, start: UInt64, duration: UInt32) {
        let first = index > 0 ? entries[index &- 1].end : 0
        return (bytes[first..<entries[index].end], entries[index].start, entries[index].duration)
    }

    mutating func append(_ packet: RawSpan, start: UInt64, duration: UInt32) {
        bytes.append(packet)
        entries.append(Entry(end: bytes.count, start: start, duration: duration))
    }

    /// Appends a fragment of the next packet.
    mutating func appendFragment(_ fragment: RawSpan) {
        bytes.append(fragment)
    }

    var pendingByteCount: Int { bytes.count &- (entries.last?.end ?? 0) }

    /// The fragments that were appended since the last packet.
    var pending: ArraySlice<UInt8> { bytes[(entries.last?.end ?? 0)...] }

    mutating func endPacket(start: UInt64, duration: UInt32) {
        entries.append(Entry(end: bytes.count, start: start, duration: duration))
    }

    /// Removes and returns the complete packets.
    mutating func takePackets() -> [OggOpusStream.Packet] {
        let packets = (0..<packetCount).map { index in
            let packet = packet(index)
            return OggOpusStream.Packet(bytes: Array(packet.bytes), duration: packet.duration)
        }
        bytes.removeFirst(entries.last?.end ?? 0)
        entries.removeAll(keepingCapacity: true)
        return packets
    }

    mutating func dropPending() {
        bytes.removeLast(pendingByteCount)
    }

    /// Removes everything beyond the limit, and filler silence at the end.
    package mutating func trim(to limit: OpusLimit) {
        let voiced = entries.indices.last { !OpusFiller.isSilence(packet($0).bytes) }
        let end = voiced.map { entries[$0].start &+ UInt64(entries[$0].duration) } ?? 0
        sampleCount = min(sampleCount, end, limit.samples)
        // The decoder's output is delayed by the pre-skip.
        let needed = sampleCount > 0 ? sampleCount &+ UInt64(head.preSkip) : 0
        while let last = entries.last, last.start >= needed { entries.removeLast() }
        bytes.removeLast(pendingByteCount)
    }

    /// - Throws: when audio that ends there, the pre-skip included, is longer than the limit.
    func check(_ limit: OpusLimit, end: UInt64) throws(ContainerError) {
        if end > limit.samples &+ UInt64(head.preSkip) { throw .tooLong(seconds: limit.seconds) }
    }
}

/// The maximum duration of a file. Its size in bytes is no bound, since one byte can last 120 ms.
package struct OpusLimit: Hashable, Sendable {
    package let seconds: Int
    var samples: UInt64 { UInt64(seconds) &* 48_000 }

    package init(seconds: Int) {
        self.seconds = min(max(seconds, 1), 1_000_000)
    }
}
