internal import Crypto
internal import Foundation
internal import Glibc

/// Why a key's file cannot be used, and what to do.
package struct KeyFileError: Error, CustomStringConvertible {
    package let description: String
}

/// A file with a key, readable only by the server's user.
enum KeyFile {
    /// What operators are told of a key.
    struct Description {
        /// Such as "media key".
        let name: String
        /// What others could do who read it.
        let exposure: String
        /// What follows if the file is moved away, as a clause.
        let loss: String
    }

    /// Writes under a temporary name first, so that a crash leaves no partial key.
    private static func write(_ text: String, to path: String, _ key: Description) throws(KeyFileError) {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw unwritable(path, key) }
        let bytes = Array(text.utf8)
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten, rename(temporary, path) == 0 else { throw unwritable(path, key) }
    }

    private static func unwritable(_ path: String, _ key: Description) -> KeyFileError {
        KeyFileError(
            description: "The \(key.name) \(path) cannot be written (\(String(cString: strerror(errno)))). "
                + "Give this process's user the right to write its directory.")
    }

    private static func invalid(_ path: String, _ content: String, _ key: Description) -> KeyFileError {
        KeyFileError(
            description: "\(path) contains no \(content). Restore it, or move it away: a new key is then generated, "
                + "and \(key.loss).")
    }

    /// If other users than the owner may read it.
    private static func warning(of path: String, _ key: Description) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
        return "Other users can read the \(key.name) \(path) and could \(key.exposure): chmod 600 \(path)"
    }
}

// Files that operators get from others.
extension KeyFile {
    /// Reads a regular file of at most so many bytes. The warning, if any, is for the operator.
    /// - Throws: a clause with the path and what is wrong.
    static func contents(
        of path: String, limit: Int, _ description: Description
    ) throws(KeyFileError) -> (bytes: Data, warning: String?) {
        var status = stat()
        guard stat(path, &status) == 0, let file = FileHandle(forReadingAtPath: path) else {
            throw KeyFileError(description: "\(path) cannot be read: allow this process's user to read it")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw KeyFileError(description: "\(path) is no file") }
        guard let bytes = try? file.read(upToCount: limit + 1), bytes.count <= limit else {
            throw KeyFileError(description: "\(path) is no \(description.name): it has more than \(limit) bytes")
        }
        return (bytes, warning(of: path, description))
    }
}

// Symmetric keys of 256 bits.
extension KeyFile {
    private static let byteCount = 32

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    static func symmetricKey(
        at path: String, _ description: Description
    ) throws(KeyFileError) -> (key: SymmetricKey, warning: String?) {
        guard FileManager.default.fileExists(atPath: path) else {
            let key = SymmetricKey(size: .bits256)
            try write(key.withUnsafeBytes { Base64URL.encode($0) } + "\n", to: path, description)
            return (key, nil)
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let bytes = Base64URL.decode(text.trimmingCharacters(in: .whitespacesAndNewlines)), bytes.count == byteCount
        else { throw invalid(path, "valid \(description.name)", description) }
        return (SymmetricKey(data: bytes), warning(of: path, description))
    }
}

// Keys that sign with ES256, in PEM.
extension KeyFile {
    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    static func signingKey(
        at path: String, _ description: Description
    ) throws(KeyFileError) -> (key: P256.Signing.PrivateKey, warning: String?) {
        guard FileManager.default.fileExists(atPath: path) else {
            let key = P256.Signing.PrivateKey()
            try write(key.pemRepresentation + "\n", to: path, description)
            return (key, nil)
        }
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw KeyFileError(
                description: "The \(description.name) \(path) cannot be read. Allow this process's user to read it.")
        }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
            throw invalid(path, "P-256 private key in PEM", description)
        }
        return (key, warning(of: path, description))
    }
}
