package import Model

/// A conversation that is searched, as its reader has it.
package struct SearchedConversation: Hashable, Sendable {
    package var found: MemberConversation
    /// Nil while none of its messages is indexed.
    package var index: SearchIndex?

    package init(_ conversation: Conversation, _ member: Member, _ spans: MembershipSpans, index: SearchIndex?) {
        // The same as in pages of messages: a user who left writes nothing.
        let conversation = member.state == .left ? member.conversationAtLeaving ?? conversation : conversation
        let access = ConversationAccess(
            kind: conversation.kind, settings: conversation.settings, state: member.state, role: member.role,
            spans: spans)
        self.init(MemberConversation(conversation: conversation, member: member, access: access), index: index)
    }

    init(_ found: MemberConversation, index: SearchIndex?) {
        self.found = found
        self.index = index
    }
}

/// What searches read, inside one transaction.
package protocol SearchStore: MessagingStore {
    /// All conversations that the user is or was a member of, in any order.
    func searchedConversations(of user: UserID) throws -> [SearchedConversation]
    /// Passes the numbers that have a term, in any order and as often as they have one, until `body` returns false.
    /// `numbers` are within one block, and others of the block may be passed too.
    func visitPostings(
        _ lookup: SearchLookup, in index: SearchIndex, _ numbers: ClosedRange<Int64>,
        _ body: (Int64) throws -> Bool) throws
    /// The messages that have former texts, the oldest first.
    func editedMessages(of numbers: ClosedRange<Int64>, in conversation: ConversationID, limit: Int) throws -> [Int64]
}

/// What indexing reads, inside one transaction.
package protocol IndexedMessageStore: MessagingStore {
    /// Of the first conversations after `id` in the order of ids, those of which not all messages are indexed, or by
    /// another version of the tokenizer; and where to go on.
    ///
    /// - Parameter limit: of the conversations that are looked at.
    func conversationsToIndex(
        after id: ConversationID?, limit: Int
    ) throws -> (due: [ConversationID], next: ConversationID?)
    /// The oldest messages after `number`, withheld ones too.
    func messages(toIndexIn conversation: ConversationID, after number: Int64, limit: Int) throws -> [Message]
    /// The `textVersion` of each of these messages, in the order of their numbers.
    func textVersions(of numbers: ClosedRange<Int64>, in conversation: ConversationID) throws -> [Int64]
}
