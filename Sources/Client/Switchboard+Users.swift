extension Switchboard {
    private struct Users: Decodable { var users: [User] }

    /// Searches users by a complete e-mail address or the prefix of a word of the name (at least 2 characters).
    public func searchUsers(_ query: String) async throws -> [User] {
        let response: Users = try await realtime.request("users.search", ["query": query])
        return response.users
    }

    /// One user.
    public func user(_ id: UserID) async throws -> User {
        try await realtime.request("users.get", ["user": id])
    }

    /// The users that the signed-in user has blocked.
    public func blockedUsers() async throws -> [User] {
        let response: Users = try await realtime.request("blocks.list", Nothing())
        return response.users
    }

    /// Blocks a user: their calls and voice messages do not arrive, and to them it looks as if nobody answered.
    public func block(_ user: UserID) async throws {
        let _: Nothing = try await realtime.request("blocks.add", ["user": user])
    }

    /// Unblocks a user.
    public func unblock(_ user: UserID) async throws {
        let _: Nothing = try await realtime.request("blocks.remove", ["user": user])
    }

    /// Whether a user is online: now, then whenever it changes. Users who blocked the signed-in user, or hide their
    /// presence, always seem offline.
    public func presence(of user: UserID) async -> AsyncStream<Presence> {
        await realtime.presence(of: user)
    }
}
