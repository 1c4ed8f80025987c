internal import Crypto
internal import Foundation
package import Model

/// The claims of a signed media URL: the user may read the file until it expires.
package struct MediaTicket: Hashable, Sendable {
    package let file: FileID
    package let user: UserID
    /// The sign-in that requested the URL and whose end invalidates it; nil for tokens of an external issuer.
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

/// The key that signs the URLs of media files (HMAC-SHA256). Players cannot send a token, so the URL itself contains
/// the user and the expiry.
///
/// A signature proves only that the server issued the URL: the handler that serves the file authorizes the user again.
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

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    package static func load(from path: String) throws -> (key: Self, warning: String?) {
        guard FileManager.default.fileExists(atPath: path) else {
            let key = SymmetricKey(size: .bits256)
            do {
                try KeyFile.write(key.withUnsafeBytes { Base64URL.encode($0) } + "\n", to: path)
            } catch {
                throw FileError(
                    description:
                        "The media key \(path) cannot be written (\((error as? KeyFile.Unwritable)?.reason ?? "\(error)")). "
                        + "Give this process's user the right to write its directory.")
            }
            return (Self(key), nil)
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let bytes = Base64URL.decode(text.trimmingCharacters(in: .whitespacesAndNewlines)), bytes.count == byteCount
        else {
            throw FileError(
                description:
                    "\(path) contains no valid media key. Restore it, or move it away: a new key is then generated, "
                    + "and players must request new URLs.")
        }
        let warning =
            KeyFile.isOpen(path)
            ? "Other users can read the media key \(path) and could sign URLs: chmod 600 \(path)"
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

    /// No id contains a line break or is a dash, so different tickets have different texts.
    private static func message(_ ticket: MediaTicket) -> [UInt8] {
        Array(
            "switchboard media\n\(ticket.file)\n\(ticket.user)\n\(ticket.signIn?.text ?? "-")\n\(ticket.expires)".utf8)
    }
}
