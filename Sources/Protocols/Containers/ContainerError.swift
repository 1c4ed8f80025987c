/// Why a file is rejected as a voice file. The text is for the person who sent it.
package enum ContainerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Neither Ogg nor WebM.
    case unknownFormat
    /// The file ends or is invalid at this byte.
    case malformed(String, at: Int)
    /// It has no Opus audio.
    case noOpus
    /// Opus in a form that is not supported.
    case unsupported(String)
    /// Longer than so many seconds.
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
