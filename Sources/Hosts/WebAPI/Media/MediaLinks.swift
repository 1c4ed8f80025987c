package import Model
package import Tokens

/// Where a media file is, for one user and for a while. In JSON: `MediaLink`.
package struct MediaLink: Encodable, Hashable, Sendable {
    /// Relative to the server's own address, which it does not know.
    package let url: String
    package let expiresAt: Timestamp
}

/// Makes the addresses of media files, and knows them again.
package struct MediaLinks: Sendable {
    static let path = "/v1/media/{file}"
    private let key: MediaKey
    private let seconds: Int64

    /// - Parameter seconds: how long an address is good for.
    package init(key: MediaKey, seconds: Int) {
        self.key = key
        self.seconds = Int64(seconds)
    }

    /// An address for the user, good for as long as the sign-in by which it is asked for.
    package func link(to file: FileID, for principal: Principal, at now: Timestamp) -> MediaLink {
        let expires = now.milliseconds / 1000 &+ seconds
        let (user, signIn) = (principal.user, principal.signIn)
        let signature = key.signature(of: MediaTicket(file: file, user: user, signIn: signIn, expires: expires))
        let session = signIn.map { "&session=\($0)" } ?? ""
        return MediaLink(
            url: "/v1/media/\(file)?user=\(user)\(session)&expires=\(expires)&signature=\(signature)",
            expiresAt: Timestamp(milliseconds: expires &* 1000))
    }

    /// Whether this server made the address, and it is still good.
    func accepts(_ ticket: MediaTicket, signature: String, at now: Timestamp) -> Bool {
        key.verifies(signature, of: ticket) && now.milliseconds < ticket.expires &* 1000
    }

    static let schema = Schema.object([
        .required("url", .text(), "Relative to the server's address. It needs no token, and is for this user alone."),
        .required("expiresAt", .time, "Ask for the document again to get another."),
    ])
}
