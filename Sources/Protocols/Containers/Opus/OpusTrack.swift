package import Wire

/// The Opus packets of a file, in order, and when each is heard.
///
/// Times are samples at 48 kHz, whatever rate was encoded (RFC 7845 section 4). The first `head.preSkip` samples that a
/// decoder makes are not heard.
package struct OpusTrack: Sendable {
    package let head: OpusHead
    /// How many samples are heard: without the pre-skip, and without what the file says to leave out at the end.
    package internal(set) var sampleCount: UInt64 = 0
    /// The file ends without saying so: its writer was interrupted. What is there is whole.
    package internal(set) var isCutOff = false
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
    /// Where the last packet ends, the pre-skip included.
    package var end: UInt64 { entries.last.map { $0.start &+ UInt64($0.duration) } ?? 0 }

    /// A packet, and the samples from `start` that it stands for, the pre-skip included. What no packet stands for is
    /// silence.
    package func packet(_ index: Int) -> (bytes: ArraySlice<UInt8>, start: UInt64, duration: UInt32) {
        let first = index > 0 ? entries[index &- 1].end : 0
        return (bytes[first..<entries[index].end], entries[index].start, entries[index].duration)
    }

    mutating func append(_ packet: RawSpan, start: UInt64, duration: UInt32) {
        bytes.append(packet)
        entries.append(Entry(end: bytes.count, start: start, duration: duration))
    }

    /// A part of the next packet, which is in the file in more than one piece.
    mutating func appendPiece(_ piece: RawSpan) {
        bytes.append(piece)
    }

    var pendingByteCount: Int { bytes.count &- (entries.last?.end ?? 0) }

    /// What was appended in pieces since the last packet.
    var pending: ArraySlice<UInt8> { bytes[(entries.last?.end ?? 0)...] }

    mutating func endPacket(start: UInt64, duration: UInt32) {
        entries.append(Entry(end: bytes.count, start: start, duration: duration))
    }

    /// The packets that are whole, which are not kept any more.
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

    /// Leaves out what lies behind the limit, and the silence at the end that nobody sent.
    package mutating func trim(to limit: OpusLimit) {
        let voiced = entries.indices.last { !OpusFiller.isSilence(packet($0).bytes) }
        let end = voiced.map { entries[$0].start &+ UInt64(entries[$0].duration) } ?? 0
        sampleCount = min(sampleCount, end, limit.samples)
        // A decoder is behind by what it makes first.
        let needed = sampleCount > 0 ? sampleCount &+ UInt64(head.preSkip) : 0
        while let last = entries.last, last.start >= needed { entries.removeLast() }
        bytes.removeLast(pendingByteCount)
    }

    /// - Throws: when a sound that ends there, the pre-skip included, is longer than is allowed.
    func check(_ limit: OpusLimit, end: UInt64) throws(ContainerError) {
        if end > limit.samples &+ UInt64(head.preSkip) { throw .tooLong(seconds: limit.seconds) }
    }
}

/// How long a file may be. A byte can stand for 120 ms, so the length of a file in bytes says little.
package struct OpusLimit: Hashable, Sendable {
    package let seconds: Int
    var samples: UInt64 { UInt64(seconds) &* 48_000 }

    package init(seconds: Int) {
        self.seconds = min(max(seconds, 1), 1_000_000)
    }
}
