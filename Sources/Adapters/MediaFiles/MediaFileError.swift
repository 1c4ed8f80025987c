internal import Glibc
package import Model

/// Why a media file could not be written, read or removed, in words that tell an operator what to do.
package struct MediaFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// The disk, or the user's share of it, is full.
        case full
        /// There is no such file.
        case missing
        /// The directory is not there, or may not be written.
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
                reason + " Give this process's user the right to write its directory, and see that it is there.")
        default: Self(.failed, reason)
        }
    }

    /// What a client is told: nothing of the server's insides, and whether it is worth trying again.
    package var problem: Problem {
        switch kind {
        case .full: Problem(.unavailable, "The server has no room for more files.", retryAfter: 60_000)
        case .missing: .notFound("file")
        case .unwritable, .failed:
            Problem(.unavailable, "The server cannot use its directory of files.", retryAfter: 60_000)
        }
    }
}
