internal import Glibc

/// A file with a key, readable only by the server's user.
enum KeyFile {
    /// Why the file cannot be used, and what to do.
    struct Unwritable: Error {
        let reason: String
    }

    /// Writes under a temporary name first, so that a crash leaves no partial key.
    static func write(_ text: String, to path: String) throws(Unwritable) {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw unwritable }
        let bytes = Array(text.utf8)
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten, rename(temporary, path) == 0 else { throw unwritable }
    }

    /// Whether other users than the owner may read it.
    static func isOpen(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & 0o077 != 0
    }

    private static var unwritable: Unwritable { Unwritable(reason: String(cString: strerror(errno))) }
}
