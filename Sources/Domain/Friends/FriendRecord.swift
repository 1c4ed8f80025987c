package import Accounts
package import Model

/// What one user holds about another: a request, a friendship, or the memory of a declined request.
///
/// Two users have up to two records, one each, so that each side can see something else: a request that does not reach
/// its recipient is in the requester's record alone, where it looks like any other.
package struct FriendRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// The owner has asked, and sees the request until it expires.
        case requested
        /// The user has asked the owner.
        case received
        case friend
        /// The owner has declined: nothing of the user reaches the owner until then. Shown to nobody.
        case declined
    }

    package var owner: UserID
    package var user: UserID
    package var state: State
    package var note: String?
    /// When the request was made, or since when they are friends.
    package var at: Timestamp
    /// Nil for a friendship.
    package var expiresAt: Timestamp?

    package init(
        owner: UserID, user: UserID, state: State, note: String? = nil, at: Timestamp, expiresAt: Timestamp? = nil
    ) {
        self.owner = owner
        self.user = user
        self.state = state
        self.note = note
        self.at = at
        self.expiresAt = expiresAt
    }

    package var isVisible: Bool { state != .declined }

    package func hasExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// A friend, or a request that was received or sent, as its owner sees it. In JSON: `Friend`.
package struct FriendDocument: Codable, Hashable, Sendable {
    package var user: UserProfile
    package var state: String
    package var note: String?
    /// Of a request.
    package var createdAt: Timestamp?
    package var expiresAt: Timestamp?
    /// Of a friendship.
    package var since: Timestamp?

    package init(_ record: FriendRecord, _ profile: UserProfile) {
        user = profile
        state = record.state.rawValue
        note = record.note
        createdAt = record.state == .friend ? nil : record.at
        expiresAt = record.expiresAt
        since = record.state == .friend ? record.at : nil
    }
}

/// Data of a `friend.removed` change.
struct FriendRemoval: Encodable, Sendable {
    var user: UserID
}
