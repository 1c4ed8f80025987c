import Wire

/// How an image is rotated and mirrored when it is shown: the only EXIF field that is kept (CIPA DC-008, tag 0x0112 in
/// IFD 0; 1 is unchanged).
struct Orientation: Hashable {
    private static let tag: UInt16 = 0x0112
    /// A SHORT in TIFF.
    private static let short: UInt16 = 3

    let value: UInt16

    /// Reads it from a TIFF header with its first directory. Nil when it is absent, invalid or 1.
    init?(tiff: RawSpan) {
        let isLittle: Bool
        switch tiff.integer(at: 0, as: UInt32.self) {
        case 0x4949_2A00: isLittle = true
        case 0x4D4D_002A: isLittle = false
        default: return nil
        }
        func short(_ offset: Int) -> UInt16? {
            tiff.integer(at: offset, as: UInt16.self).map { isLittle ? $0.byteSwapped : $0 }
        }
        func long(_ offset: Int) -> UInt32? {
            tiff.integer(at: offset, as: UInt32.self).map { isLittle ? $0.byteSwapped : $0 }
        }
        guard let start = long(4).map({ Int($0) }), let count = short(start) else { return nil }
        for index in 0..<Int(count) {
            let entry = start &+ 2 &+ index &* 12
            guard let tag = short(entry) else { return nil }
            guard tag == Self.tag else { continue }
            guard short(entry &+ 2) == Self.short, long(entry &+ 4) == 1, let value = short(entry &+ 8),
                (2...8).contains(value)
            else { return nil }
            self.value = value
            return
        }
        return nil
    }

    /// Reads it from a file's EXIF data: some writers put JPEG's prefix before the TIFF header in other formats too.
    init?(exif: RawSpan) {
        let prefix = Self.prefix.count
        if exif.begins(with: "Exif\0\0"), let tiff = exif.part(prefix..<exif.byteCount) {
            self.init(tiff: tiff)
        } else {
            self.init(tiff: exif)
        }
    }

    /// The prefix before the TIFF header in JPEG.
    static let prefix: [UInt8] = Array("Exif\0\0".utf8)

    /// A TIFF header with a directory that has only the orientation.
    var tiff: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: 0x4D4D_002A as UInt32)
        // The directory follows immediately: one entry, and no other directory.
        bytes.append(bigEndian: 8 as UInt32)
        bytes.append(bigEndian: 1 as UInt16)
        bytes.append(bigEndian: Self.tag)
        bytes.append(bigEndian: Self.short)
        bytes.append(bigEndian: 1 as UInt32)
        bytes.append(bigEndian: UInt32(value) << 16)
        bytes.append(bigEndian: 0 as UInt32)
        return bytes
    }
}
