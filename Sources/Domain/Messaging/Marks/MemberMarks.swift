package import Model

/// How far one member is, as the store holds it and the member's own devices see it: these see `read` and `received`,
/// and others `delivered` and `shown`.
package struct MemberMarks: Hashable, Sendable {
    package let user: UserID
    package var marks: ReadMarks
    /// The store's counter at the last change.
    package var counter: Int64

    package init(user: UserID, marks: ReadMarks = ReadMarks(), counter: Int64 = 0) {
        self.user = user
        self.marks = marks
        self.counter = counter
    }
}

/// When a mark rose: numbers after `from` up to `to` were shown as read, or as delivered.
package struct MarkRise: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case read
        case delivered
    }

    package let user: UserID
    package let kind: Kind
    package let from: Int64
    package let to: Int64
    package let at: Timestamp

    package init(user: UserID, kind: Kind, from: Int64, to: Int64, at: Timestamp) {
        self.user = user
        self.kind = kind
        self.from = from
        self.to = to
        self.at = at
    }
}

/// What one member has received and read of a message.
package struct MessageReceipt: Hashable, Sendable {
    package let user: UserID
    package var isRead: Bool
    package var isDelivered: Bool
    /// Nil if it is not kept any more.
    package var readAt: Timestamp?
    package var deliveredAt: Timestamp?
}

/// The storage of marks.
package protocol MarkStore {
    /// The user's setting: whether others see what they have read.
    func sendsReceipts(_ user: UserID) throws -> Bool
    func marks(of user: UserID, in conversation: ConversationID) throws -> MemberMarks?
    /// Those of a conversation after `user`, in the order of ids.
    func marks(in conversation: ConversationID, after user: UserID?, limit: Int) throws -> [MemberMarks]
    /// The marks of present members, in the same order, however many members have left.
    func marksOfMembers(of conversation: ConversationID, limit: Int) throws -> [MemberMarks]
    /// Inserts or replaces.
    func save(_ marks: MemberMarks, in conversation: ConversationID) throws
    func insert(_ rise: MarkRise, in conversation: ConversationID) throws
    /// The rise with which a number was shown.
    func rise(
        _ kind: MarkRise.Kind, of user: UserID, over number: Int64, in conversation: ConversationID
    ) throws -> MarkRise?
    /// Removes those of a user that end at a number or before it.
    func removeRises(of user: UserID, upTo number: Int64, in conversation: ConversationID) throws
}
