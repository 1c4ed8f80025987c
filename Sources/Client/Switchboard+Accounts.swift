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

    /// Makes an account and signs in with it.
    ///
    /// - Parameters:
    ///   - email: The address to sign in with.
    ///   - password: At least 8 characters, at most 512 bytes.
    ///   - displayName: The name that others see, 1 to 80 characters.
    ///   - languages: The languages the user speaks, as BCP 47 tags.
    ///   - invite: Where ``ServerDescription/signUp`` is `invite`.
    ///   - device: What to call this installation in the list of the user's devices.
    @discardableResult
    public func signUp(
        email: String, password: String, displayName: String, languages: [String]? = nil, invite: String? = nil,
        device: DeviceDescription? = nil
    ) async throws -> Me {
        let answer: SignedIn = try await door.ask(
            .POST, "/v1/accounts",
            body: SignUp(
                email: email, password: password, displayName: displayName, languages: languages, invite: invite,
                device: device))
        return await signedIn(answer)
    }

    /// Signs in.
    @discardableResult
    public func signIn(email: String, password: String, device: DeviceDescription? = nil) async throws -> Me {
        let answer: SignedIn = try await door.ask(
            .POST, "/v1/sessions", body: SigningIn(email: email, password: password, device: device))
        return await signedIn(answer)
    }

    /// Goes on with the tokens of an earlier sign-in.
    public func use(_ tokens: Tokens) async {
        await realtime.changeUser()
        await credentials.use(.tokens(tokens))
    }

    /// Speaks with a token of an outside issuer, or one that an operator made. Once it has run out, everything throws
    /// ``SwitchboardError/signedOut``.
    public func use(token: String) async {
        await realtime.changeUser()
        await credentials.use(.token(token))
    }

    /// Speaks with tokens that `provider` gets, which is asked whenever one is needed.
    public func use(provider: @escaping @Sendable () async throws -> String) async {
        await realtime.changeUser()
        await credentials.use(.provider(provider))
    }

    /// Signs out: the server forgets the sign-in, where it can be reached, and this object the user.
    public func signOut() async throws {
        let token = try? await credentials.accessToken()
        await realtime.changeUser()
        await credentials.use(.none)
        if let token {
            let _: Nothing = try await door.ask(.DELETE, "/v1/sessions/current", token: token.text)
        }
    }

    /// The tokens to store; nil when signed out, or when tokens come from elsewhere.
    public var tokens: Tokens? {
        get async { await credentials.tokens }
    }

    /// The tokens to store, now and whenever they change; nil when signed out.
    public var tokenChanges: AsyncStream<Tokens?> {
        get async { await credentials.changes() }
    }

    /// Oneself.
    public func me() async throws -> Me { try await realtime.ask("me.get", Nothing()) }

    /// One's profile whenever it changes, here or elsewhere.
    public var profileChanges: AsyncStream<Me> {
        get async { await realtime.profileChanges() }
    }

    /// Changes one's profile; what is nil stays as it is.
    @discardableResult
    public func changeProfile(_ change: ProfileChange) async throws -> Me {
        try await realtime.ask("me.update", change)
    }

    /// Changes the password and revokes all other sign-ins. Not repeated when the connection breaks, since the second
    /// time the current password would be wrong.
    public func changePassword(from current: String, to new: String) async throws {
        let token = try await credentials.accessToken()
        let _: Nothing = try await door.ask(
            .POST, "/v1/me/password", token: token.text,
            body: PasswordChange(currentPassword: current, newPassword: new))
    }

    /// Where the user is signed in.
    public func signIns() async throws -> [SignIn] {
        struct Answer: Decodable { var sessions: [SignIn] }
        let answer: Answer = try await realtime.ask("sessions.list", Nothing())
        return answer.sessions
    }

    /// Ends a sign-in; whoever uses it is disconnected at once.
    public func revoke(_ signIn: SignInID) async throws {
        let _: Nothing = try await realtime.ask("sessions.revoke", ["session": signIn])
    }

    /// The devices the user signed in on.
    public func devices() async throws -> [Device] {
        struct Answer: Decodable { var devices: [Device] }
        let answer: Answer = try await realtime.ask("devices.list", Nothing())
        return answer.devices
    }

    /// Forgets a device and ends its sign-ins.
    public func revoke(_ device: DeviceID) async throws {
        let _: Nothing = try await realtime.ask("devices.revoke", ["device": device])
    }

    private func signedIn(_ answer: SignedIn) async -> Me {
        await realtime.changeUser()
        await credentials.use(.tokens(answer.tokens))
        return answer.user
    }
}
