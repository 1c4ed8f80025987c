import Wire

/// How a picture is to be turned and mirrored when it is shown: the one thing of EXIF that is kept (CIPA DC-008, tag
/// 0x0112 in IFD 0; 1 is as it is).
struct Orientation: Hashable {
    private static let tag: UInt16 = 0x0112
    /// A SHORT in TIFF.
    private static let short: UInt16 = 3

    let value: UInt16

    /// Reads it out of a TIFF header with its first directory. Nil where there is none, or it says nothing.
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

    /// Reads it out of what is in a file under the name of EXIF: some writers put JPEG's prefix before the header
    /// elsewhere too.
    init?(exif: RawSpan) {
        let prefix = Self.prefix.count
        if exif.begins(with: "Exif\0\0"), let tiff = exif.part(prefix..<exif.byteCount) {
            self.init(tiff: tiff)
        } else {
            self.init(tiff: exif)
        }
    }

    /// What precedes TIFF in JPEG.
    static let prefix: [UInt8] = Array("Exif\0\0".utf8)

    /// A TIFF header with a directory that has nothing but this.
    var tiff: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: 0x4D4D_002A as UInt32)
        // The directory follows at once: one entry, and no other directory.
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
