package import Model
package import Tokens

/// The URL of a media file, valid for one user and a limited time. In JSON: `MediaLink`.
package struct MediaLink: Encodable, Hashable, Sendable {
    /// Relative to the server's address, which the server does not know.
    package let url: String
    package let expiresAt: Timestamp
}

/// Signs and verifies the URLs of media files.
package struct MediaLinks: Sendable {
    private let key: MediaKey
    private let seconds: Int64

    /// - Parameter seconds: how long a URL is valid.
    package init(key: MediaKey, seconds: Int) {
        self.key = key
        self.seconds = Int64(seconds)
    }

    /// A URL for the user, which also expires with the sign-in of the principal.
    package func link(to file: FileID, for principal: Principal, at now: Timestamp) -> MediaLink {
        let expires = now.milliseconds / 1000 &+ seconds
        let (user, signIn) = (principal.user, principal.signIn)
        let signature = key.signature(of: MediaTicket(file: file, user: user, signIn: signIn, expires: expires))
        let session = signIn.map { "&session=\($0)" } ?? ""
        return MediaLink(
            url: "/v1/media/\(file)?user=\(user)\(session)&expires=\(expires)&signature=\(signature)",
            expiresAt: Timestamp(milliseconds: expires &* 1000))
    }

    /// Whether this server signed the URL, and it has not expired.
    package func accepts(_ ticket: MediaTicket, signature: String, at now: Timestamp) -> Bool {
        key.verifies(signature, of: ticket) && now.milliseconds < ticket.expires &* 1000
    }
}
