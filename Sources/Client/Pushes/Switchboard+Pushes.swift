// What wakes this device while the app does not run.
extension Switchboard {
    private struct Registration: Encodable {
        struct Keys: Encodable {
            var p256dh: String
            var auth: String
        }
        var kind: PushKind
        var endpoint: String?
        var keys: Keys?
        var token: String?
        var environment: PushToken.Environment?
        var shared: Bool?
        var device: DeviceID?

        init(_ token: PushToken, shared: Bool, device: DeviceID?) {
            kind = token.kind
            switch token.address {
            case .token(let text, let environment): (self.token, self.environment) = (text, environment)
            case .subscription(let endpoint, let publicKey, let secret):
                (self.endpoint, keys) = (endpoint, Keys(p256dh: publicKey, auth: secret))
            }
            self.shared = shared ? true : nil
            self.device = device
        }
    }

    private struct Removal: Encodable { var kind: PushKind; var device: DeviceID? }

    /// Has this device told of messages and calls while the app does not run.
    ///
    /// Call it with each token at every start of the app, and whenever the system has a new one: the same token again renews
    /// the registration, another one of the same kind replaces it. A registration ends with the sign-in, and when the service
    /// does not know the token any more.
    ///
    /// - Parameters:
    ///   - token: What the system has given to the app.
    ///   - shared: Whether other accounts of this device may have the same token, which each of them has to say. Otherwise it
    ///     moves to the account that registers it last.
    ///   - device: Which device it is, for tokens of an external issuer, which have no sign-in: a UUID that the app makes once
    ///     and stores. Nil after a sign-in.
    /// - Throws: ``Problem/Kind/featureDisabled`` for a kind that ``ServerDescription/push`` does not have, and
    ///   ``Problem/Kind/invalidRequest`` with the field `token` for one that cannot be of that service.
    @discardableResult
    public func registerForPushes(
        _ token: PushToken, shared: Bool = false, device: DeviceID? = nil
    ) async throws -> PushRegistration {
        try await realtime.request("push.register", Registration(token, shared: shared, device: device))
    }

    /// Has this device told nothing more by one service. It is no error if it was not registered. Signing out does it too.
    ///
    /// - Parameters:
    ///   - kind: The service.
    ///   - device: As for ``registerForPushes(_:shared:device:)``.
    public func unregisterFromPushes(_ kind: PushKind, device: DeviceID? = nil) async throws {
        let _: Nothing = try await realtime.request("push.unregister", Removal(kind: kind, device: device))
    }

    /// The user's devices that are woken, the last renewed first; at most 64.
    public func pushRegistrations() async throws -> [PushRegistration] {
        struct Response: Decodable { var registrations: [PushRegistration] }
        let response: Response = try await realtime.request("push.list", Nothing())
        return response.registrations
    }
}
