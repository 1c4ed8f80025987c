import Wire

/// A still image as its sender encoded it, stripped of metadata.
///
/// Pixels are not decoded. The file is parsed from its first byte to its end, only the parts that are needed to show
/// the image are copied, and everything else is removed: EXIF and XMP (locations, cameras, times), comments and texts,
/// thumbnails, further images, animations, and trailing bytes.
///
/// Colour profiles and the orientation are kept. Of EXIF only the orientation is written again, so that a phone's photo
/// is shown upright.
package struct ImageFile: Hashable, Sendable {
    package enum Format: String, Hashable, Sendable, CaseIterable {
        case jpeg
        case png
        case webp

        package var contentType: String { "image/" + rawValue }
    }

    package let format: Format
    /// In pixels as encoded, before the orientation is applied.
    package let width: Int
    package let height: Int
    package let bytes: [UInt8]

    /// - Parameter limit: the maximum width and height in pixels.
    /// - Throws: `ImageError` for a file that is malformed or not supported.
    package static func read(_ file: RawSpan, limit: Int) throws(ImageError) -> ImageFile {
        if JPEGFile.matches(file) { return try JPEGFile.read(file, limit) }
        if PNGFile.matches(file) { return try PNGFile.read(file, limit) }
        if WebPFile.matches(file) { return try WebPFile.read(file, limit) }
        throw .unknownFormat
    }

    init(_ format: Format, _ size: ImageSize, _ bytes: [UInt8]) {
        self.format = format
        width = size.width
        height = size.height
        self.bytes = bytes
    }
}

/// Why a file is rejected as an image. The text is for the person who sent it.
package enum ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownFormat
    /// The file ends or is invalid at this byte.
    case malformed(String, at: Int)
    /// It is well-formed, but not supported.
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
        guard width > 0, height > 0 else { throw .malformed("its width or height is 0", at: offset) }
        guard width <= limit, height <= limit else { throw .tooLarge(width: width, height: height, limit: limit) }
        self.width = width
        self.height = height
    }
}

/// The maximum size of a colour profile: usual ones have some hundreds to some thousands of bytes, and decoders
/// allocate the size that a compressed one declares.
enum ColourProfile {
    static let maximumByteCount = 64 * 1024
    static let tooLong = ImageError.unsupported("a colour profile of more than 64 KiB")
}
