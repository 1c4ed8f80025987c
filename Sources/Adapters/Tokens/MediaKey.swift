internal import Crypto
internal import Foundation
package import Model

/// A promise that a user may have a media file until some time, as the parts of its address that prove it.
package struct MediaTicket: Hashable, Sendable {
    package let file: FileID
    package let user: UserID
    /// By which the address was asked for, and with whose end it ends; nil for tokens of an outside issuer.
    package let signIn: SignInID?
    /// Seconds since 1970.
    package let expires: Int64

    package init(file: FileID, user: UserID, signIn: SignInID?, expires: Int64) {
        self.file = file
        self.user = user
        self.signIn = signIn
        self.expires = expires
    }
}

/// The key that signs the addresses of media files (HMAC-SHA256): players cannot send a token, so the address itself has
/// to say for whom it was made, and until when.
///
/// A signature proves that the server said so once, not that it still holds: who serves the file asks again.
package struct MediaKey: Sendable {
    private static let byteCount = 32
    private let key: SymmetricKey

    private init(_ key: SymmetricKey) { self.key = key }

    /// A key that lives only as long as the process.
    package static func ephemeral() -> Self { Self(SymmetricKey(size: .bits256)) }

    /// Why the key's file cannot be used, and what to do.
    package struct FileError: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads the key at `path`, or makes one there with mode 0600. The warning, when there is one, is for the operator.
    package static func load(from path: String) throws -> (key: Self, warning: String?) {
        guard FileManager.default.fileExists(atPath: path) else {
            let key = SymmetricKey(size: .bits256)
            do {
                try KeyFile.write(key.withUnsafeBytes { Base64URL.encode($0) } + "\n", to: path)
            } catch {
                throw FileError(
                    description:
                        "The key of media \(path) cannot be written (\((error as? KeyFile.Unwritable)?.reason ?? "\(error)")). "
                        + "Give this process's user the right to write its directory.")
            }
            return (Self(key), nil)
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let bytes = Base64URL.decode(text.trimmingCharacters(in: .whitespacesAndNewlines)), bytes.count == byteCount
        else {
            throw FileError(
                description:
                    "\(path) holds no key of media that can be read. Restore it, or move it away: a new key is "
                    + "then made, and players have to ask for addresses again.")
        }
        let warning =
            KeyFile.isOpen(path)
            ? "Others than its owner may read the key of media \(path), and could make addresses: chmod 600 \(path)"
            : nil
        return (Self(SymmetricKey(data: bytes)), warning)
    }

    package func signature(of ticket: MediaTicket) -> String {
        Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Self.message(ticket), using: key))
    }

    /// Compares in constant time.
    package func verifies(_ signature: String, of ticket: MediaTicket) -> Bool {
        guard let code = Base64URL.decode(signature) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.message(ticket), using: key)
    }

    /// No id has a line break or is a dash, so that no two tickets have the same text.
    private static func message(_ ticket: MediaTicket) -> [UInt8] {
        Array(
            "switchboard media\n\(ticket.file)\n\(ticket.user)\n\(ticket.signIn?.text ?? "-")\n\(ticket.expires)".utf8)
    }
}
