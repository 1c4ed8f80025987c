/// Which of a source's latest packets have come (RFC 3711 section 3.3.2).
///
/// Packets are known by their index, a sequence number that never wraps. Of those less than `packetCount` behind the highest the
/// window remembers each; what lies further back is too old to tell, and so refused. Only a packet that proved authentic
/// may be noted: a forged one with a far index would close the window to the honest ones.
///
/// A ring of bits, 256 bytes stored inline. It starts as if index 0 were the highest but had not come.
package struct ReplayWindow: Sendable {
    /// Packets that it looks back on: as many as a history keeps for who asks again. At 2,000 packets a second it lasts a
    /// second, and so long a repair on the media's own SSRC may take.
    package static let packetCount: UInt64 = 2048
    private static let wordMask = 31

    package enum Verdict: Hashable, Sendable {
        case new
        case replayed
        case tooOld
    }

    /// The highest index that was noted, 0 before the first.
    package private(set) var highest: UInt64 = 0
    private var seen = InlineArray<32, UInt64>(repeating: 0)

    package init() {}

    /// A window in which everything up to an index has come.
    package init(after index: UInt64) {
        highest = index
        seen = InlineArray(repeating: .max)
    }

    package func verdict(on index: UInt64) -> Verdict {
        if index > highest { return .new }
        if highest &- index >= Self.packetCount { return .tooOld }
        return seen[Self.word(index)] & Self.bit(index) == 0 ? .new : .replayed
    }

    /// Remembers an index whose verdict was `new`.
    package mutating func note(_ index: UInt64) {
        if index > highest {
            clear(after: highest, through: index)
            highest = index
        }
        seen[Self.word(index)] |= Self.bit(index)
    }

    /// Makes room in the ring: these indices come to lie where others were that are too old now.
    private mutating func clear(after last: UInt64, through index: UInt64) {
        guard index &- last < Self.packetCount else {
            seen = InlineArray(repeating: 0)
            return
        }
        var first = last &+ 1
        while first <= index {
            let offset = first & 63
            let count = min(64 &- offset, index &- first &+ 1)
            // `count` bits from `offset` on; a shift by 64 gives 0.
            seen[Self.word(first)] &= ~(~(~UInt64(0) << count) << offset)
            first &+= count
        }
    }

    private static func word(_ index: UInt64) -> Int {
        Int(truncatingIfNeeded: index >> 6) & wordMask
    }

    private static func bit(_ index: UInt64) -> UInt64 {
        1 << (index & 63)
    }
}
