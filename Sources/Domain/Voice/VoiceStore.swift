package import Model

/// The storage of voice messages, inside one transaction. A thrown error rolls it back.
package protocol VoiceStore: TranscriptStore, MediaUsageStore {
    func isBlocked(_ user: UserID, by blocker: UserID) throws -> Bool
    /// Whether the user exists and is not disabled.
    func isActive(_ user: UserID) throws -> Bool

    func voiceMessage(_ id: VoiceMessageID) throws -> VoiceMessage?
    /// The messages between two users that `user` may see (withheld ones excluded), newest first, before `cursor`.
    func voiceMessages(
        of user: UserID, with other: UserID, before cursor: VoiceMessageID?, limit: Int
    ) throws -> [VoiceMessage]
    /// Messages that were sent before `time`, oldest first.
    func voiceMessages(before time: Timestamp, limit: Int) throws -> [VoiceMessage]
    /// Some messages that the user sent.
    func voiceMessages(sentBy user: UserID, limit: Int) throws -> [VoiceMessage]
    /// Inserts the message and the row of its file.
    func insert(_ message: VoiceMessage) throws
    /// Removes the message and the row of its file.
    func remove(_ message: VoiceMessage) throws

    /// Messages whose transcripts are pending.
    func untranscribed() throws -> [VoiceMessage]

    /// The message that `user` sent with this client id, if any.
    func voiceMessage(sentWith clientID: ClientID, of user: UserID, bodyHash: [UInt8]) throws -> SentBefore
    func remember(
        _ clientID: ClientID, of user: UserID, bodyHash: [UInt8], message: VoiceMessageID
    ) throws -> SentBefore

    /// Appends a change to the user's stream, in the same transaction.
    @discardableResult
    func append(_ type: UserChangeType, _ data: some Encodable, to user: UserID) throws -> Position
}

/// Whether a client id is new to its user.
package enum SentBefore: Hashable, Sendable {
    case never
    /// The same request was made before and created this message.
    case same(VoiceMessageID)
    /// A different request used the id.
    case somethingElse
}
