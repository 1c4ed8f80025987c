extension Switchboard {
    private struct Users: Decodable { var users: [User] }

    /// Finds people by their whole e-mail address or the beginning of a word of their name (at least 2 characters).
    public func searchUsers(_ query: String) async throws -> [User] {
        let answer: Users = try await realtime.ask("users.search", ["query": query])
        return answer.users
    }

    /// One person.
    public func user(_ id: UserID) async throws -> User {
        try await realtime.ask("users.get", ["user": id])
    }

    /// The people one has blocked.
    public func blockedUsers() async throws -> [User] {
        let answer: Users = try await realtime.ask("blocks.list", Nothing())
        return answer.users
    }

    /// Blocks somebody: their calls and voice messages do not arrive here, and to them it looks as if nobody answered.
    public func block(_ user: UserID) async throws {
        let _: Nothing = try await realtime.ask("blocks.add", ["user": user])
    }

    /// Lets somebody call again.
    public func unblock(_ user: UserID) async throws {
        let _: Nothing = try await realtime.ask("blocks.remove", ["user": user])
    }

    /// Whether somebody is online, now and whenever that changes. Nobody who blocked one, or hides it, is ever online.
    public func presence(of user: UserID) async -> AsyncStream<Presence> {
        await realtime.presence(of: user)
    }
}
