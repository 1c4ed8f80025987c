internal import Glibc

/// The directory of a server's database, keys and recordings, locked by one process.
///
/// The lock is an advisory lock (flock) on a file in it; the kernel releases it when the process ends, so a crash
/// leaves nothing to clean up.
package final class DataDirectory: Sendable {
    /// The name of the lock file.
    package static let lockName = "switchboard.lock"
    /// The name of the database, which every data directory has once a server has started on it.
    package static let databaseName = "switchboard.sqlite"

    package let path: String
    private let descriptor: CInt

    /// Locks the directory, and closes its files to other users. Throws an `SQLError` that names the directory if it
    /// cannot be written, or if another process has locked it.
    ///
    /// - Parameter creates: whether to create the directory if it is missing (mode 0700). Without that, a directory that
    ///   is missing or has no database is an error, so that a mistyped path makes no new database and keys.
    package init(path: String, creates: Bool = false) throws {
        self.path = path
        try Self.checkKind(path)
        if creates { try Self.make(path) } else { try Self.checkExists(path) }
        let file = path + "/" + Self.lockName
        descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.unwritable(path, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // When this throws, the descriptor is closed by `deinit`.
            let code = errno
            guard code == EWOULDBLOCK else { throw Self.unwritable(path, code) }
            throw SQLError(
                .locked,
                "Another server is running on the data directory \(path). "
                    + "Stop it first, or give this one a directory of its own with storage.path.")
        }
        restrictPermissions()
    }

    deinit { Glibc.close(descriptor) }

    /// The path of `name` inside the directory.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Durably renames a complete file: after a crash it has one of the two names.
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

    private static func checkKind(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return }
        throw SQLError(
            .unwritable,
            "storage.path is \(path), which is a file. It must be a directory: name another, or move the file away.")
    }

    private static func checkExists(_ path: String) throws {
        let what: String
        if access(path, F_OK) != 0 {
            what = "There is no data directory at \(path)"
        } else if access(path + "/" + databaseName, F_OK) != 0 {
            what = "The directory \(path) has no database"
        } else {
            guard access(path, W_OK | X_OK) == 0 else { throw unwritable(path, errno) }
            return
        }
        throw SQLError(
            .missing,
            what
                + ": check storage.path. Only `switchboard serve`, `switchboard restore` and `switchboard migrate --new` "
                + "make a new one.")
    }

    private static func make(_ path: String) throws {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            // An existing parent that is not writable is no error; the directory itself is checked below.
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
