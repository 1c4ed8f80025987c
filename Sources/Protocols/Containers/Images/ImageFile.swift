import Wire

/// A still picture as its sender encoded it, without what else was in the file.
///
/// Pixels are not decoded. The file is walked from its first byte to its end, only the parts that show the picture are
/// copied, and everything else is left out: EXIF and XMP (places, cameras, times), comments and texts, thumbnails,
/// other pictures, animations, and whatever follows the end.
///
/// What shows the picture as it was meant stays: colour profiles, and the orientation. Of EXIF the orientation alone is
/// written anew, so that a photo of a phone does not lie on its side.
package struct ImageFile: Hashable, Sendable {
    package enum Format: String, Hashable, Sendable, CaseIterable {
        case jpeg
        case png
        case webp

        package var contentType: String { "image/" + rawValue }
    }

    package let format: Format
    /// Pixels, as they are encoded: an orientation may turn them.
    package let width: Int
    package let height: Int
    package let bytes: [UInt8]

    /// - Parameter limit: pixels of a side at most.
    /// - Throws: where a decoder would not, or should not, show it.
    package static func read(_ file: RawSpan, limit: Int) throws(ImageError) -> ImageFile {
        if JPEGFile.isOne(file) { return try JPEGFile.read(file, limit) }
        if PNGFile.isOne(file) { return try PNGFile.read(file, limit) }
        if WebPFile.isOne(file) { return try WebPFile.read(file, limit) }
        throw .unknownFormat
    }

    init(_ format: Format, _ size: ImageSize, _ bytes: [UInt8]) {
        self.format = format
        width = size.width
        height = size.height
        self.bytes = bytes
    }
}

/// Why a file is not taken. The text is for the person who sent it.
package enum ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownFormat
    /// The file ends, or makes no sense, at this byte.
    case malformed(String, at: Int)
    /// It is well made, and not taken.
    case unsupported(String)
    case tooLarge(width: Int, height: Int, limit: Int)

    package var description: String {
        switch self {
        case .unknownFormat: "This is neither a JPEG, nor a PNG, nor a WebP file."
        case .malformed(let what, let offset): "The picture is damaged: \(what) at byte \(offset)."
        case .unsupported(let what): "The picture has \(what), which is not supported."
        case .tooLarge(let width, let height, let limit):
            "The picture has \(width) x \(height) pixels; at most \(limit) x \(limit) are allowed."
        }
    }

    static func ended(at offset: Int) -> Self { .malformed("the file ends too early", at: offset) }
}

struct ImageSize: Hashable {
    let width: Int
    let height: Int

    init(_ width: Int, _ height: Int, limit: Int, at offset: Int) throws(ImageError) {
        guard width > 0, height > 0 else { throw .malformed("its size is nothing", at: offset) }
        guard width <= limit, height <= limit else { throw .tooLarge(width: width, height: height, limit: limit) }
        self.width = width
        self.height = height
    }
}

/// A colour profile may have so many bytes: the usual ones have some hundreds to some thousands, and decoders allocate
/// what a compressed one says.
enum ColourProfile {
    static let longest = 64 * 1024
    static let tooLong = ImageError.unsupported("a colour profile of more than 64 KiB")
}
