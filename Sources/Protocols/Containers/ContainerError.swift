/// Why a file is not taken for one with a voice in it. The text is for the person who sent it.
package enum ContainerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Neither Ogg nor WebM.
    case unknownFormat
    /// The file ends, or makes no sense, at this byte.
    case malformed(String, at: Int)
    /// There is no Opus in it.
    case noOpus
    /// Opus, but in a way that is not read here.
    case unsupported(String)
    /// More than so many seconds.
    case tooLong(seconds: Int)

    package var description: String {
        switch self {
        case .unknownFormat: "this is neither an Ogg nor a WebM file"
        case .malformed(let what, let offset): "\(what) at byte \(offset)"
        case .noOpus: "there is no Opus audio in this file"
        case .unsupported(let what): "\(what) is not supported"
        case .tooLong(let seconds): "this is longer than the \(seconds) seconds that are allowed"
        }
    }
}
