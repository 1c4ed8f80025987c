import Accounts
package import Model
package import Notifications
package import Storage
package import Webhooks

/// What users do with their devices' registrations for pushes.
package struct PushCommands: Sendable {
    /// Registrations of a user at one push service that is of no browser's maker.
    private static let maxAtHost = 8

    private let store: Store
    private let sealer: any PushSealer
    private let rules: WebhookAddressRules
    /// Whether pushes can be encrypted for these keys.
    private let canEncrypt: @Sendable (WebPushAddress) -> Bool
    /// The kinds that this server can send.
    package let kinds: Set<PushKind>

    package init(
        store: Store, sealer: any PushSealer, rules: WebhookAddressRules, kinds: Set<PushKind>,
        canEncrypt: @escaping @Sendable (WebPushAddress) -> Bool
    ) {
        self.store = store
        self.sealer = sealer
        self.rules = rules
        self.kinds = kinds
        self.canEncrypt = canEncrypt
    }

    /// Registers the device of the sign-in, or renews its registration.
    ///
    /// - Throws: `invalid_request` with the field, and `feature_disabled` for a kind that is not configured.
    package func register(
        _ request: PushRegistrationRequest, by principal: Principal
    ) async throws -> PushRegistrationDocument {
        try check(request.kind)
        let address = try request.address(allowing: rules)
        if case .web(let web) = address, !canEncrypt(web) {
            throw Problem.invalid("keys.p256dh", "These 65 bytes are no point of P-256.")
        }
        return try await store.write { store in
            let user = principal.user
            guard try store.isSignedIn(user, by: principal.signIn) else {
                throw Problem(.unauthenticated, "The session of this access token has ended. Sign in again.")
            }
            let device = try Self.device(request.device, of: principal, in: store)
            let kind = address.kind
            let registration = PushRegistration(
                user: user, device: device, kind: kind,
                sealed: try sealer.seal(address.bytes, for: user, on: device, kind.rawValue),
                digest: sealer.digest(address.identity), endpoint: principal.signIn == nil ? principal.endpoint : nil,
                isShared: request.shared ?? false, createdAt: store.now, updatedAt: store.now)
            let saved = try store.save(registration)
            if case .web(let web) = address { try removeOldest(at: web.endpoint.host, of: user, in: store) }
            return saved.document
        }.value
    }

    /// Each message to a user is a request to each of their devices, so a service that may be anybody's has few of them: the
    /// least recently renewed go.
    private func removeOldest(at host: String, of user: UserID, in store: StoreTransaction) throws {
        guard !PushLanes.isWellKnown(host) else { return }
        let registrations = try store.pushRegistrations(of: user).filter { registration in
            guard case .web(let web) = sealer.address(of: registration) else { return false }
            return web.endpoint.host == host
        }
        for registration in registrations.dropFirst(Self.maxAtHost) {
            try store.removePushRegistration(registration.id)
        }
    }

    package func unregister(_ kind: PushKind, device: DeviceID?, by principal: Principal) async throws {
        _ = try await store.write { store in
            let device = try Self.device(device, of: principal, in: store)
            try store.removePushRegistration(of: principal.user, on: device, kind)
        }
    }

    package func registrations(of user: UserID) async throws -> [PushRegistrationDocument] {
        try await store.read { try $0.pushRegistrations(of: user).map(\.document) }
    }

    private func check(_ kind: PushKind) throws {
        guard !kinds.contains(kind) else { return }
        throw Problem(
            .featureDisabled, "This server does not push by \(kind.rawValue): see `push` of GET /v1/server.",
            field: "kind", members: ["feature": "\"push.\(kind.rawValue)\""])
    }

    /// The device of the sign-in. Without one, as with tokens of an outside issuer, the request names it, and the endpoint
    /// that authenticates itself is remembered with it.
    private static func device(
        _ named: DeviceID?, of principal: Principal, in store: StoreTransaction
    ) throws -> DeviceID {
        if let id = principal.signIn {
            guard let signIn = try store.signIn(id) else {
                throw Problem(.unauthenticated, "The session of this access token has ended. Sign in again.")
            }
            guard named == nil || named == signIn.device else {
                throw Problem.invalid("device", "It is the device of the session: leave it out.")
            }
            return signIn.device
        }
        guard principal.endpoint != nil else {
            throw Problem.invalid(
                "endpoint", "A token without a session needs an endpoint: `Switchboard-Endpoint: <id> <secret>`.")
        }
        guard let named else {
            throw Problem.invalid("device", "A token without a session needs the id of the device, a UUID.")
        }
        return named
    }
}
