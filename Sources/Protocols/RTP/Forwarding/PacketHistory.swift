import Wire

/// The latest packets of one published track, for retransmission.
///
/// The packets lie in one ring buffer, each contiguous. The ring is allocated at once, and only the pages written so
/// far use memory: a growing array would leave its old copies behind. Positions only grow, so an overwritten packet is
/// recognized by its position: nothing is searched and nothing is freed.
package struct PacketHistory: ~Copyable {
    /// No more packets than this are kept, however small they are.
    package static let packetLimit = 2048

    private struct Entry {
        var position: UInt64 = 0
        var byteCount: UInt16 = 0
        var sequence: UInt16 = 0
    }

    package let byteLimit: Int
    private var storage: [UInt8] = []
    private var entries: [Entry] = []
    /// Where the next packet goes, counted in bytes from the first packet ever.
    private var position: UInt64 = 0

    package init(byteLimit: Int = 512 * 1024) {
        self.byteLimit = max(byteLimit, 4096)
    }

    /// Bytes that are held now.
    package var byteCount: Int { Int(min(position, UInt64(truncatingIfNeeded: byteLimit))) }

    /// A packet larger than half of the ring, or than a datagram can be, is not kept.
    package mutating func store(_ packet: borrowing RTPPacket) {
        let bytes = packet.bytes
        guard bytes.byteCount > 0, bytes.byteCount <= byteLimit / 2,
            let byteCount = UInt16(exactly: bytes.byteCount)
        else { return }
        let limit = UInt64(truncatingIfNeeded: byteLimit)
        var offset = Int(truncatingIfNeeded: position % limit)
        if offset &+ bytes.byteCount > byteLimit {
            position &+= limit &- UInt64(truncatingIfNeeded: offset)
            offset = 0
        }
        if storage.isEmpty {
            // Nothing is read before it was written, and untouched pages use no memory.
            storage = [UInt8](unsafeUninitializedCapacity: byteLimit) { $1 = byteLimit }
            entries = [Entry](repeating: Entry(), count: Self.packetLimit)
        }
        var span = storage.mutableSpan
        var target = span.mutableBytes
        target.store(bytes, at: offset)
        entries[Int(packet.sequence) & (Self.packetLimit &- 1)] = Entry(
            position: position, byteCount: byteCount, sequence: packet.sequence)
        position &+= UInt64(truncatingIfNeeded: bytes.byteCount)
    }

    private func entry(_ sequence: UInt16) -> Entry? {
        guard !entries.isEmpty else { return nil }
        let entry = entries[Int(sequence) & (Self.packetLimit &- 1)]
        guard entry.byteCount > 0, entry.sequence == sequence,
            // The bytes beyond the write position are from the previous turn.
            position &- entry.position <= UInt64(truncatingIfNeeded: byteLimit)
        else { return nil }
        return entry
    }

    /// The packet's size; nil when it never arrived or was overwritten.
    package func byteCount(of sequence: UInt16) -> Int? {
        entry(sequence).map { Int($0.byteCount) }
    }

    /// The packet; nil when it never arrived or was overwritten.
    @_lifetime(borrow self)
    package func packet(_ sequence: UInt16) -> RawSpan? {
        guard let entry = entry(sequence) else { return nil }
        let offset = Int(truncatingIfNeeded: entry.position % UInt64(truncatingIfNeeded: byteLimit))
        return storage.span.bytes.part(offset..<offset &+ Int(entry.byteCount))
    }

    /// Replaces the content of `bytes` by the packet. False when there is none.
    package func copy(_ sequence: UInt16, into bytes: inout [UInt8]) -> Bool {
        guard let packet = packet(sequence) else { return false }
        bytes.removeAll(keepingCapacity: true)
        packet.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return true
    }

    /// The track restarted: earlier packets are of no use.
    package mutating func removeAll() {
        for index in entries.indices { entries[index].byteCount = 0 }
    }
}
