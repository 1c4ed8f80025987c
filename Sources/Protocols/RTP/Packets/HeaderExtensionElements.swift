import Wire

// RFC 8285: elements of one byte (id and length in four bits each) or two bytes (a byte each), padded by zero bytes.
//
//     0xBEDE:  |  ID   |  L-1  |   data, 1 to 16 bytes          section 4.2; ID 15 ends the list
//     0x100X:  |      ID       |       L       |   data, 0 to 255 bytes          section 4.3

extension RTPPacket {
    package static let oneByteProfile: UInt16 = 0xBEDE
    /// Its last four bits are the application's.
    package static let twoByteProfile: UInt16 = 0x1000

    /// The value of the first element with this id.
    @_lifetime(copy self)
    package func element(_ id: UInt8) -> RawSpan? {
        guard let range = range(ofElement: id) else { return nil }
        return bytes.part(range)
    }

    /// The range of that value in the packet.
    package func range(ofElement id: UInt8) -> Range<Int>? {
        var cursor = ExtensionCursor(self)
        while let element = cursor.next(bytes) {
            if element.id == id { return element.range }
        }
        return nil
    }

    /// Calls `body` with each element's id and value, in order.
    package func visitElements(_ body: (UInt8, RawSpan) -> Void) {
        var cursor = ExtensionCursor(self)
        while let element = cursor.next(bytes), let value = bytes.part(element.range) {
            body(element.id, value)
        }
    }
}

/// Walks the elements of one extension block.
struct ExtensionCursor {
    private var offset: Int
    private let end: Int
    private let isTwoByte: Bool

    init(_ packet: borrowing RTPPacket) {
        offset = packet.extensionRange.lowerBound
        isTwoByte = packet.extensionProfile & 0xFFF0 == RTPPacket.twoByteProfile
        // Extensions of other profiles are skipped.
        let isKnown = isTwoByte || packet.extensionProfile == RTPPacket.oneByteProfile
        end = isKnown ? packet.extensionRange.upperBound : packet.extensionRange.lowerBound
    }

    mutating func next(_ bytes: RawSpan) -> (id: UInt8, range: Range<Int>)? {
        while offset < end, let first = bytes.byte(at: offset) {
            if first == 0 {
                offset &+= 1
                continue
            }
            let id: UInt8
            let length: Int
            let start: Int
            if isTwoByte {
                guard offset &+ 1 < end, let size = bytes.byte(at: offset &+ 1) else { break }
                (id, length, start) = (first, Int(size), offset &+ 2)
            } else {
                guard first >> 4 != 15 else { break }
                (id, length, start) = (first >> 4, Int(first & 15) &+ 1, offset &+ 1)
            }
            guard start &+ length <= end else { break }
            offset = start &+ length
            // Id 0 with a length is padding that senders should not write (section 4.2).
            guard id != 0 else { continue }
            return (id, start..<start &+ length)
        }
        offset = end
        return nil
    }
}
