import Wire

/// JPEG (ITU-T T.81 annex B): segments that begin with a marker, and after a start of scan the compressed image.
///
///     SOI  APPn | COM | DQT | DHT | DRI | SOFn …  SOS data  [DHT | SOS data …]  EOI
///
/// Baseline, extended and progressive files with Huffman codes are accepted, as in browsers. JFIF's density (APP0), ICC
/// profiles (APP2), Adobe's colour transform (APP14), the orientation (of APP1) and the image are kept.
struct JPEGFile {
    private enum Marker {
        static let frames: Set<UInt8> = [0xC0, 0xC1, 0xC2]
        static let otherFrames: Set<UInt8> = [0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCC, 0xCD, 0xCE, 0xCF]
        static let huffmanTables: UInt8 = 0xC4
        static let restarts: ClosedRange<UInt8> = 0xD0...0xD7
        static let end: UInt8 = 0xD9
        static let scan: UInt8 = 0xDA
        static let quantization: UInt8 = 0xDB
        static let restartInterval: UInt8 = 0xDD
        static let applications: ClosedRange<UInt8> = 0xE0...0xEF
        static let comment: UInt8 = 0xFE
    }

    /// A progressive file has about ten. Each one makes a decoder process the whole image, however few bytes it has.
    private static let maximumScans = 64

    private let limit: Int
    private var output: [UInt8] = [0xFF, 0xD8]
    private var size: ImageSize?
    private var scans = 0
    private var hasJFIF = false
    private var hasEXIF = false
    private var profileBytes = 0

    static func matches(_ file: RawSpan) -> Bool { file.byte(at: 0) == 0xFF && file.byte(at: 1) == 0xD8 }

    static func read(_ file: RawSpan, _ limit: Int) throws(ImageError) -> ImageFile {
        var reader = JPEGFile(limit: limit)
        return try reader.read(file)
    }

    private init(limit: Int) { self.limit = limit }

    private mutating func read(_ file: RawSpan) throws(ImageError) -> ImageFile {
        output.reserveCapacity(file.byteCount)
        var offset = 2
        while true {
            guard let first = file.byte(at: offset) else { throw .ended(at: offset) }
            guard first == 0xFF else { throw .malformed("a marker is missing", at: offset) }
            // Any number of fill bytes may precede a marker (section B.1.1.2).
            while file.byte(at: offset &+ 1) == 0xFF { offset &+= 1 }
            guard let marker = file.byte(at: offset &+ 1) else { throw .ended(at: offset) }
            if marker == Marker.end { return try finish(at: offset) }
            let range = try Self.segment(file, at: offset)
            guard let segment = file.part(range) else { throw .ended(at: offset) }
            try take(segment, marker, at: offset)
            offset = range.upperBound
            if marker == Marker.scan { offset = try copyScan(file, from: offset) }
        }
    }

    private mutating func finish(at offset: Int) throws(ImageError) -> ImageFile {
        guard let size, scans > 0 else { throw .malformed("there is no picture", at: offset) }
        output += [0xFF, Marker.end]
        return ImageFile(.jpeg, size, output)
    }

    /// The range of a segment: the marker, the length and the bytes that the length covers.
    private static func segment(_ file: RawSpan, at offset: Int) throws(ImageError) -> Range<Int> {
        guard let length = file.integer(at: offset &+ 2, as: UInt16.self) else { throw .ended(at: offset) }
        guard length >= 2 else { throw .malformed("a segment has no length", at: offset) }
        return offset..<offset &+ 2 &+ Int(length)
    }

    private mutating func take(_ segment: RawSpan, _ marker: UInt8, at offset: Int) throws(ImageError) {
        switch marker {
        case _ where Marker.frames.contains(marker):
            guard size == nil else { throw .unsupported("several frames") }
            size = try Self.size(segment, limit: limit, at: offset)
            output.append(segment)
        case _ where Marker.otherFrames.contains(marker):
            throw .unsupported("a lossless, hierarchical or arithmetic JPEG encoding")
        case Marker.huffmanTables, Marker.quantization, Marker.restartInterval: output.append(segment)
        case Marker.scan:
            guard size != nil else { throw .malformed("a scan comes before its frame", at: offset) }
            scans &+= 1
            guard scans <= Self.maximumScans else { throw .unsupported("more than \(Self.maximumScans) scans") }
            output.append(segment)
        case _ where Marker.applications.contains(marker): try takeApplication(segment, marker)
        case Marker.comment: break
        default: throw .malformed("there is an unknown marker", at: offset)
        }
    }

    private mutating func takeApplication(_ segment: RawSpan, _ marker: UInt8) throws(ImageError) {
        guard let content = segment.part(4..<segment.byteCount) else { return }
        switch marker {
        case 0xE0 where content.begins(with: "JFIF\0") && content.byteCount >= 12 && !hasJFIF:
            hasJFIF = true
            // Without the thumbnail, which may follow the density.
            guard let density = content.part(0..<12) else { return }
            output += [0xFF, 0xE0, 0, 16]
            output.append(density)
            output += [0, 0]
        case 0xE1 where content.begins(with: "Exif\0\0") && !hasEXIF:
            // Only the first counts, as in browsers.
            hasEXIF = true
            guard let orientation = Orientation(exif: content) else { return }
            let exif = Orientation.prefix + orientation.tiff
            output += [0xFF, 0xE1]
            output.append(bigEndian: UInt16(truncatingIfNeeded: exif.count &+ 2))
            output += exif
        case 0xE2 where content.begins(with: "ICC_PROFILE\0"):
            profileBytes &+= content.byteCount
            guard profileBytes <= ColourProfile.maximumByteCount else { throw ColourProfile.tooLong }
            output.append(segment)
        case 0xEE where content.begins(with: "Adobe") && content.byteCount == 12: output.append(segment)
        default: break
        }
    }

    /// The frame header (section B.2.2): precision, height, width, and for each component its id, sampling and table.
    private static func size(_ segment: RawSpan, limit: Int, at offset: Int) throws(ImageError) -> ImageSize {
        guard let precision = segment.byte(at: 4), let height = segment.integer(at: 5, as: UInt16.self),
            let width = segment.integer(at: 7, as: UInt16.self), let components = segment.byte(at: 9),
            segment.byteCount == 10 &+ 3 &* Int(components)
        else { throw .malformed("the frame header has a wrong length", at: offset) }
        guard precision == 8 else { throw .unsupported("\(precision) bits a sample") }
        guard [1, 3, 4].contains(components) else { throw .unsupported("\(components) components") }
        for index in 0..<Int(components) {
            guard let sampling = segment.byte(at: 11 &+ 3 &* index), let table = segment.byte(at: 12 &+ 3 &* index),
                (1...4).contains(sampling >> 4), (1...4).contains(sampling & 15), table < 4
            else { throw .malformed("a component is invalid", at: offset) }
        }
        return try ImageSize(Int(width), Int(height), limit: limit, at: offset)
    }

    /// Copies compressed data up to the next marker that is not a restart; returns its offset.
    private mutating func copyScan(_ file: RawSpan, from start: Int) throws(ImageError) -> Int {
        var offset = start
        while let byte = file.byte(at: offset) {
            guard byte == 0xFF, let next = file.byte(at: offset &+ 1) else {
                offset &+= 1
                continue
            }
            // A zero is stuffed after data that looks like a marker; repeated 0xFF are fill bytes.
            if next == 0 || Marker.restarts.contains(next) {
                offset &+= 2
            } else if next == 0xFF {
                offset &+= 1
            } else {
                guard let data = file.part(start..<offset) else { throw .ended(at: offset) }
                output.append(data)
                return offset
            }
        }
        throw .ended(at: offset)
    }
}
