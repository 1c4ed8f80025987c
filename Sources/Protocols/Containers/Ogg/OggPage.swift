import Wire

/// One page of an Ogg file (RFC 3533 section 6). Integers are little-endian.
///
///      0 "OggS" | 4 version 0 | 5 flags | 6 granule position (8) | 14 serial number (4) | 18 page number (4)
///     22 checksum (4) | 26 number of segments | 27 length of each segment | the segments
///
/// A packet is segments of 255 bytes and one that is shorter; one that continues in the next page ends with 255.
struct OggPage {
    static let headerByteCount = 27
    static let maximumSegments = 255
    private static let magic: StaticString = "OggS"

    /// It begins with the rest of a packet.
    var isContinued: Bool
    /// The first of its stream.
    var isFirst: Bool
    /// The last of its stream.
    var isLast: Bool
    /// For Opus: the end of the last packet that ends in this page, in samples with the pre-skip; -1 when none does.
    var granule: Int64
    var serial: UInt32
    var number: UInt32
    var segments: [UInt8]

    var bodyByteCount: Int { segments.reduce(0) { $0 &+ Int($1) } }
    var byteCount: Int { Self.headerByteCount &+ segments.count &+ bodyByteCount }
    var bodyOffset: Int { Self.headerByteCount &+ segments.count }

    static func begins(_ bytes: RawSpan) -> Bool { bytes.begins(with: magic) }

    init(serial: UInt32, number: UInt32) {
        (isContinued, isFirst, isLast) = (false, false, false)
        granule = -1
        self.serial = serial
        self.number = number
        segments = []
    }

    /// The page that begins there, with the right checksum.
    init(_ file: RawSpan, at offset: Int) throws(ContainerError) {
        guard let rest = file.part(offset..<file.byteCount), Self.begins(rest) else {
            throw .malformed("there is no Ogg page", at: offset)
        }
        guard let version = rest.byte(at: 4), let flags = rest.byte(at: 5),
            let granule = rest.littleEndian(at: 6, as: Int64.self),
            let serial = rest.littleEndian(at: 14, as: UInt32.self),
            let number = rest.littleEndian(at: 18, as: UInt32.self),
            let checksum = rest.littleEndian(at: 22, as: UInt32.self), let count = rest.byte(at: 26),
            let table = rest.part(Self.headerByteCount..<Self.headerByteCount &+ Int(count))
        else { throw .malformed("the Ogg page ends too early", at: offset) }
        guard version == 0 else { throw .unsupported("version \(version) of Ogg") }
        isContinued = flags & 1 != 0
        isFirst = flags & 2 != 0
        isLast = flags & 4 != 0
        self.granule = granule
        self.serial = serial
        self.number = number
        segments = table.copyToArray()
        guard let page = rest.part(0..<byteCount) else { throw .malformed("the Ogg page ends too early", at: offset) }
        guard OggChecksum.of(page) == checksum else { throw .malformed("the Ogg page is damaged", at: offset) }
    }

    /// Writes the page with these bytes in its segments.
    func write(_ body: [UInt8], into file: inout [UInt8]) {
        let start = file.count
        file += [0x4F, 0x67, 0x67, 0x53, 0]
        file.append((isContinued ? 1 : 0) | (isFirst ? 2 : 0) | (isLast ? 4 : 0))
        file.append(littleEndian: granule)
        file.append(littleEndian: serial)
        file.append(littleEndian: number)
        file.append(littleEndian: UInt32(0))
        file.append(UInt8(truncatingIfNeeded: segments.count))
        file += segments
        file += body
        OggChecksum.seal(&file, start..<file.count)
    }
}

/// The checksum of a page, whose own four bytes count as 0: polynomial 0x04C11DB7, nothing reflected or inverted.
package enum OggChecksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { value, _ in
            value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
        }
    }

    /// Sets the checksum of the page that begins there. Returns its end, nil when it is incomplete. For tests, whose
    /// pages are invalid in other ways.
    package static func seal(_ file: inout [UInt8], at start: Int) -> Int? {
        guard start >= 0, start &+ OggPage.headerByteCount <= file.count else { return nil }
        let segments = file[(start &+ OggPage.headerByteCount)...].prefix(Int(file[start &+ 26]))
        let end = segments.reduce(start &+ OggPage.headerByteCount &+ segments.count) { $0 &+ Int($1) }
        guard end <= file.count else { return nil }
        seal(&file, start..<end)
        return end
    }

    fileprivate static func seal(_ file: inout [UInt8], _ page: Range<Int>) {
        let checksum = of(file.span.bytes.extracting(page))
        for index in 0..<4 {
            file[page.lowerBound &+ 22 &+ index] = UInt8(truncatingIfNeeded: checksum >> (8 &* UInt32(index)))
        }
    }

    static func of(_ page: RawSpan) -> UInt32 {
        var value: UInt32 = 0
        for index in 0..<page.byteCount {
            let byte = (22..<26).contains(index) ? 0 : page.byte(at: index) ?? 0
            value = value << 8 ^ table[Int(UInt8(truncatingIfNeeded: value >> 24) ^ byte)]
        }
        return value
    }
}
