/// Which of a source's latest packets were received (RFC 3711 section 3.3.2).
///
/// Packets are identified by their index, a sequence number that never wraps. The window records the last `packetCount`
/// indices; older packets are rejected. Only an authenticated packet may be recorded: a forged one with a high index
/// would move the window past the genuine ones.
///
/// A ring of bits, 256 bytes stored inline. It starts as if index 0 were the highest but had not been received.
package struct ReplayWindow: Sendable {
    /// The size of the window: as many packets as `PacketHistory` keeps for retransmission. At 2,000 packets a second
    /// it covers a second, the longest that a retransmission on the media's own SSRC may take.
    package static let packetCount: UInt64 = 2048
    private static let wordMask = 31

    package enum Verdict: Hashable, Sendable {
        case new
        case replayed
        case tooOld
    }

    /// The highest recorded index, 0 before the first.
    package private(set) var highest: UInt64 = 0
    private var seen = InlineArray<32, UInt64>(repeating: 0)

    package init() {}

    /// A window in which everything up to an index was received.
    package init(after index: UInt64) {
        highest = index
        seen = InlineArray(repeating: .max)
    }

    package func verdict(on index: UInt64) -> Verdict {
        if index > highest { return .new }
        if highest &- index >= Self.packetCount { return .tooOld }
        return seen[Self.word(index)] & Self.bit(index) == 0 ? .new : .replayed
    }

    /// Records an index whose verdict was `new`.
    package mutating func record(_ index: UInt64) {
        if index > highest {
            clear(after: highest, through: index)
            highest = index
        }
        seen[Self.word(index)] |= Self.bit(index)
    }

    /// Clears the bits of these indices, which reuse those of indices that are too old now.
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
