package import Accounts
package import Messaging
package import Model

/// What is known of an imported record other than a message.
package struct ImportedRecord: Hashable, Sendable {
    /// A digest of source, kind and id there.
    package var key: [UInt8]
    package var kind: String
    /// The id here.
    package var entity: String
    /// Of a user, and of what belongs to one.
    package var user: UserID?
    /// Of the content; empty once the user is deleted.
    package var digest: [UInt8]
    /// Of a conversation: whether its members are in it.
    package var isDone: Bool
    /// Of a conversation that is done: the number of its last imported message.
    package var lastNumber: Int64

    package init(
        key: [UInt8], kind: String, entity: String, user: UserID? = nil, digest: [UInt8], isDone: Bool = true,
        lastNumber: Int64 = 0
    ) {
        self.key = key
        self.kind = kind
        self.entity = entity
        self.user = user
        self.digest = digest
        self.isDone = isDone
        self.lastNumber = lastNumber
    }
}

/// Somebody who will be in a conversation once all of its messages are there.
package struct WaitingMember: Hashable, Sendable {
    package var user: UserID
    package var role: MemberRole
    package var state: MemberState
    package var joinedAt: Timestamp
    /// Whether all is unread, where no mark was saved. Otherwise all is read.
    package var isUnread: Bool

    package init(user: UserID, role: MemberRole, state: MemberState, joinedAt: Timestamp, isUnread: Bool) {
        self.user = user
        self.role = role
        self.state = state
        self.joinedAt = joinedAt
        self.isUnread = isUnread
    }
}

/// The storage of imports, inside one transaction.
package protocol ImportStore: MessagingStore, AccountStore {
    /// What is written to conversations within `body` is neither published nor written as events, and moves no inbox.
    func withoutUpdates<Value>(_ body: () throws -> Value) throws -> Value

    func importedRecord(_ key: [UInt8]) throws -> ImportedRecord?
    /// Inserts or replaces.
    func save(_ record: ImportedRecord) throws
    /// The imported message with a client id, and the digest of its record.
    func importedMessage(_ id: ClientID) throws -> (message: Message, digest: [UInt8])?

    /// Inserts or replaces.
    func save(_ member: WaitingMember, of conversation: ConversationID) throws
    func waitingMembers(of conversation: ConversationID, after user: UserID?, limit: Int) throws -> [WaitingMember]
    /// Removes those whose account was deleted meanwhile.
    func removeDeletedWaiting(of conversation: ConversationID) throws
    /// The number of those who will be in it, and of owners among them.
    func waitingCounts(of conversation: ConversationID) throws -> (members: Int, owners: Int)
    /// The one who owns the group next: see `successor`.
    func nextWaitingOwner(of conversation: ConversationID) throws -> WaitingMember?
    /// Makes all who wait members. Those without spans see everything, and who will be in it without marks has read
    /// everything, unless it is unread.
    func admitWaiting(to conversation: Conversation, marksCounter: Int64) throws
    func setPair(_ pair: ConversationPair?, of conversation: ConversationID) throws
    /// What `body` writes to a conversation is published, even within `withoutUpdates`: nobody is in it any more.
    func announceRetired(_ conversation: ConversationID, _ body: () throws -> Void) throws
    /// Lets listeners read on in an imported conversation, and moves it in its members' inboxes: one notice each.
    func announceImported(_ conversation: ConversationID) throws
}
