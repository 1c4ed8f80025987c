import Wire

/// WebP (RFC 9649): a RIFF file with one image, in the simple or the extended format.
///
///     RIFF size WEBP  VP8 | VP8L
///     RIFF size WEBP  VP8X [ICCP] [ALPH] VP8 | VP8L [EXIF] [XMP] …
///
/// The image with its transparency, the colour profile, and the orientation (of EXIF) are kept. Animations have no
/// default image, and are not supported.
struct WebPFile {
    private enum ChunkType {
        static let extended: UInt32 = 0x5650_3858
        static let lossy: UInt32 = 0x5650_3820
        static let lossless: UInt32 = 0x5650_384C
        static let alpha: UInt32 = 0x414C_5048
        static let profile: UInt32 = 0x4943_4350
        static let exif: UInt32 = 0x4558_4946
        /// ANIM and ANMF.
        static let animation: Set<UInt32> = [0x414E_494D, 0x414E_4D46]
    }

    /// Flags of VP8X (section 2.7.1.2).
    private enum Flag {
        static let profile: UInt8 = 0x20
        static let alpha: UInt8 = 0x10
        static let exif: UInt8 = 0x08
    }

    private var canvas: ImageSize?
    private var hasAlphaFlag = false
    private var profile: [UInt8] = []
    private var alpha: [UInt8] = []
    private var picture: [UInt8] = []
    private var size: ImageSize?
    private var hasEXIF = false
    private var orientation: Orientation?

    static func matches(_ file: RawSpan) -> Bool {
        guard file.begins(with: "RIFF"), let rest = file.part(8..<max(8, file.byteCount)) else { return false }
        return rest.begins(with: "WEBP")
    }

    static func read(_ file: RawSpan, _ limit: Int) throws(ImageError) -> ImageFile {
        guard let length = file.littleEndian(at: 4, as: UInt32.self), let riff = file.part(0..<8 &+ Int(length)) else {
            throw .ended(at: file.byteCount)
        }
        var reader = WebPFile()
        var offset = 12
        while offset < riff.byteCount {
            guard let type = riff.integer(at: offset, as: UInt32.self),
                let size = riff.littleEndian(at: offset &+ 4, as: UInt32.self),
                let content = riff.part(offset &+ 8..<offset &+ 8 &+ Int(size))
            else { throw .ended(at: offset) }
            try reader.take(type, content, isFirst: offset == 12, limit, at: offset)
            // An odd one is followed by a padding byte, which the last one may lack.
            offset &+= 8 &+ Int(size) &+ Int(size & 1)
        }
        return try reader.finish(at: offset)
    }

    private mutating func take(
        _ type: UInt32, _ content: RawSpan, isFirst: Bool, _ limit: Int, at offset: Int
    ) throws(ImageError) {
        switch type {
        case ChunkType.extended:
            guard isFirst else { throw .malformed("the extended header is not the first chunk", at: offset) }
            try takeExtended(content, limit, at: offset)
        case ChunkType.lossy, ChunkType.lossless:
            guard size == nil else { throw .unsupported("several pictures") }
            size =
                type == ChunkType.lossy
                ? try Self.lossy(content, limit, at: offset)
                : try Self.lossless(content, limit, at: offset)
            picture = Self.chunk(type, content)
        case _ where ChunkType.animation.contains(type): throw .unsupported("an animation")
        case ChunkType.alpha where size == nil && alpha.isEmpty: alpha = Self.chunk(type, content)
        case ChunkType.profile where size == nil && profile.isEmpty:
            guard content.byteCount <= ColourProfile.maximumByteCount else { throw ColourProfile.tooLong }
            profile = Self.chunk(type, content)
        case ChunkType.exif where !hasEXIF:
            hasEXIF = true
            orientation = Orientation(exif: content)
        default: break
        }
    }

    /// Writes a new RIFF file, with an extended header only if the source had one.
    private func finish(at offset: Int) throws(ImageError) -> ImageFile {
        guard let size else { throw .malformed("there is no picture", at: offset) }
        guard canvas == nil || canvas == size else { throw .malformed("the picture does not fill its canvas", at: 12) }
        var body: [UInt8] = []
        let isExtended = canvas != nil
        if isExtended {
            var flags: UInt8 = hasAlphaFlag || !alpha.isEmpty ? Flag.alpha : 0
            if !profile.isEmpty { flags |= Flag.profile }
            if orientation != nil { flags |= Flag.exif }
            var header: [UInt8] = [flags, 0, 0, 0]
            for side in [size.width, size.height] {
                let less = UInt32(truncatingIfNeeded: side &- 1)
                header += [
                    UInt8(truncatingIfNeeded: less), UInt8(truncatingIfNeeded: less >> 8),
                    UInt8(truncatingIfNeeded: less >> 16),
                ]
            }
            body += Self.chunk(ChunkType.extended, header.span.bytes)
            body += profile
            body += alpha
        }
        body += picture
        if isExtended, let orientation { body += Self.chunk(ChunkType.exif, orientation.tiff.span.bytes) }
        var output = Array("RIFF".utf8)
        output.append(littleEndian: UInt32(truncatingIfNeeded: body.count &+ 4))
        output += Array("WEBP".utf8)
        output += body
        return ImageFile(.webp, size, output)
    }

    private static func chunk(_ type: UInt32, _ content: RawSpan) -> [UInt8] {
        var chunk: [UInt8] = []
        chunk.reserveCapacity(content.byteCount &+ 9)
        chunk.append(bigEndian: type)
        chunk.append(littleEndian: UInt32(truncatingIfNeeded: content.byteCount))
        chunk.append(content)
        if content.byteCount & 1 == 1 { chunk.append(0) }
        return chunk
    }

    /// Flags, and width and height of the canvas minus one in 24 bits each.
    private mutating func takeExtended(_ content: RawSpan, _ limit: Int, at offset: Int) throws(ImageError) {
        guard content.byteCount >= 10, let flags = content.byte(at: 0),
            let width = content.littleEndian(at: 4, as: UInt32.self),
            let height = content.littleEndian(at: 6, as: UInt32.self)
        else { throw .malformed("the extended header is too short", at: offset) }
        hasAlphaFlag = flags & Flag.alpha != 0
        canvas = try ImageSize(
            Int(width & 0xFF_FFFF) &+ 1, Int(height >> 8) &+ 1, limit: limit, at: offset)
    }

    /// A key frame's header (RFC 6386 section 9.1): 3 bytes of tag, a start code, and width and height in 14 bits each.
    private static func lossy(_ content: RawSpan, _ limit: Int, at offset: Int) throws(ImageError) -> ImageSize {
        guard let tag = content.byte(at: 0), tag & 1 == 0, let code = content.integer(at: 2, as: UInt32.self),
            code & 0xFF_FFFF == 0x9D_012A, let width = content.littleEndian(at: 6, as: UInt16.self),
            let height = content.littleEndian(at: 8, as: UInt16.self)
        else { throw .malformed("the picture has no header", at: offset) }
        return try ImageSize(Int(width & 0x3FFF), Int(height & 0x3FFF), limit: limit, at: offset)
    }

    /// A signature, width and height minus one in 14 bits each, a bit for transparency, and three of a version (RFC
    /// 9649 section 3.4).
    private static func lossless(_ content: RawSpan, _ limit: Int, at offset: Int) throws(ImageError) -> ImageSize {
        guard content.byte(at: 0) == 0x2F, let bits = content.littleEndian(at: 1, as: UInt32.self), bits >> 29 == 0
        else { throw .malformed("the picture has no header", at: offset) }
        return try ImageSize(Int(bits & 0x3FFF) &+ 1, Int(bits >> 14 & 0x3FFF) &+ 1, limit: limit, at: offset)
    }
}
