import Wire

/// The header of an EBML element (RFC 8794 section 5): its id, and the length of its data.
struct EBMLElement {
    /// With the marker bits, as ids are written.
    let id: UInt32
    /// The range of its data, up to the end of the file. Data of unknown length, from live writers, extends to the end
    /// of the file.
    let data: Range<Int>
    /// It is longer than the rest of the file.
    let isTruncated: Bool

    /// - Throws: when there is no element at this offset.
    init(_ file: RawSpan, at offset: Int) throws(ContainerError) {
        guard let first = file.byte(at: offset), first >= 0x10 else {
            throw .malformed("this is not an EBML element", at: offset)
        }
        var id = UInt32(first)
        let idCount = first.leadingZeroBitCount &+ 1
        for index in 1..<max(idCount, 1) {
            guard let byte = file.byte(at: offset &+ index) else {
                throw .malformed("the file ends too early", at: offset)
            }
            id = id << 8 | UInt32(byte)
        }
        guard let size = EBMLInteger(file, at: offset &+ idCount) else {
            throw .malformed("this is not the length of an EBML element", at: offset)
        }
        let begin = offset &+ idCount &+ size.byteCount
        self.id = id
        let left = UInt64(file.byteCount &- begin)
        isTruncated = !size.isUnknown && size.value > left
        data = begin..<begin &+ Int(size.isUnknown ? left : min(size.value, left))
    }
}

/// An integer of variable length (VINT), which its first byte determines (RFC 8794 section 4).
struct EBMLInteger {
    let value: UInt64
    let byteCount: Int
    /// All bits of the value are set: an unknown length.
    let isUnknown: Bool

    init?(_ file: RawSpan, at offset: Int) {
        guard let first = file.byte(at: offset), first != 0 else { return nil }
        byteCount = first.leadingZeroBitCount &+ 1
        var value = UInt64(first) & (0xFF >> UInt64(byteCount))
        for index in 1..<max(byteCount, 1) {
            guard let byte = file.byte(at: offset &+ index) else { return nil }
            value = value << 8 | UInt64(byte)
        }
        self.value = value
        isUnknown = value == (1 << UInt64(7 &* byteCount)) &- 1
    }

    /// The value with a bias, for signed differences (RFC 9559 section 10.3.3).
    var signed: Int64 { Int64(bitPattern: value) &- ((1 << Int64(7 &* byteCount &- 1)) &- 1) }
}

extension RawSpan {
    /// An unsigned integer element of up to eight bytes; 0 for an empty one.
    func ebmlUnsigned(_ range: Range<Int>) -> UInt64? {
        guard range.count <= 8, let part = part(range) else { return nil }
        var value: UInt64 = 0
        for index in 0..<part.byteCount { value = value << 8 | UInt64(part.byte(at: index) ?? 0) }
        return value
    }
}
