import Calls
import HTTPTypes
import Model
import Storage

/// Hands out ICE servers with credentials that hold for ten minutes and name their user.
package struct ICEServerIssuer: Sendable {
    /// How long a credential may be used for a new allocation; an allocation that exists goes on (RFC 8656 refreshes).
    package static let lifetimeSeconds: Int64 = 600

    private let address: String?
    private let port: Int
    private let tlsPorts: @Sendable () -> [Int]
    private let isCertified: @Sendable (String) -> Bool
    private let mint: Mint

    /// Makes an ephemeral credential for a user, perhaps for one call, until a moment in seconds since 1970.
    package typealias Mint =
        @Sendable (_ user: String, _ call: String?, _ expiresAt: Int64) -> (
            username: String, password: String
        )?

    /// - Parameters:
    ///   - address: what clients reach the relay by; nil: the host that their request came in on.
    ///   - port: of STUN and TURN over UDP and TCP.
    ///   - tlsPorts: of TURN over TLS at the time.
    ///   - isCertified: whether the relay's certificate is good for a name or address.
    package init(
        address: String?, port: Int, tlsPorts: @escaping @Sendable () -> [Int],
        isCertified: @escaping @Sendable (String) -> Bool,
        mint: @escaping Mint
    ) {
        self.address = address
        self.port = port
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
        var lifetime: Int64
        var expiresAt: Timestamp
    }

    func answer(for user: UserID, in call: CallID?, host: String?, at now: Timestamp) throws -> Answer {
        guard let address = address ?? host else {
            throw Problem.invalid("Host", "Say which host you address, or have relay.externalAddress configured.")
        }
        let expiresAt = now.adding(seconds: Self.lifetimeSeconds)
        guard let credential = mint(user.text, call?.text, expiresAt.milliseconds / 1000) else {
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
            ], lifetime: Self.lifetimeSeconds, expiresAt: expiresAt)
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
                summary: "STUN and TURN servers for an RTCPeerConnection, with credentials for ten minutes.",
                parameters: [
                    .query("call", .identifier, "A call of the user's: what it relays ends with the call.")
                ],
                answers: [
                    .ok(
                        .object([
                            .required("iceServers", .list(.named("ICEServer"))),
                            .required("lifetime", .integer(), "Seconds."), .required("expiresAt", .time),
                        ]))
                ],
                problems: [.providerNotConfigured, .notFound], limit: .credentials
            ) { request in
                guard let issuer else {
                    throw Problem(.providerNotConfigured, "This server runs without the relay role and knows no relay.")
                }
                let principal = try request.requirePrincipal()
                var call: CallID?
                if request.parameters["call"] != nil {
                    let id = try request.identifier("call", of: CallID.self)
                    let commands = calls.commands
                    call = try await calls.store.read { try commands.get(id, by: principal, in: $0).id }
                }
                let now = Timestamp.systemClock()
                return try .json(issuer.answer(for: principal.user, in: call, host: request.host, at: now))
            }
        ]
    }
}
