import Containers
import Testing
import Wire

/// Images that FFmpeg wrote (Fixtures/make_images.py), with what phones and programs put into them.
@Suite struct ImageTests {
    static let stills = [
        ("photo.jpg", ImageFile.Format.jpeg), ("grey.png", .png), ("picture.png", .png), ("lossy.webp", .webp),
        ("lossless.webp", .webp), ("transparent.webp", .webp),
    ]

    private func read(_ bytes: [UInt8], limit: Int = 2048) throws -> ImageFile {
        try ImageFile.read(bytes.span.bytes, limit: limit)
    }

    private func error(_ bytes: [UInt8], limit: Int = 2048) -> ImageError? {
        #expect(throws: ImageError.self) { _ = try read(bytes, limit: limit) }
    }

    @Test(arguments: stills)
    func sizesAreRead(name: String, format: ImageFile.Format) throws {
        let file = try Files.named("images/" + name)
        let image = try read(file)
        #expect(image.format == format && image.width == 16 && image.height == 12)
        #expect(try read(file, limit: 16) == image)
        #expect(error(file, limit: 15) == .tooLarge(width: 16, height: 12, limit: 15))
        // What was made of it is made of it again.
        #expect(try read(image.bytes) == image)
        // What follows the end is not kept.
        #expect(try read(file + Array("<script>".utf8)).bytes == image.bytes)
    }

    @Test(arguments: stills)
    func noPartIsTakenForTheWhole(name: String, format: ImageFile.Format) throws {
        let file = try Files.named("images/" + name)
        for count in file.indices {
            #expect(throws: ImageError.self, "\(count)") { _ = try read(Array(file[..<count])) }
        }
    }

    @Test func cleanFilesStayAsTheyAre() throws {
        for name in ["grey.png", "picture.png", "lossy.webp", "lossless.webp", "transparent.webp"] {
            let file = try Files.named("images/" + name)
            #expect(try read(file).bytes == file, "\(name)")
        }
    }

    @Test func otherFilesAreNone() throws {
        for bytes in [[], [0xFF], Array("GIF89a".utf8), Array("RIFF".utf8), Array("RIFF....WAVE".utf8), [0, 0, 0, 28]] {
            #expect(error(bytes) == .unknownFormat)
        }
        #expect(error(try Files.named("tone.ogg")) == .unknownFormat)
    }
}

// JPEG.
extension ImageTests {
    private func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0xFF, marker]
        bytes.append(bigEndian: UInt16(content.count + 2))
        return bytes + content
    }

    /// A TIFF header and a directory with a maker's name, the orientation and where the photo was taken.
    private func exif(orientation: UInt16, isLittle: Bool = false, type: UInt16 = 3) -> [UInt8] {
        func short(_ value: UInt16) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(bigEndian: isLittle ? value.byteSwapped : value)
            return bytes
        }
        func long(_ value: UInt32) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(bigEndian: isLittle ? value.byteSwapped : value)
            return bytes
        }
        let maker = short(0x010F) + short(2) + long(6) + long(50)
        let turned = short(0x0112) + short(type) + long(1) + short(orientation) + short(0)
        let gps = short(0x8825) + short(4) + long(1) + long(60)
        return Array((isLittle ? "II" : "MM").utf8) + short(42) + long(8) + short(3) + maker + turned + gps + long(0)
            + Array("SECRET place".utf8)
    }

    private func jpeg(with segments: [UInt8]) throws -> [UInt8] {
        let file = try Files.named("images/photo.jpg")
        return Array(file[..<2]) + segments + Array(file[2...])
    }

    private func holds(_ bytes: [UInt8], _ text: String) -> Bool { bytes.firstRange(of: Array(text.utf8)) != nil }

    @Test func metadataOfJPEGIsRemoved() throws {
        let plain = try read(try Files.named("images/photo.jpg"))
        #expect(!holds(plain.bytes, "Lavc"))
        let jfif = Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 1, 1] + Array("SEC".utf8)
        let file = try jpeg(
            with: segment(0xE0, jfif) + segment(0xE0, Array("JFXX\0SECRET".utf8))
                + segment(0xE1, Array("Exif\0\0".utf8) + exif(orientation: 1))
                + segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0SECRET".utf8))
                + segment(0xFE, Array("SECRET".utf8))
                + segment(0xED, Array("Photoshop 3.0\0SECRET".utf8)) + segment(0xE2, Array("MPF\0SECRET".utf8)))
        let image = try read(file)
        #expect(!holds(image.bytes, "SEC") && !holds(image.bytes, "Exif"))
        // JFIF's density stays, its thumbnail does not.
        let density = Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 0, 0]
        #expect(image.bytes == Array(plain.bytes[..<2]) + segment(0xE0, density) + Array(plain.bytes[2...]))
    }

    @Test func whatShowsAJPEGAsItWasMeantIsKept() throws {
        let profile = segment(0xE2, Array("ICC_PROFILE\0\u{1}\u{1}display-p3".utf8))
        let adobe = segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1])
        let image = try read(try jpeg(with: profile + adobe))
        #expect(image.bytes.firstRange(of: profile) != nil && image.bytes.firstRange(of: adobe) != nil)
        let long = segment(0xE2, Array("ICC_PROFILE\0".utf8) + [UInt8](repeating: 7, count: 40_000))
        #expect(error(try jpeg(with: long + long)) == .unsupported("a colour profile of more than 64 KiB"))
    }

    @Test(arguments: [false, true], [UInt16](0...9))
    func onlyTheOrientationOfEXIFIsKept(isLittle: Bool, orientation: UInt16) throws {
        let tiff = exif(orientation: orientation, isLittle: isLittle)
        let image = try read(try jpeg(with: segment(0xE1, Array("Exif\0\0".utf8) + tiff)))
        let kept: [UInt8] =
            Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1]
            + [0, UInt8(orientation), 0, 0, 0, 0, 0, 0]
        #expect((image.bytes.firstRange(of: segment(0xE1, kept)) != nil) == (2...8).contains(orientation))
        #expect(holds(image.bytes, "Exif") == (2...8).contains(orientation) && !holds(image.bytes, "SECRET"))
        #expect(try read(image.bytes).bytes == image.bytes)
    }

    @Test func theFirstEXIFCounts() throws {
        func app(_ orientation: UInt16) -> [UInt8] {
            segment(0xE1, Array("Exif\0\0".utf8) + exif(orientation: orientation))
        }
        let image = try read(try jpeg(with: app(6) + app(3)))
        #expect(image.bytes.count == (try read(try jpeg(with: app(6)))).bytes.count)
        // Of another type it says nothing, and a directory that runs past the end has none.
        for odd in [exif(orientation: 6, type: 4), Array(exif(orientation: 6).prefix(20)), []] {
            let image = try read(try jpeg(with: segment(0xE1, Array("Exif\0\0".utf8) + odd)))
            #expect(!holds(image.bytes, "Exif"))
        }
    }

    @Test func whatNoBrowserShowsIsRefused() throws {
        let file = try Files.named("images/photo.jpg")
        let frame = try #require(file.firstRange(of: [0xFF, 0xC0] as [UInt8])).lowerBound
        let scan = try #require(file.firstRange(of: [0xFF, 0xDA] as [UInt8])).lowerBound
        func changed(_ offset: Int, _ value: UInt8) -> [UInt8] {
            var bytes = file
            bytes[offset] = value
            return bytes
        }
        #expect(
            error(changed(frame + 1, 0xC9)) == .unsupported("a lossless, hierarchical or arithmetic JPEG encoding"))
        #expect(error(changed(frame + 4, 12)) == .unsupported("12 bits a sample"))
        #expect(error(changed(frame + 11, 0x51)) == .malformed("a component is invalid", at: frame))
        #expect(error(changed(frame + 6, 0)) == .malformed("its width or height is 0", at: frame))
        #expect(error(changed(frame + 5, 0x40)) == .tooLarge(width: 16, height: 0x400C, limit: 2048))
        // A frame twice, none, and so many scans that a decoder would be busy for minutes.
        let again = Array(file[..<scan]) + Array(file[frame..<scan]) + Array(file[scan...])
        #expect(error(again) == .unsupported("several frames"))
        #expect(error(Array(file[..<2]) + Array(file[scan...])) == .malformed("a scan comes before its frame", at: 2))
        let body = Array(file[scan..<(file.count - 2)])
        let end: [UInt8] = [0xFF, 0xD9]
        #expect(
            try read(Array(file[..<scan]) + Array([[UInt8]](repeating: body, count: 64).joined()) + end).width == 16)
        #expect(
            error(Array(file[..<scan]) + Array([[UInt8]](repeating: body, count: 65).joined()) + end)
                == .unsupported("more than 64 scans"))
        #expect(error(Array(file[..<scan]) + end) == .malformed("there is no picture", at: scan))
    }
}

// PNG and WebP.
extension ImageTests {
    private func pngChunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt32(content.count))
        return bytes + Array(type.utf8) + content + [1, 2, 3, 4]
    }

    @Test func metadataOfPNGIsRemoved() throws {
        let file = try Files.named("images/picture.png")
        let metadata = ["tEXt", "zTXt", "iTXt", "tIME", "dSIG", "acTL"].flatMap { pngChunk($0, Array("SECRET".utf8)) }
        #expect(try read(Array(file[..<33]) + metadata + Array(file[33...])).bytes == file)
        let kept = ["gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "tRNS"].flatMap { pngChunk($0, [1]) }
        let meant = Array(file[..<33]) + kept + Array(file[33...])
        #expect(try read(meant).bytes == meant)
        let turned = try read(Array(file[..<33]) + pngChunk("eXIf", exif(orientation: 8)) + Array(file[33...]))
        let tiff: [UInt8] =
            Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0]
        // The checksum is that of zlib.crc32(b"eXIf" + tiff).
        let chunk: [UInt8] = [0, 0, 0, 26] + Array("eXIf".utf8) + tiff + [0x86, 0x58, 0x30, 0x34]
        #expect(turned.bytes == Array(file[..<33]) + chunk + Array(file[33...]))
        #expect(
            error(Array(file[..<33]) + pngChunk("CgBI", []) + Array(file[33...]))
                == .unsupported("an unknown critical chunk"))
        let long = pngChunk("iCCP", [UInt8](repeating: 0, count: 64 * 1024 + 1))
        #expect(
            error(Array(file[..<33]) + long + Array(file[33...]))
                == .unsupported("a colour profile of more than 64 KiB"))
        #expect(
            error(Array(file[..<33]) + Array(file[8...]))
                == .malformed("the header is missing, or there are two", at: 33))
    }

    @Test func anAnimationBecomesItsFirstPicture() throws {
        let file = try Files.named("images/animated.png")
        let image = try read(file)
        #expect(holds(file, "acTL") && holds(file, "fdAT"))
        #expect(!holds(image.bytes, "acTL") && !holds(image.bytes, "fcTL") && !holds(image.bytes, "fdAT"))
        #expect(error(try Files.named("images/animated.webp")) == .unsupported("an animation"))
    }

    private func webpChunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        var bytes = Array(type.utf8)
        bytes.append(bigEndian: UInt32(content.count).byteSwapped)
        return bytes + content + (content.count % 2 == 1 ? [0] : [])
    }

    private func riff(_ chunks: [UInt8]) -> [UInt8] {
        var bytes = Array("RIFF".utf8)
        bytes.append(bigEndian: UInt32(chunks.count + 4).byteSwapped)
        return bytes + Array("WEBP".utf8) + chunks
    }

    @Test func metadataOfWebPIsRemoved() throws {
        let file = try Files.named("images/lossy.webp")
        let picture = Array(file[12...])
        let canvas: [UInt8] = [0, 0, 0, 15, 0, 0, 11, 0, 0]
        let metadata = riff(
            webpChunk("VP8X", [0x2C] + canvas) + webpChunk("ICCP", [1, 2, 3]) + picture
                + webpChunk("EXIF", exif(orientation: 5)) + webpChunk("XMP ", Array("SECRET".utf8))
                + webpChunk("what", Array("SECRET".utf8)))
        let image = try read(metadata)
        let tiff: [UInt8] =
            Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 5, 0, 0, 0, 0, 0, 0]
        #expect(
            image.bytes
                == riff(
                    webpChunk("VP8X", [0x28] + canvas) + webpChunk("ICCP", [1, 2, 3]) + picture
                        + webpChunk("EXIF", tiff)))
        #expect(try read(image.bytes) == image)
        // Around nothing special the extended header says nothing.
        let plain = try read(riff(webpChunk("VP8X", [0x04] + canvas) + picture + webpChunk("XMP ", [1])))
        #expect(plain.bytes == riff(webpChunk("VP8X", [0] + canvas) + picture))
        let other: [UInt8] = [0, 0, 0, 0, 15, 0, 0, 12, 0, 0]
        #expect(
            error(riff(webpChunk("VP8X", other) + picture))
                == .malformed("the picture does not fill its canvas", at: 12))
        #expect(error(riff(picture + picture)) == .unsupported("several pictures"))
        #expect(
            error(riff(picture + webpChunk("VP8X", [0] + canvas)))
                == .malformed("the extended header is not the first chunk", at: 12 + picture.count))
        let huge: [UInt8] = [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 11, 0, 0]
        #expect(error(riff(webpChunk("VP8X", huge) + picture)) == .tooLarge(width: 1 << 24, height: 12, limit: 2048))
    }
}
