/// What an ephemeral credential that the API issued may be used for. Static users, names that another back end signed
/// and access tokens have no scope: only the general limits apply to them.
///
/// The scope is part of the user name, which the password covers, so a relay that shares only the secret with the API
/// enforces it too:
///
///     username = expiry ":" user [":" label]
///     label    = scope "@" issued
///     scope    = "call=" id / "gateway" / "test" / "open"
///     issued   = 1*18DIGIT                        ; when, in milliseconds since 1970; it only increases
///
/// After `expiry` no allocation can be made (draft-uberti-behave-turn-rest). How long allocations last depends on the
/// scope.
package enum CredentialScope: Hashable, Sendable {
    /// A live call: an allocation may be refreshed until its user leaves the call (known to a relay in the API's own
    /// process), and for a day at most.
    case call(String)
    /// Voice messages that the media gateway records: the only peers are the gateway's ports, and allocations end with
    /// the credential.
    case gateway
    /// A connection test: a few slow allocations that end with the credential.
    case test
    /// An app with its own signalling, which the operator trusts: `relay.credentials: open`.
    case open

    /// Allocations of one user at a time in a test: two connections of a browser, each with one for every network and
    /// address family.
    package static let testAllocations = 8
    /// Their shared bandwidth, in bytes per second.
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

    /// Whether an allocation ends with the credential that made it.
    var endsWithCredential: Bool {
        switch self {
        case .gateway, .test: true
        case .call, .open: false
        }
    }

    /// The account that allocations are charged to. A test does not use up the quota of its user's calls; user names
    /// contain no colon.
    func account(of user: String) -> String {
        self == .test ? ":test:\(user)" : user
    }
}
