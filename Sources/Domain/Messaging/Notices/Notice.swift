package import Model

/// What happened in a conversation, as a message of kind `notice` tells it: clients word it in their reader's language.
///
/// The message's author did it. Its members are those of `kind`.
package struct Notice: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// `users` were added, and are in the group.
        case added
        /// The author has joined: see `via`.
        case joined
        /// The author has left.
        case left
        /// `users` were removed.
        case removed
        /// The group has another `name`, or none.
        case renamed
        /// The group has other `settings`, which is all of them.
        case settings
        /// `users` have another `role`.
        case role
        /// `users` own the group now.
        case owner
        /// Messages disappear after `disappearAfter` seconds, or no longer.
        case disappearing
        /// The message with the `number` was pinned.
        case pinned
    }

    /// How somebody has joined.
    package enum Via: String, Hashable, Sendable, CaseIterable {
        case link
        case invitation
    }

    /// Users that a notice names; more are counted.
    package static let maxUsers = 20

    package var kind: Kind
    /// The first of them.
    package private(set) var users: [UserID] = []
    package private(set) var userCount = 0
    package var name: String?
    package var settings: ConversationSettings?
    package var role: MemberRole?
    package var disappearAfter: Int64?
    package var number: Int64?
    package var via: Via?
    /// True if the app's own back end made the change: the message's author is then the first user whom it concerns.
    package var isByServer = false

    package init(_ kind: Kind, users: [UserID] = [], count: Int? = nil) {
        self.kind = kind
        self.users = Array(users.prefix(Self.maxUsers))
        userCount = max(count ?? users.count, self.users.count)
    }
}

/// The storage of notices.
package protocol NoticeStore {
    /// The authors of the notices that were sent since a time, among the messages after a number; the last one last.
    func noticeAuthors(in conversation: ConversationID, after number: Int64, since: Timestamp) throws -> [UserID]
}
