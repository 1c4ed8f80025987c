package import Model

/// Why a request with a server key, or one that needs a server key, was refused. The raw value stands in the audit log.
///
/// What follows `unknown` is disclosed only to a client that proved that it has the key.
package enum ServerKeyRefusal: Error, Hashable, Sendable {
    /// There is no key in `Authorization`.
    case missing
    /// The text is no key.
    case malformed(ServerKey.Malformation)
    case unknown
    case revoked
    case expired
    case wrongAddress
    /// The request is that of a page of another origin in a browser.
    case foreignOrigin
    case wrongScope(ServerKeyScope)
    /// The key was sent to something else than `/v1/server`, such as a `hello`.
    case misplaced

    /// Whether the client has proved that it has the key, so that the audit log names it.
    package var provesKey: Bool {
        switch self {
        case .missing, .malformed, .unknown, .misplaced: false
        case .revoked, .expired, .wrongAddress, .foreignOrigin, .wrongScope: true
        }
    }

    /// The stable token of the audit log.
    package var reason: String {
        switch self {
        case .missing: "no_key"
        case .malformed: "malformed_key"
        case .unknown: "unknown_key"
        case .revoked: "revoked_key"
        case .expired: "expired_key"
        case .wrongAddress: "wrong_address"
        case .foreignOrigin: "foreign_origin"
        case .wrongScope: "wrong_scope"
        case .misplaced: "misplaced_key"
        }
    }

    package var problem: Problem {
        switch self {
        case .missing: Self.refused("Send a server key: `Authorization: Bearer sbk_…`.")
        case .malformed(.length): Self.refused("A server key has \(ServerKey.length) characters.")
        case .malformed(.characters):
            Self.refused("This is not a server key: sbk_, then letters and digits in three parts, separated by _.")
        case .malformed(.checksum):
            Self.refused("The checksum of this server key does not match: it was not copied correctly.")
        case .unknown: Self.refused("This server key is unknown here.")
        case .revoked: Self.refused("This server key was revoked.")
        case .expired: Self.refused("This server key has expired.")
        case .wrongAddress:
            Problem(
                .forbidden,
                "This server key may not be used from your address; its ranges were set when it was created.")
        case .foreignOrigin:
            Problem(
                .forbidden,
                "A page in a browser must not have a server key: everybody who opens the page could read it. Send it "
                    + "from your own server, without Origin.", field: "Origin")
        case .wrongScope(let scope):
            Problem(.forbidden, "This server key lacks the scope \(scope.rawValue).", field: "Authorization")
        case .misplaced:
            Self.refused("A server key is for requests under /v1/server only. Send the access token of a user here.")
        }
    }

    private static func refused(_ detail: String) -> Problem {
        Problem(.unauthenticated, detail, field: "Authorization")
    }
}
