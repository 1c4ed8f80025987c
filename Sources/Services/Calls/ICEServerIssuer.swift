package import Model

/// The purpose of relay credentials, which is encoded in the user name and enforced by the relay.
package enum RelayScope: Hashable, Sendable {
    /// A live call in which the user is ringing or joined, until the user has left it.
    case call(CallID)
    /// Recording voice messages: only the media gateway can be reached.
    case gateway
    /// Testing the relay: eight allocations for a minute, at 64 kB/s.
    case test
    /// An app with its own signalling, if the operator allows that.
    case open

    package var name: String {
        switch self {
        case .call: "call"
        case .gateway: "gateway"
        case .test: "test"
        case .open: "open"
        }
    }

    package static let names = ["call", "gateway", "test", "open"]
}

/// Issues ICE servers with credentials for a user and a purpose.
package struct ICEServerIssuer: Sendable {
    /// How long a credential may be used for new allocations. An allocation for a call may be refreshed until its user
    /// has left the call, any other ends with the credential.
    private static let callSeconds: Int64 = 600
    private static let testSeconds: Int64 = 60
    /// The maximum lifetime of a credential, and so how long revocations are kept.
    package static let maximumLifetimeSeconds: Int64 = 1920

    private let address: String?
    private let port: Int
    private let gatewaySeconds: Int64
    private let isOpen: @Sendable () -> Bool
    private let tlsPorts: @Sendable () -> [Int]
    private let isCertified: @Sendable (String) -> Bool
    private let sign: Signer

    /// Signs an ephemeral credential for a user and a scope, which expires at a time in seconds since 1970.
    package typealias Signer =
        @Sendable (_ user: String, _ scope: RelayScope, _ expiresAt: Int64) -> (
            username: String, password: String
        )?

    /// - Parameters:
    ///   - address: the address at which clients reach the relay; nil means the host of their request.
    ///   - port: of STUN and TURN over UDP and TCP.
    ///   - gatewaySeconds: how long a voice message may take, from the request for credentials to its end.
    ///   - isOpen: whether credentials without a purpose have the scope `open`; otherwise it is `test`.
    ///   - tlsPorts: the current ports of TURN over TLS.
    ///   - isCertified: whether the relay's certificate is valid for a name or address.
    package init(
        address: String?, port: Int, gatewaySeconds: Int64, isOpen: @escaping @Sendable () -> Bool,
        tlsPorts: @escaping @Sendable () -> [Int],
        isCertified: @escaping @Sendable (String) -> Bool,
        sign: @escaping Signer
    ) {
        self.address = address
        self.port = port
        self.gatewaySeconds = min(gatewaySeconds, Self.maximumLifetimeSeconds)
        self.isOpen = isOpen
        self.tlsPorts = tlsPorts
        self.isCertified = isCertified
        self.sign = sign
    }

    package struct ICEServers: Encodable {
        package struct Server: Encodable {
            package var urls: [String]
            package var username: String?
            package var credential: String?
        }

        package var iceServers: [Server]
        package var scope: String
        package var lifetime: Int64
        package var expiresAt: Timestamp
    }

    /// The scope of credentials that are requested without a purpose.
    package var defaultScope: RelayScope { isOpen() ? .open : .test }

    private func seconds(_ scope: RelayScope) -> Int64 {
        switch scope {
        case .call, .open: Self.callSeconds
        case .gateway: gatewaySeconds
        case .test: Self.testSeconds
        }
    }

    package func issue(for user: UserID, _ scope: RelayScope, host: String?, at now: Timestamp) throws -> ICEServers {
        guard let address = address ?? host else {
            throw Problem.invalid("Host", "Send a Host header, or have relay.externalAddress configured.")
        }
        let lifetime = seconds(scope)
        let expiresAt = now.adding(seconds: lifetime)
        guard let credential = sign(user.text, scope, expiresAt.milliseconds / 1000) else {
            throw Problem(.internalError, "The credential could not be signed.")
        }
        let authority = Self.authority(address, port)
        // TLS clients compare the name in the URL with the certificate.
        let certified = [address, host].compactMap { $0 }.first(where: isCertified) ?? address
        let secure = tlsPorts().map { "turns:\(Self.authority(certified, $0))?transport=tcp" }
        return ICEServers(
            iceServers: [
                .init(urls: ["stun:\(authority)"]),
                .init(
                    urls: ["turn:\(authority)?transport=udp", "turn:\(authority)?transport=tcp"] + secure,
                    username: credential.username, credential: credential.password),
            ], scope: scope.name, lifetime: lifetime, expiresAt: expiresAt)
    }

    private static func authority(_ host: String, _ port: Int) -> String {
        (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
    }
}
