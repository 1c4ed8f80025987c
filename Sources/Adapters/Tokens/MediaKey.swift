internal import Crypto
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
    private let key: SymmetricKey

    private init(_ key: SymmetricKey) { self.key = key }

    /// A key that lives only as long as the process.
    package static func ephemeral() -> Self { Self(SymmetricKey(size: .bits256)) }

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    package static func load(from path: String) throws(KeyFileError) -> (key: Self, warning: String?) {
        let (key, warning) = try KeyFile.symmetricKey(
            at: path,
            KeyFile.Description(name: "media key", exposure: "sign URLs", loss: "players must request new URLs"))
        return (Self(key), warning)
    }

    package func signature(of ticket: MediaTicket) -> String {
        Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Self.message(ticket), using: key))
    }

    /// Compares in constant time.
    package func verifies(_ signature: String, of ticket: MediaTicket) -> Bool {
        guard let code = Base64URL.decode(signature) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.message(ticket), using: key)
    }

    /// Stands for a text that has to be found again, and that nobody can guess without the key.
    ///
    /// - Parameter purpose: not `media`; without a line break.
    package func digest(of text: String, for purpose: String) -> String {
        Base64URL.encode(
            HMAC<SHA256>.authenticationCode(for: Array("switchboard \(purpose)\n\(text)".utf8), using: key))
    }

    /// No id contains a line break or is a dash, so different tickets have different texts.
    private static func message(_ ticket: MediaTicket) -> [UInt8] {
        Array(
            "switchboard media\n\(ticket.file)\n\(ticket.user)\n\(ticket.signIn?.text ?? "-")\n\(ticket.expires)".utf8)
    }
}
