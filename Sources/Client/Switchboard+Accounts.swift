import NIOHTTP1

extension Switchboard {
    private struct SignUp: Encodable {
        var email: String
        var password: String
        var displayName: String
        var languages: [String]?
        var invite: String?
        var device: DeviceDescription?
    }
    private struct SigningIn: Encodable {
        var email: String
        var password: String
        var device: DeviceDescription?
    }
    private struct SignedIn: Decodable {
        var user: Me
        var accessToken: String
        var refreshToken: String
        var expiresIn: Double
        var tokens: Tokens {
            Grant(accessToken: accessToken, refreshToken: refreshToken, expiresIn: expiresIn).tokens
        }
    }
    private struct PasswordChange: Encodable { var currentPassword: String; var newPassword: String }
    private struct Deletion: Encodable { var password: String? }

    /// Creates an account and signs in.
    ///
    /// - Parameters:
    ///   - email: The address to sign in with.
    ///   - password: 8 to 128 characters, at most 512 bytes.
    ///   - displayName: The name that others see, 1 to 80 characters.
    ///   - languages: The languages the user speaks, as BCP 47 tags, at most 16.
    ///   - invite: The invite code, if ``ServerDescription/signUp`` is `invite`.
    ///   - device: How this installation appears in the list of the user's devices.
    @discardableResult
    public func signUp(
        email: String, password: String, displayName: String, languages: [String]? = nil, invite: String? = nil,
        device: DeviceDescription? = nil
    ) async throws -> Me {
        let response: SignedIn = try await rest.request(
            .POST, "/v1/accounts",
            body: SignUp(
                email: email, password: password, displayName: displayName, languages: languages, invite: invite,
                device: device))
        return await signedIn(response)
    }

    /// Signs in.
    @discardableResult
    public func signIn(email: String, password: String, device: DeviceDescription? = nil) async throws -> Me {
        let response: SignedIn = try await rest.request(
            .POST, "/v1/sessions", body: SigningIn(email: email, password: password, device: device))
        return await signedIn(response)
    }

    /// Uses the tokens of an earlier sign-in.
    public func use(_ tokens: Tokens) async {
        await realtime.changeUser()
        await credentials.use(.tokens(tokens))
        await realtime.userChanged()
    }

    /// Uses a token of an external issuer, or one that an operator issued. Once it has expired, all requests throw
    /// ``SwitchboardError/signedOut``.
    public func use(token: String) async {
        await realtime.changeUser()
        await credentials.use(.token(token))
        await realtime.userChanged()
    }

    /// Uses tokens of `provider`, which is called whenever one is needed.
    public func use(provider: @escaping @Sendable () async throws -> String) async {
        await realtime.changeUser()
        await credentials.use(.provider(provider))
        await realtime.userChanged()
    }

    /// Signs out: ends the sign-in on the server, if it is reachable, and removes the user from this object. What is
    /// stored of their conversations on this device is erased, also what was not sent yet.
    public func signOut() async throws {
        let token = try? await credentials.accessToken()
        await realtime.eraseStore()
        await realtime.changeUser()
        await credentials.use(.none)
        if let token {
            let _: Nothing = try await rest.request(.DELETE, "/v1/sessions/current", token: token.text)
        }
    }

    /// The tokens to store; nil if signed out, or if the tokens are not from a sign-in here.
    public var tokens: Tokens? {
        get async { await credentials.tokens }
    }

    /// The tokens to store: now, then whenever they change; nil if signed out.
    public var tokenChanges: AsyncStream<Tokens?> {
        get async { await credentials.changes() }
    }

    /// The signed-in user.
    public func me() async throws -> Me { try await realtime.request("me.get", Nothing()) }

    /// The user's profile whenever it changes, on this or another client.
    public var profileChanges: AsyncStream<Me> {
        get async { await realtime.profileChanges() }
    }

    /// Changes the user's profile; nil members stay unchanged.
    @discardableResult
    public func changeProfile(_ change: ProfileChange) async throws -> Me {
        try await realtime.request("me.update", change)
    }

    /// Changes what pushed notifications show.
    ///
    /// - Parameter level: Nil as the service that forwards them allows.
    @discardableResult
    public func setNotifications(_ level: Me.NotificationLevel?) async throws -> Me {
        try await realtime.request("me.update", ProfileSetting(notifications: .some(level)))
    }

    /// Has nothing pushed to the user's devices in these hours. What comes then is pushed when they end: a missed call too,
    /// which has not rung devices that sleep.
    ///
    /// - Parameter hours: Nil for no quiet hours: what waits is pushed at once.
    @discardableResult
    public func setQuietHours(_ hours: Me.QuietHours?) async throws -> Me {
        try await realtime.request("me.update", ProfileSetting(quietHours: .some(hours)))
    }

    /// Null is something else than absent.
    private struct ProfileSetting: Encodable, Sendable {
        var notifications: Me.NotificationLevel??
        var quietHours: Me.QuietHours??
    }

    /// Changes the password and revokes all other sign-ins. Not retried if the connection breaks, since the current
    /// password would be wrong the second time.
    public func changePassword(from current: String, to new: String) async throws {
        let token = try await credentials.accessToken()
        let _: Nothing = try await rest.request(
            .POST, "/v1/me/password", token: token.text,
            body: PasswordChange(currentPassword: current, newPassword: new))
    }

    /// Deletes the account for ever, and signs out. The server erases what it stores of the user within a minute.
    ///
    /// - Parameter password: Required if the account has one. Without one, the access token must be at most five minutes
    ///   old; a refused one is renewed once.
    public func deleteAccount(password: String? = nil) async throws {
        let body = Deletion(password: password)
        let token = try await credentials.accessToken()
        do {
            let _: Nothing = try await rest.request(.POST, "/v1/me/delete", token: token.text, body: body)
        } catch SwitchboardError.refused(let problem) where problem.kind == .unauthenticated {
            guard let newer = try? await credentials.accessToken(fresh: true) else {
                throw SwitchboardError.refused(problem)
            }
            let _: Nothing = try await rest.request(.POST, "/v1/me/delete", token: newer.text, body: body)
        }
        await realtime.eraseStore()
        await realtime.changeUser()
        await credentials.use(.none)
    }

    /// The user's sign-ins.
    public func signIns() async throws -> [SignIn] {
        struct Response: Decodable { var sessions: [SignIn] }
        let response: Response = try await realtime.request("sessions.list", Nothing())
        return response.sessions
    }

    /// Ends a sign-in; its clients are disconnected immediately.
    public func revoke(_ signIn: SignInID) async throws {
        let _: Nothing = try await realtime.request("sessions.revoke", ["session": signIn])
    }

    /// The user's devices.
    public func devices() async throws -> [Device] {
        struct Response: Decodable { var devices: [Device] }
        let response: Response = try await realtime.request("devices.list", Nothing())
        return response.devices
    }

    /// Removes a device and ends its sign-ins.
    public func revoke(_ device: DeviceID) async throws {
        let _: Nothing = try await realtime.request("devices.revoke", ["device": device])
    }

    private func signedIn(_ response: SignedIn) async -> Me {
        await realtime.changeUser()
        await credentials.use(.tokens(response.tokens))
        await realtime.userChanged()
        return response.user
    }
}
