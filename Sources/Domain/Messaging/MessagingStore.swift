package import Languages
package import Model
package import Voice

/// The storage of conversations, inside one transaction. A thrown error rolls it back.
package protocol MessagingStore: ReactionStore, OwnStore, MembershipStore, MarkStore, MentionStore, ThreadStore,
    SearchIndexStore, GroupLinkStore, DeclineStore, MissedCallStore, ExpiryStore, ScheduledStore, VoiceStore,
    NoticeStore, TranslationStore
{
    /// The wall-clock time of the transaction.
    var now: Timestamp { get }

    // People.
    /// Whether the user exists and is neither disabled nor deleted.
    func isActive(_ user: UserID) throws -> Bool
    /// Those that the user knows, in the order of their preference.
    func languages(of user: UserID) throws -> [LanguageTag]
    func isBlocked(_ user: UserID, by blocker: UserID) throws -> Bool
    func areFriends(_ one: UserID, _ other: UserID) throws -> Bool
    /// What the user wants to become of conversations that strangers begin.
    func messageRequests(of user: UserID) throws -> MessageRequestPolicy

    // Conversations.
    func conversation(_ id: ConversationID) throws -> Conversation?
    func conversation(of pair: ConversationPair) throws -> Conversation?
    /// At most one conversation, a direct one or notes, has the same `pair`.
    func insert(_ conversation: Conversation, pair: ConversationPair?) throws
    func update(_ conversation: Conversation) throws
    /// The number of conversations that the user is or was a member of.
    /// Those that the user is in, or has left and can still read; not what others have invited them to.
    func conversationCount(of user: UserID) throws -> Int
    /// The conversations that wait for the user to accept an invitation, without the newest `count`.
    func invitations(of user: UserID, beyond count: Int) throws -> [ConversationID]

    /// Those that the user is or was a member of, after `id` in the order of ids.
    func conversations(of user: UserID, after id: ConversationID?, limit: Int) throws -> [ConversationID]

    // Members.
    func member(_ user: UserID, of conversation: ConversationID) throws -> Member?
    /// Those of all states after `user` in the order of ids.
    func members(of conversation: ConversationID, after user: UserID?, limit: Int) throws -> [Member]
    /// The number of members and invited.
    func memberCount(of conversation: ConversationID) throws -> Int
    /// The member who owns a group next: see `successor`.
    func nextOwner(of conversation: ConversationID) throws -> Member?
    /// Members of all states that have changed after the sequence, in the order of their changes.
    func members(of conversation: ConversationID, changedAfter sequence: Int64, limit: Int) throws -> [Member]
    /// Inserts or replaces.
    func save(_ member: Member, of conversation: ConversationID) throws
    func spans(of user: UserID, in conversation: ConversationID) throws -> MembershipSpans
    func save(_ spans: MembershipSpans, of user: UserID, in conversation: ConversationID) throws

    // Messages.
    func message(_ number: Int64, in conversation: ConversationID) throws -> Message?
    /// Those of `numbers` that `user` may see as far as blocks go and has not hidden, at most `limit`, from the end
    /// that `isNewestFirst` says.
    func messages(
        in conversation: ConversationID, _ numbers: ClosedRange<Int64>, visibleTo user: UserID, isNewestFirst: Bool,
        limit: Int
    ) throws -> [Message]
    /// When the newest message was sent whose number is at most this one; nil if there is none.
    func sentAt(_ number: Int64, in conversation: ConversationID) throws -> Timestamp?
    /// The number of the last message at a sequence of the conversation.
    func lastNumber(of conversation: ConversationID, at sequence: Int64) throws -> Int64
    /// Messages that have changed after the sequence and after they were sent, in the order of their changes.
    func changedMessages(
        in conversation: ConversationID, after sequence: Int64, numbers: ClosedRange<Int64>, limit: Int
    ) throws -> [Message]
    /// The message that `author` sent with this client id, and the digest of the request.
    func message(sentWith clientID: ClientID, by author: UserID) throws -> (message: Message, digest: [UInt8])?
    /// How many messages `author` has sent in the conversation; counts to `limit`.
    func messageCount(by author: UserID, in conversation: ConversationID, limit: Int) throws -> Int
    /// What `author` has sent anywhere, after `clientID` in the order of client ids.
    func messages(by author: UserID, after clientID: ClientID?, limit: Int) throws -> [Message]
    func insert(_ message: Message, digest: [UInt8]) throws
    func update(_ message: Message) throws
    /// Removes the digest of the request, which would confirm a text that is guessed.
    func eraseDigest(of number: Int64, in conversation: ConversationID) throws
    /// Former texts, the oldest first.
    func edits(of number: Int64, in conversation: ConversationID) throws -> [MessageEdit]
    func insert(_ edit: MessageEdit, of number: Int64, in conversation: ConversationID) throws
    /// The first ones after a version.
    func edits(
        of number: Int64, in conversation: ConversationID, after version: Int64, limit: Int
    ) throws -> [MessageEdit]
    func editCount(of number: Int64, in conversation: ConversationID) throws -> Int
    /// The newest former text up to a version, and whether it is the first text of the message.
    func edit(
        of number: Int64, in conversation: ConversationID, upTo version: Int64, includingWithheld: Bool
    ) throws -> (edit: MessageEdit, isFirst: Bool)?
    /// - Returns: how many characters they had.
    func removeEdits(of number: Int64, in conversation: ConversationID) throws -> Int
}
