internal import Foundation

/// Writes a file to learn whether its disk has room.
enum FreeSpaceProbe {
    /// Enough that the writes of some seconds fit, so that a disk with a few free blocks does not count as free.
    private static let byteCount = 1 << 20

    /// Writes and syncs random bytes, which no file system compresses, and removes the file again.
    ///
    /// Throws an `SQLError` of kind `diskFull` if that fails.
    static func write(to path: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                if writeBlocking(to: path) {
                    continuation.resume()
                } else {
                    let reason = String(cString: strerror(errno))
                    continuation.resume(throwing: SQLError(.diskFull, "\(path) cannot be written (\(reason))."))
                }
            }
        }
    }

    /// Returns whether it succeeded, with `errno` set if not.
    private static func writeBlocking(to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer {
            let code = errno
            unlink(path)
            close(file)
            errno = code
        }
        var generator = SystemRandomNumberGenerator()
        let words = (0..<byteCount / MemoryLayout<UInt64>.size).map { _ in generator.next() }
        return words.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let written = Foundation.write(file, part.baseAddress, part.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                rest = rest.dropFirst(written)
            }
            return fsync(file) == 0
        }
    }
}
