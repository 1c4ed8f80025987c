package import Accounts
package import Model

/// The operations on friends: REST and realtime both end here.
package struct FriendCommands: Sendable {
    let database: any FriendDatabase
    let secrets: any SecretSource

    package init(database: any FriendDatabase, secrets: any SecretSource) {
        self.database = database
        self.secrets = secrets
    }

    package struct Request: Codable, Hashable, Sendable {
        package var clientID: ClientID
        package var user: UserID
        package var note: String?

        package init(clientID: ClientID, user: UserID, note: String? = nil) {
            self.clientID = clientID
            self.user = user
            self.note = note
        }
    }

    package struct Requested: Hashable, Sendable {
        package var friend: FriendDocument
        /// Whether nothing has changed.
        package var isDuplicate: Bool
    }

    /// Asks a user to be a friend. If they have asked before, the two are friends at once.
    ///
    /// Whether the request waits, was declined, or never arrives because of a block, the result is the same.
    package func request(_ request: Request, by principal: Principal) async throws -> AccountOutcome<Requested> {
        let (me, other) = (principal.user, request.user)
        try FriendRules.cannotBeOneself(other, principal, "You cannot be your own friend.")
        let note = try FriendRules.note(request.note)
        let hash = secrets.digest("friend \(other) \(note ?? "")")
        let written = try await database.writeFriends { store in
            _ = try store.existingUser(me)
            if let earlier = try store.earlierFriend(request.clientID, of: me, hash, about: other, note: note) {
                return Requested(friend: earlier, isDuplicate: true)
            }
            guard let user = try store.user(other), user.disabledAt == nil else {
                throw Problem.notFound("user", field: "user")
            }
            guard try !store.isBlocked(other, by: me) else {
                throw Problem(.conflict, "You have blocked this user: unblock them first.", field: "user")
            }
            let isDeliverable = try store.isDeliverable(from: me, to: other)
            let (action, pair) = try store.change(me, other) { pair in
                let action = pair.request(note: note, isDeliverable: isDeliverable, at: store.now)
                switch action {
                case .none: break
                case .requested: try store.checkSent(by: me)
                case .befriended: try store.checkFriends(of: me, and: other)
                }
                return action
            }
            guard let mine = pair.mine else { throw Problem.notFound("user", field: "user") }
            _ = try store.remember(request.clientID, of: me, bodyHash: hash, outcome: mine.outcome)
            return Requested(friend: FriendDocument(mine, user.profile), isDuplicate: action == .none)
        }
        return AccountOutcome(value: written.value, positions: written.positions)
    }

    /// Accepts the request of a user. Accepting twice is harmless.
    package func accept(_ user: UserID, by principal: Principal) async throws -> AccountOutcome<FriendDocument> {
        let me = principal.user
        let written = try await database.writeFriends { store in
            _ = try store.existingUser(me)
            let (action, pair) = try store.change(me, user) { pair in
                let action = pair.accept(at: store.now)
                if action == .befriended { try store.checkFriends(of: me, and: user) }
                return action
            }
            guard action != .rejected, let mine = pair.mine, let other = try store.user(user), other.deletedAt == nil
            else { throw Self.noRequest }
            return FriendDocument(mine, other.profile)
        }
        return AccountOutcome(value: written.value, positions: written.positions)
    }

    /// Declines the request of a user, who cannot see that. Declining twice is harmless.
    package func decline(_ user: UserID, by principal: Principal) async throws -> AccountOutcome<Void> {
        try await change(user, by: principal) { pair, now in
            guard pair.decline(at: now) != .rejected else { throw Self.noRequest }
        }
    }

    /// Ends a friendship, or cancels the principal's own request. Removing twice is harmless.
    package func remove(_ user: UserID, by principal: Principal) async throws -> AccountOutcome<Void> {
        try await change(user, by: principal) { pair, _ in
            guard pair.remove() != .rejected else {
                throw Problem(.conflict, "This request was made by the user: accept or decline it.", field: "user")
            }
        }
    }

    /// Blocks a user, and ends the friendship and the requests of both. The blocked user sees at most that the
    /// friendship is over.
    package func block(_ user: UserID, by principal: Principal) async throws -> AccountOutcome<Void> {
        let written = try await database.writeFriends { store in
            try store.addBlock(of: user, by: principal)
            _ = try store.change(principal.user, user) { $0.block() }
        }
        return AccountOutcome(value: (), positions: written.positions)
    }

    private func change(
        _ user: UserID, by principal: Principal,
        _ decide: @escaping @Sendable (inout FriendPair, Timestamp) throws -> Void
    ) async throws -> AccountOutcome<Void> {
        let written = try await database.writeFriends { store in
            _ = try store.existingUser(principal.user)
            _ = try store.change(principal.user, user) { try decide(&$0, store.now) }
        }
        return AccountOutcome(value: (), positions: written.positions)
    }

    private static let noRequest = Problem.notFound("request", field: "user")
}

extension FriendStore {
    /// The first result of a request that is repeated; nil if it is new.
    fileprivate func earlierFriend(
        _ clientID: ClientID, of me: UserID, _ hash: [UInt8], about other: UserID, note: String?
    ) throws -> FriendDocument? {
        switch try earlierRequest(clientID, of: me, bodyHash: hash) {
        case .none: return nil
        case .different:
            throw Problem(.clientIDReused, "This clientID was used for another request.", field: "clientID")
        case .same(let outcome):
            guard let profile = try user(other)?.profile,
                let record = FriendRecord(outcome: outcome, owner: me, user: other, note: note)
            else { return nil }
            return FriendDocument(record, profile)
        }
    }

    fileprivate func isDeliverable(from me: UserID, to other: UserID) throws -> Bool {
        let received = try friendCount(of: other, in: .received, limit: FriendRules.receivedLimit)
        return try !isBlocked(me, by: other) && received < FriendRules.receivedLimit
    }

    fileprivate func checkSent(by me: UserID) throws {
        guard try friendCount(of: me, in: .requested, limit: FriendRules.sentLimit) < FriendRules.sentLimit else {
            throw Problem(
                .conflict, "At most \(FriendRules.sentLimit) of your requests may wait: cancel some.", field: "user")
        }
    }

    fileprivate func checkFriends(of me: UserID, and other: UserID) throws {
        for user in [me, other] {
            guard try friendCount(of: user, in: .friend, limit: FriendRules.friendLimit) < FriendRules.friendLimit
            else {
                let whose = user == me ? "You have" : "This user has"
                throw Problem(.conflict, "\(whose) \(FriendRules.friendLimit) friends, the maximum.", field: "user")
            }
        }
    }
}

// The first result of a request, as it is kept with its client id.
extension FriendRecord {
    fileprivate var outcome: String {
        [state.rawValue, String(at.milliseconds), expiresAt.map { String($0.milliseconds) } ?? "-"]
            .joined(separator: " ")
    }

    fileprivate init?(outcome: String, owner: UserID, user: UserID, note: String?) {
        let parts = outcome.split(separator: " ")
        guard parts.count == 3, let state = State(rawValue: String(parts[0])), let at = Int64(parts[1]) else {
            return nil
        }
        self.init(
            owner: owner, user: user, state: state, note: state == .friend ? nil : note,
            at: Timestamp(milliseconds: at), expiresAt: Int64(parts[2]).map { Timestamp(milliseconds: $0) })
    }
}
