/// What an ephemeral credential that the API issued is good for. Static users, names that somebody else's back end signed
/// and access tokens have none: nothing but the general limits holds for them.
///
/// The scope stands in the user name, which the password covers, so a relay that shares only the secret with the API
/// enforces it too:
///
///     username = expiry ":" user [":" label]
///     label    = scope "@" issued
///     scope    = "call=" id / "gateway" / "test" / "open"
///     issued   = 1*18DIGIT                        ; when, in milliseconds since 1970: it only rises
///
/// `expiry` ends what may be allocated (draft-uberti-behave-turn-rest). How long an allocation lives is up to its scope.
package enum CredentialScope: Hashable, Sendable {
    /// A live call: an allocation may be refreshed until its user is out of the call, which a relay of the API's own process
    /// is told, and for a day at most.
    case call(String)
    /// Voice messages that are recorded by the media gateway: the only peers are the gateway's ports, and allocations end
    /// with the credential.
    case gateway
    /// Trying the relay: a few allocations, slow, that end with the credential.
    case test
    /// An app with signalling of its own, which the operator trusts: `relay.credentials: open`.
    case open

    /// Allocations of one user at a time in a test: two connections of a browser, each of which takes one for every network
    /// and address family that it has.
    package static let testAllocations = 8
    /// What they may carry together, in bytes per second.
    package static let testBytesPerSecond: UInt64 = 64_000

    package init?(_ text: Substring) {
        switch text {
        case "gateway": self = .gateway
        case "test": self = .test
        case "open": self = .open
        default:
            guard text.hasPrefix("call="), text.utf8.count > 5 else { return nil }
            self = .call(String(text.dropFirst(5)))
        }
    }

    package var text: String {
        switch self {
        case .call(let id): "call=\(id)"
        case .gateway: "gateway"
        case .test: "test"
        case .open: "open"
        }
    }

    var call: String? {
        if case .call(let id) = self { id } else { nil }
    }

    /// An allocation ends with the credential that made it.
    var endsWithCredential: Bool {
        switch self {
        case .gateway, .test: true
        case .call, .open: false
        }
    }

    /// Whom allocations are charged to. A test does not use up what its user's calls need; no name of a user holds a colon.
    func account(of user: String) -> String {
        self == .test ? ":test:\(user)" : user
    }
}
