package import Model

/// A link by which users join a group. Only a digest of its token is stored.
///
/// It works until it expires or was used as often as it may be, while its maker is in the group and may make links.
package struct GroupLink: Hashable, Sendable {
    package let id: GroupLinkID
    package let conversation: ConversationID
    package let maker: UserID
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    /// How many people may join by it; nil for any number.
    package let maxUses: Int?
    package var uses = 0
    /// The conversation's sequence when it was made. A user who was removed later cannot return by it.
    package let sequence: Int64

    package init(
        id: GroupLinkID, conversation: ConversationID, maker: UserID, createdAt: Timestamp, expiresAt: Timestamp,
        maxUses: Int?, uses: Int = 0, sequence: Int64
    ) {
        self.id = id
        self.conversation = conversation
        self.maker = maker
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.maxUses = maxUses
        self.uses = uses
        self.sequence = sequence
    }

    package func hasExpired(at now: Timestamp) -> Bool { expiresAt <= now }
    package var isUsedUp: Bool { maxUses.map { uses >= $0 } ?? false }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("maker", maker)
            writer.member("createdAt", createdAt)
            writer.member("expiresAt", expiresAt)
            writer.member("maxUses", maxUses.map { Int64($0) })
            writer.member("uses", Int64(uses))
        }
    }
}

/// The storage of the links of groups, inside one transaction.
package protocol GroupLinkStore {
    func groupLink(hash: [UInt8]) throws -> GroupLink?
    /// The links of a group in the order of their ids, expired or not.
    func groupLinks(of conversation: ConversationID) throws -> [GroupLink]
    func insert(_ link: GroupLink, hash: [UInt8]) throws
    /// Stores how often it was used.
    func update(_ link: GroupLink) throws
    func remove(_ link: GroupLink) throws
}

/// The storage of what people have declined, inside one transaction.
package protocol DeclineStore {
    /// How often the user has declined what concerns this conversation or this person, and when last.
    func declines(of user: UserID, _ subject: DeclineSubject) throws -> Declines?
    /// Inserts or replaces.
    func save(_ declines: Declines, of user: UserID, _ subject: DeclineSubject) throws
}

package enum DeclineSubject: Hashable, Sendable {
    case conversation(ConversationID)
    case inviter(UserID)

    package var text: String {
        switch self {
        case .conversation(let id): id.text
        case .inviter(let user): user.text
        }
    }
}

package struct Declines: Hashable, Sendable {
    package var count: Int
    package var last: Timestamp

    package init(count: Int, last: Timestamp) {
        self.count = count
        self.last = last
    }
}
