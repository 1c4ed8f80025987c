import Calls
import HTTPTypes
package import Model
import Storage

/// What relay credentials are for: the relay enforces it from the user name alone.
package enum RelayScope: Hashable, Sendable {
    /// A live call that the user rings for or is in: until the user is out of it.
    case call(CallID)
    /// Voice messages that the media gateway records: nothing but the gateway is reached.
    case gateway
    /// Trying the relay: eight allocations for a minute, at 64 kB/s.
    case test
    /// An app with signalling of its own, where the operator allows that.
    case open

    var name: String {
        switch self {
        case .call: "call"
        case .gateway: "gateway"
        case .test: "test"
        case .open: "open"
        }
    }

    static let names = ["call", "gateway", "test", "open"]
}

/// Hands out ICE servers with credentials that name their user and what they are for.
package struct ICEServerIssuer: Sendable {
    /// How long a credential may be used for a new allocation. An allocation for a call goes on until its user is out of the
    /// call (RFC 8656 refreshes), one for anything else ends with the credential.
    private static let callSeconds: Int64 = 600
    private static let testSeconds: Int64 = 60
    /// No credential is good for longer: so long are revocations kept.
    package static let maximumLifetimeSeconds: Int64 = 1920

    private let address: String?
    private let port: Int
    private let gatewaySeconds: Int64
    private let isOpen: @Sendable () -> Bool
    private let tlsPorts: @Sendable () -> [Int]
    private let isCertified: @Sendable (String) -> Bool
    private let mint: Mint

    /// Makes an ephemeral credential for a user and a scope, until a moment in seconds since 1970.
    package typealias Mint =
        @Sendable (_ user: String, _ scope: RelayScope, _ expiresAt: Int64) -> (
            username: String, password: String
        )?

    /// - Parameters:
    ///   - address: what clients reach the relay by; nil: the host that their request came in on.
    ///   - port: of STUN and TURN over UDP and TCP.
    ///   - gatewaySeconds: how long a voice message may take, from asking for credentials to its end.
    ///   - isOpen: whether credentials for no purpose are those of an app with signalling of its own, else for a test.
    ///   - tlsPorts: of TURN over TLS at the time.
    ///   - isCertified: whether the relay's certificate is good for a name or address.
    package init(
        address: String?, port: Int, gatewaySeconds: Int64, isOpen: @escaping @Sendable () -> Bool,
        tlsPorts: @escaping @Sendable () -> [Int],
        isCertified: @escaping @Sendable (String) -> Bool,
        mint: @escaping Mint
    ) {
        self.address = address
        self.port = port
        self.gatewaySeconds = min(gatewaySeconds, Self.maximumLifetimeSeconds)
        self.isOpen = isOpen
        self.tlsPorts = tlsPorts
        self.isCertified = isCertified
        self.mint = mint
    }

    struct Answer: Encodable {
        struct Server: Encodable {
            var urls: [String]
            var username: String?
            var credential: String?
        }

        var iceServers: [Server]
        var scope: String
        var lifetime: Int64
        var expiresAt: Timestamp
    }

    /// What credentials are for that are asked for without a purpose.
    var standardScope: RelayScope { isOpen() ? .open : .test }

    private func seconds(_ scope: RelayScope) -> Int64 {
        switch scope {
        case .call, .open: Self.callSeconds
        case .gateway: gatewaySeconds
        case .test: Self.testSeconds
        }
    }

    func answer(for user: UserID, _ scope: RelayScope, host: String?, at now: Timestamp) throws -> Answer {
        guard let address = address ?? host else {
            throw Problem.invalid("Host", "Say which host you address, or have relay.externalAddress configured.")
        }
        let lifetime = seconds(scope)
        let expiresAt = now.adding(seconds: lifetime)
        guard let credential = mint(user.text, scope, expiresAt.milliseconds / 1000) else {
            throw Problem(.internalError, "No credential could be made.")
        }
        let authority = Self.authority(address, port)
        // TLS clients compare the name that they were told with the certificate.
        let certified = [address, host].compactMap { $0 }.first(where: isCertified) ?? address
        let secure = tlsPorts().map { "turns:\(Self.authority(certified, $0))?transport=tcp" }
        return Answer(
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

package enum RelayOperations {
    /// `GET /v1/ice-servers`; without a relay in this process it is not there to be asked for.
    package static func all(issuer: ICEServerIssuer?, calls: CallService) -> [Operation] {
        [
            Operation(
                name: "iceServers.get", method: .get, path: "/v1/ice-servers",
                summary: "STUN and TURN servers for an RTCPeerConnection, with credentials for one purpose.",
                parameters: [
                    .query(
                        "call", .identifier,
                        "A live call that the user rings for or is in: what is relayed for it ends when the user is out of it."
                    ),
                    .query(
                        "scope", .choice(["gateway", "test"]),
                        "Instead of a call: gateway, to record a voice message (nothing but the media gateway is reached), or "
                            + "test, to try the relay (eight allocations for a minute, at 64 kB/s). Without either it is test, "
                            + "or open where relay.credentials says so."),
                ],
                answers: [
                    .ok(
                        .object([
                            .required("iceServers", .list(.named("ICEServer"))),
                            .required("scope", .choice(RelayScope.names), "What the credentials are for."),
                            .required("lifetime", .integer(), "Seconds."), .required("expiresAt", .time),
                        ]))
                ],
                problems: [.providerNotConfigured, .notFound, .conflict, .callEnded], limit: .credentials
            ) { request in
                guard let issuer else {
                    throw Problem(.providerNotConfigured, "This server runs without the relay role and knows no relay.")
                }
                let principal = try request.requirePrincipal()
                let now = Timestamp.systemClock()
                let scope = try await scope(of: request, issuer, calls, principal, at: now)
                return try .json(issuer.answer(for: principal.user, scope, host: request.host, at: now))
            }
        ]
    }

    private static func scope(
        of request: OperationRequest, _ issuer: ICEServerIssuer, _ calls: CallService, _ principal: Principal,
        at now: Timestamp
    ) async throws -> RelayScope {
        let named = request.parameters["scope"]
        guard request.parameters["call"] == nil else {
            guard named == nil else { throw Problem.invalid("scope", "Name a call or a scope, not both.") }
            let id = try request.identifier("call", of: CallID.self)
            let commands = calls.commands
            try await calls.store.read { try commands.checkRelayed(id, by: principal, at: now, in: $0) }
            return .call(id)
        }
        switch named {
        case nil: return issuer.standardScope
        case "gateway": return .gateway
        case "test": return .test
        default: throw Problem.invalid("scope", "Allowed: gateway, test.")
        }
    }
}
