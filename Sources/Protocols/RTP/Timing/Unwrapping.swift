/// Extends the 16-bit sequence numbers of a stream to numbers that never wrap.
///
/// The result is the number closest to the highest so far, so up to 32,767 packets may be missing or late.
package struct SequenceUnwrapper: Hashable, Sendable {
    private var highest: Int64?

    package init() {}

    /// Starts as if this number had been received.
    init(at highest: Int64) {
        self.highest = highest
    }

    package mutating func unwrap(_ sequence: UInt16) -> Int64 {
        let value = peek(sequence)
        highest = max(highest ?? value, value)
        return value
    }

    /// What `unwrap` would return, without recording it.
    package func peek(_ sequence: UInt16) -> Int64 {
        guard let highest else { return Int64(sequence) }
        return highest &+ Int64(Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: highest)))
    }
}

/// The same for 32-bit timestamps.
package struct TimestampUnwrapper: Hashable, Sendable {
    private var highest: Int64?

    package init() {}

    package mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        guard let highest else {
            highest = Int64(timestamp)
            return Int64(timestamp)
        }
        let value = highest &+ Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: highest)))
        self.highest = max(highest, value)
        return value
    }
}

extension UInt16 {
    /// True when this number comes after `other` in a sequence that wraps.
    package func isNewer(than other: UInt16) -> Bool {
        Int16(bitPattern: self &- other) > 0
    }
}

extension UInt32 {
    package func isNewer(than other: UInt32) -> Bool {
        Int32(bitPattern: self &- other) > 0
    }
}
