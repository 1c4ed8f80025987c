internal import Crypto
internal import Foundation
internal import Glibc

/// Why a key's file cannot be used, and what to do.
package struct KeyFileError: Error, CustomStringConvertible {
    package let description: String
}

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

// Symmetric keys of 256 bits.
extension KeyFile {
    private static let byteCount = 32

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    ///
    /// - Parameters:
    ///   - name: what the key is, such as "media key".
    ///   - exposure: what others could do who read it.
    ///   - loss: what follows if the file is moved away, as a clause.
    static func symmetricKey(
        at path: String, name: String, exposure: String, loss: String
    ) throws(KeyFileError) -> (key: SymmetricKey, warning: String?) {
        guard FileManager.default.fileExists(atPath: path) else {
            let key = SymmetricKey(size: .bits256)
            do throws(Unwritable) {
                try write(key.withUnsafeBytes { Base64URL.encode($0) } + "\n", to: path)
            } catch {
                throw KeyFileError(
                    description: "The \(name) \(path) cannot be written (\(error.reason)). "
                        + "Give this process's user the right to write its directory.")
            }
            return (key, nil)
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let bytes = Base64URL.decode(text.trimmingCharacters(in: .whitespacesAndNewlines)), bytes.count == byteCount
        else {
            throw KeyFileError(
                description: "\(path) contains no valid \(name). Restore it, or move it away: a new key is then "
                    + "generated, and \(loss).")
        }
        let warning =
            isOpen(path) ? "Other users can read the \(name) \(path) and could \(exposure): chmod 600 \(path)" : nil
        return (SymmetricKey(data: bytes), warning)
    }
}
