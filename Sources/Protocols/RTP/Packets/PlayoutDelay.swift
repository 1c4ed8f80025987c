import Wire

/// The playout-delay extension: how long receivers shall delay a frame; two values of 12 bits, in units of 10 ms.
///
///     |       MIN delay       |       MAX delay       |
///
/// The publisher sets it, and the receivers wait: so the minimum is bounded. The maximum only shortens a receiver's own
/// delay, and stays.
package struct PlayoutDelay: Hashable, Sendable {
    /// 500 ms.
    package static let minimumLimit: UInt16 = 50

    package let minimum: UInt16
    package let maximum: UInt16

    package init(minimum: UInt16, maximum: UInt16) {
        self.minimum = minimum & 0xFFF
        self.maximum = maximum & 0xFFF
    }

    package init?(_ value: RawSpan) {
        guard value.byteCount == 3, let high = value.integer(at: 0, as: UInt16.self), let low = value.byte(at: 2) else {
            return nil
        }
        self.init(minimum: high >> 4, maximum: high << 8 & 0xF00 | UInt16(low))
    }

    package var clamped: PlayoutDelay { PlayoutDelay(minimum: min(minimum, Self.minimumLimit), maximum: maximum) }

    var bits: UInt16 { minimum << 4 | maximum >> 8 }
    var lastByte: UInt8 { UInt8(truncatingIfNeeded: maximum) }
}
