import Wire

/// PNG (W3C PNG, third edition): a signature, then chunks, each with a length, a type, data and a CRC.
///
/// The image (IHDR, PLTE, IDAT, IEND), its interpretation (transparency, gamma, colour space, ICC profile, significant
/// bits, pixel aspect) and the orientation (of eXIf) are kept. An animation becomes its first frame.
enum PNGFile {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private enum ChunkType {
        static let header: UInt32 = 0x4948_4452
        static let data: UInt32 = 0x4944_4154
        static let end: UInt32 = 0x4945_4E44
        static let exif: UInt32 = 0x6558_4966
        /// iCCP, which is compressed.
        static let profile: UInt32 = 0x6943_4350
        /// PLTE, tRNS, gAMA, cHRM, sRGB, cICP, sBIT, pHYs.
        static let kept: Set<UInt32> = [
            0x504C_5445, 0x7452_4E53, 0x6741_4D41, 0x6348_524D, 0x7352_4742, 0x6349_4350, 0x7342_4954, 0x7048_5973,
        ]
    }

    static func matches(_ file: RawSpan) -> Bool {
        signature.indices.allSatisfy { file.byte(at: $0) == signature[$0] }
    }

    static func read(_ file: RawSpan, _ limit: Int) throws(ImageError) -> ImageFile {
        var output = signature
        output.reserveCapacity(file.byteCount)
        var offset = signature.count
        var size: ImageSize?
        var hasData = false
        var hasEXIF = false
        while true {
            guard let length = file.integer(at: offset, as: UInt32.self),
                let type = file.integer(at: offset &+ 4, as: UInt32.self),
                let chunk = file.part(offset..<offset &+ 12 &+ Int(length)),
                let content = chunk.part(8..<8 &+ Int(length))
            else { throw .ended(at: offset) }
            guard (type == ChunkType.header) == (size == nil) else {
                throw .malformed("the header is missing, or there are two", at: offset)
            }
            switch type {
            case ChunkType.header:
                size = try Self.size(content, limit: limit, at: offset)
                output.append(chunk)
            case ChunkType.data:
                hasData = true
                output.append(chunk)
            case ChunkType.profile:
                guard length <= ColourProfile.maximumByteCount else { throw ColourProfile.tooLong }
                output.append(chunk)
            case ChunkType.exif where !hasEXIF:
                hasEXIF = true
                if let orientation = Orientation(exif: content) { append(orientation, to: &output) }
            case ChunkType.end:
                guard let size, hasData, length == 0 else { throw .malformed("there is no picture", at: offset) }
                output.append(chunk)
                return ImageFile(.png, size, output)
            case _ where ChunkType.kept.contains(type): output.append(chunk)
            // An unknown chunk that decoders must understand (section 5.4).
            case _ where type & 0x2000_0000 == 0: throw .unsupported("an unknown critical chunk")
            default: break
            }
            offset &+= chunk.byteCount
        }
    }

    /// Width, height, bit depth, colour type, and three methods (section 11.2.1).
    private static func size(_ header: RawSpan, limit: Int, at offset: Int) throws(ImageError) -> ImageSize {
        guard header.byteCount == 13, let width = header.integer(at: 0, as: UInt32.self),
            let height = header.integer(at: 4, as: UInt32.self), let depth = header.byte(at: 8),
            let colour = header.byte(at: 9)
        else { throw .malformed("the header has a wrong length", at: offset) }
        let depths: Set<UInt8> =
            switch colour {
            case 0: [1, 2, 4, 8, 16]
            case 3: [1, 2, 4, 8]
            case 2, 4, 6: [8, 16]
            default: []
            }
        guard depths.contains(depth), header.byte(at: 10) == 0, header.byte(at: 11) == 0,
            let interlace = header.byte(at: 12), interlace <= 1
        else { throw .malformed("the header is invalid", at: offset) }
        return try ImageSize(Int(width), Int(height), limit: limit, at: offset)
    }

    private static func append(_ orientation: Orientation, to output: inout [UInt8]) {
        let tiff = orientation.tiff
        var chunk: [UInt8] = []
        chunk.append(bigEndian: ChunkType.exif)
        chunk += tiff
        output.append(bigEndian: UInt32(truncatingIfNeeded: tiff.count))
        output += chunk
        output.append(bigEndian: checksum(chunk))
    }

    /// CRC-32 of type and data (annex D).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
