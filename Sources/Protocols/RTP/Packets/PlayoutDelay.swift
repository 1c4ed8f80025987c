package import Wire

/// How long a publisher asks its receivers to keep a picture before they show it: twice 12 bits, in units of 10 ms.
///
///     |       MIN delay       |       MAX delay       |
///
/// It is the publisher who asks, and the receiver who waits: so what is asked for at least is bounded. What it allows at
/// most only shortens a receiver's own delay, and stays.
package struct PlayoutDelay: Hashable, Sendable {
    /// 500 ms.
    package static let longest: UInt16 = 50

    package let least: UInt16
    package let most: UInt16

    package init(least: UInt16, most: UInt16) {
        self.least = least & 0xFFF
        self.most = most & 0xFFF
    }

    package init?(_ value: RawSpan) {
        guard value.byteCount == 3, let high = value.integer(at: 0, as: UInt16.self), let low = value.byte(at: 2) else {
            return nil
        }
        self.init(least: high >> 4, most: high << 8 & 0xF00 | UInt16(low))
    }

    package var clamped: PlayoutDelay { PlayoutDelay(least: min(least, Self.longest), most: most) }

    var bits: UInt16 { least << 4 | most >> 8 }
    var lastByte: UInt8 { UInt8(truncatingIfNeeded: most) }
}
