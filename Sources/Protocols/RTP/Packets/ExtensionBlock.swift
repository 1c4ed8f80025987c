import Wire

/// Writes an extension block at the end of a header. Nothing is written before the first element.
struct ExtensionBlock {
    let start: Int
    private let isTwoByte: Bool
    private let allowsTwoByte: Bool
    private var end: Int

    init(at start: Int, isTwoByte: Bool, allowsTwoByte: Bool) {
        self.start = start
        self.isTwoByte = isTwoByte && allowsTwoByte
        self.allowsTwoByte = allowsTwoByte
        end = start &+ 4
    }

    /// The offset at which to store the element's value; nil when it has no id or does not fit.
    mutating func append(_ id: UInt8, byteCount: Int, into target: inout MutableRawSpan) -> Int? {
        guard id != 0, byteCount >= 0 else { return nil }
        let head = isTwoByte ? 2 : 1
        guard isTwoByte ? byteCount <= 255 : id <= 14 && (1...16).contains(byteCount),
            // With space for the padding to whole words.
            end &+ head &+ byteCount &+ 3 <= target.byteCount
        else { return nil }
        if isTwoByte {
            target.store(id, at: end)
            target.store(UInt8(truncatingIfNeeded: byteCount), at: end &+ 1)
        } else {
            target.store(id << 4 | UInt8(truncatingIfNeeded: byteCount &- 1), at: end)
        }
        let offset = end &+ head
        end = offset &+ byteCount
        return offset
    }

    /// Writes an element with its value; an empty value only with two-byte headers.
    mutating func append(_ id: UInt8, _ value: RawSpan, into target: inout MutableRawSpan) -> Int? {
        guard value.byteCount > 0 || isTwoByte, let offset = append(id, byteCount: value.byteCount, into: &target)
        else {
            return nil
        }
        target.store(value, at: offset)
        return offset
    }

    /// Pads, writes the block's header, and returns the end; nil when there is no element.
    mutating func finish(into target: inout MutableRawSpan) -> Int? {
        guard end > start &+ 4 else { return nil }
        while (end &- start) & 3 != 0 {
            target.store(UInt8(0), at: end)
            end &+= 1
        }
        target.store(isTwoByte ? RTPPacket.twoByteProfile : RTPPacket.oneByteProfile, at: start)
        target.store(UInt16(truncatingIfNeeded: (end &- start) / 4 &- 1), at: start &+ 2)
        return end
    }
}
