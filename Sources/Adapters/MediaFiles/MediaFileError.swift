internal import Glibc
package import Model

/// Why a media file could not be written, read or removed, with a message that tells an operator what to do.
package struct MediaFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// The disk, or the user's disk quota, is full.
        case full
        /// There is no such file.
        case missing
        /// The directory does not exist or is not writable.
        case unwritable
        case failed
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// - Parameter code: `errno` of what failed.
    static func failed(to verb: String, _ path: String, _ code: CInt) -> Self {
        let reason = "Cannot \(verb) \(path) (\(String(cString: strerror(code))))."
        return switch code {
        case ENOSPC, EDQUOT, EFBIG: Self(.full, reason + " Make room on its disk, or move storage.path to another one.")
        case ENOENT where verb == "read": Self(.missing, reason)
        case ENOENT, ENOTDIR, EACCES, EPERM, EROFS:
            Self(
                .unwritable,
                reason + " Check that its directory exists, and that this process's user may write it.")
        default: Self(.failed, reason)
        }
    }

    /// The problem for the client: it reveals no internals and says whether a retry makes sense.
    package var problem: Problem {
        switch kind {
        case .full: Problem(.storageFull, "The server has no room for more files.", retryAfter: 60_000)
        case .missing: .notFound("file")
        case .unwritable, .failed:
            Problem(.unavailable, "The server cannot access its media directory.", retryAfter: 60_000)
        }
    }
}
