package import Model

// Search and blocking.
extension AccountCommands {
    /// Searches for other users: by a complete e-mail address or id, or by the prefixes of words in their names, if they
    /// are reached by name. Friends come first in each page. Users who blocked the principal are found as well: a block
    /// must not be visible.
    package func search(
        _ query: String, by principal: Principal, limit: Int = 20, cursor: String? = nil
    ) async throws -> AccountPage<UserProfile> {
        let query = AccountRules.trimmed(query)
        guard (2...254).contains(query.utf8.count) else {
            throw Problem.invalid("query", "A query has 2 to 254 characters.")
        }
        let limit = try Self.limit(limit)
        if let id = UserID(query) { return try await onlyUser(principal) { try $0.user(id) } }
        if query.contains("@") {
            let key = AccountRules.emailKey(query)
            return try await onlyUser(principal) { try $0.user(emailKey: key) }
        }
        let terms = Array(SearchTerms.terms(in: query).prefix(4))
        guard let longest = terms.map(\.unicodeScalars.count).max(), longest >= 2 else {
            throw Problem.invalid("query", "A search needs a word of at least 2 letters, or a whole e-mail address.")
        }
        let after = try cursor.map { try NameCursor(text: $0) }
        let found = try await database.readAccounts { store in
            try store.users(matching: terms, for: principal.user, after: after, limit: limit + 1)
        }
        let page = found.prefix(limit)
        let sorted = page.filter(\.isFriend) + page.filter { !$0.isFriend }
        return AccountPage(
            items: sorted.map(\.user.profile), nextCursor: found.count > limit ? page.last?.cursor.text : nil)
    }

    private func onlyUser(
        _ principal: Principal, _ find: @escaping @Sendable (any AccountStore) throws -> UserRecord?
    ) async throws -> AccountPage<UserProfile> {
        let users = try await database.readAccounts { store -> [UserProfile] in
            guard let user = try find(store), user.disabledAt == nil, user.id != principal.user else { return [] }
            return [user.profile]
        }
        return AccountPage(items: users, nextCursor: nil)
    }

    /// A user's profile. A user who blocked the reader looks the same; of a deleted user only the id remains.
    package func profile(of user: UserID) async throws -> UserProfile {
        try await database.readAccounts { store in
            guard let user = try store.user(user), user.disabledAt == nil || user.deletedAt != nil else {
                throw Problem.notFound("user", field: "user")
            }
            return user.profile
        }
    }

    package func unblock(_ user: UserID, by principal: Principal) async throws -> AccountOutcome<Void> {
        let written = try await database.writeAccounts { store in
            if try store.unblock(user, by: principal.user) {
                try store.append(.block, BlockChange(user: user, blocked: false), to: principal.user)
            }
        }
        return AccountOutcome(value: (), positions: written.positions)
    }

    package func blocks(
        of principal: Principal, limit: Int = 100, cursor: String? = nil
    ) async throws -> AccountPage<UserProfile> {
        let limit = try Self.limit(limit)
        let after = try Self.userCursor(cursor)
        let found = try await database.readAccounts { store in
            try store.blockedUsers(by: principal.user, after: after, limit: limit + 1)
        }
        let page = found.prefix(limit)
        return AccountPage(items: page.map(\.profile), nextCursor: found.count > limit ? page.last?.id.text : nil)
    }

    static func limit(_ limit: Int) throws -> Int {
        guard (1...100).contains(limit) else { throw Problem.invalid("limit", "A page has 1 to 100 entries.") }
        return limit
    }

    static func userCursor(_ cursor: String?) throws -> UserID? {
        guard let cursor else { return nil }
        guard let user = UserID(cursor) else {
            throw Problem.invalid("cursor", "This cursor does not belong to this list.")
        }
        return user
    }
}

extension AccountStore {
    /// Blocks a user's calls and voice messages and hides the principal's presence. The blocked user cannot notice it:
    /// calls ring until they are missed, messages seem to be sent, and the profile stays visible. `FriendCommands.block`
    /// also ends what the two are to each other.
    package func addBlock(of user: UserID, by principal: Principal) throws {
        guard user != principal.user else { throw Problem.invalid("user", "You cannot block yourself.") }
        guard let other = try self.user(user), other.deletedAt == nil else {
            throw Problem.notFound("user", field: "user")
        }
        // A request may still run when its user is deleted.
        _ = try existingUser(principal.user)
        if try block(user, by: principal.user) {
            try append(.block, BlockChange(user: user, blocked: true), to: principal.user)
        }
    }
}

extension NameCursor {
    /// The user's id and the word's UTF-8 in hexadecimal: safe in a URL.
    var text: String {
        user.text + "." + word.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    init(text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let digits = parts.count == 2 ? parts[1].compactMap(\.hexDigitValue) : []
        guard parts.count == 2, let user = UserID(String(parts[0])), digits.count == parts[1].count,
            digits.count % 2 == 0, digits.count <= 640
        else { throw Problem.invalid("cursor", "This cursor does not belong to this search.") }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        self.init(word: String(decoding: bytes, as: UTF8.self), user: user)
    }
}
