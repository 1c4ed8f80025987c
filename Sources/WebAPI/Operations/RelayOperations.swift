import Calls
import HTTPTypes
package import Model
import Storage

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

    struct ResponseBody: Encodable {
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

    /// The scope of credentials that are requested without a purpose.
    var defaultScope: RelayScope { isOpen() ? .open : .test }

    private func seconds(_ scope: RelayScope) -> Int64 {
        switch scope {
        case .call, .open: Self.callSeconds
        case .gateway: gatewaySeconds
        case .test: Self.testSeconds
        }
    }

    func issue(for user: UserID, _ scope: RelayScope, host: String?, at now: Timestamp) throws -> ResponseBody {
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
        return ResponseBody(
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
    /// `GET /v1/ice-servers`, which fails without a relay in this process.
    package static func all(issuer: ICEServerIssuer?, calls: CallService) -> [Operation] {
        [
            Operation(
                name: "iceServers.get", method: .get, path: "/v1/ice-servers",
                summary: "STUN and TURN servers for an RTCPeerConnection, with credentials for one purpose.",
                parameters: [
                    .query(
                        "call", .identifier,
                        "A live call in which the user is ringing or joined; its allocations end when the user has "
                            + "left it."
                    ),
                    .query(
                        "scope", .choice(["gateway", "test"]),
                        "Instead of a call: gateway, to record a voice message (only the media gateway can be "
                            + "reached), or test, to test the relay (eight allocations for a minute, at 64 kB/s). The "
                            + "default is test, or open if relay.credentials is open."),
                ],
                responses: [
                    .ok(
                        .object([
                            .required("iceServers", .list(.named("ICEServer"))),
                            .required("scope", .choice(RelayScope.names), "The purpose of the credentials."),
                            .required("lifetime", .integer(), "Seconds."), .required("expiresAt", .time),
                        ]))
                ],
                problems: [.providerNotConfigured, .notFound, .conflict, .callEnded], limit: .credentials
            ) { request in
                guard let issuer else {
                    throw Problem(.providerNotConfigured, "This server runs without a relay.")
                }
                let principal = try request.requirePrincipal()
                let now = Timestamp.systemClock()
                let scope = try await scope(of: request, issuer, calls, principal, at: now)
                return try .json(issuer.issue(for: principal.user, scope, host: request.host, at: now))
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
        case nil: return issuer.defaultScope
        case "gateway": return .gateway
        case "test": return .test
        default: throw Problem.invalid("scope", "Allowed: gateway, test.")
        }
    }
}
