internal import Glibc

/// The directory where an embedded server keeps its database, keys and recordings, held for one process.
///
/// The hold is an advisory lock (flock) on a file in it; the kernel lets go of it when the process ends, however it
/// ends, so a crash leaves nothing to clean up.
package final class DataDirectory: Sendable {
    /// The file in it by which it is held.
    package static let lockName = "switchboard.lock"

    package let path: String
    private let descriptor: CInt

    /// Makes the directory when it is missing (mode 0700) and takes hold of it. Throws an `SQLError` that names the
    /// directory when it cannot be written, or when another process holds it.
    package init(path: String) throws {
        self.path = path
        try Self.make(path)
        let file = path + "/" + Self.lockName
        descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.unwritable(path, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // What was made so far is let go of when this throws, and the descriptor with it.
            let code = errno
            guard code == EWOULDBLOCK else { throw Self.unwritable(path, code) }
            throw SQLError(
                .locked,
                "Another server is running on the data directory \(path). "
                    + "Stop it first, or give this one a directory of its own with storage.path.")
        }
    }

    deinit { Glibc.close(descriptor) }

    /// The path of `name` inside the directory.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Gives a file that is whole its name, for good: a crash leaves it under one of the two names.
    package static func publish(_ unfinished: String, as path: String) throws {
        try sync(unfinished)
        guard rename(unfinished, path) == 0 else { throw unwritable(path, errno) }
        try sync(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
    }

    private static func sync(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unwritable(path, errno) }
        defer { Glibc.close(file) }
        guard fsync(file) == 0 else { throw unwritable(path, errno) }
    }

    private static func make(_ path: String) throws {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            // A parent that may not be written but is there is no error; whether the last one is usable shows next.
            let code = errno
            guard access(made, F_OK) == 0 else { throw unwritable(path, code) }
        }
        guard access(path, W_OK | X_OK) == 0 else { throw unwritable(path, errno) }
    }

    private static func unwritable(_ path: String, _ code: CInt) -> SQLError {
        SQLError(
            .unwritable,
            "The data directory \(path) cannot be written (\(String(cString: strerror(code)))). "
                + "Give this process's user the right to write it, or choose another with storage.path.")
    }
}
