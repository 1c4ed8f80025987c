package import Model

/// What voice messages need of a store, inside one transaction. A thrown error undoes everything.
package protocol VoiceStore: TranscriptStore, MediaUsageStore {
    func isBlocked(_ user: UserID, by blocker: UserID) throws -> Bool
    /// The user is there and is not disabled.
    func isActive(_ user: UserID) throws -> Bool

    func voiceMessage(_ id: VoiceMessageID) throws -> VoiceMessage?
    /// Between two users, as the first knows them: without those withheld from that one. Newest first, from before
    /// `cursor`.
    func voiceMessages(
        of user: UserID, with other: UserID, before cursor: VoiceMessageID?, limit: Int
    ) throws -> [VoiceMessage]
    /// Those that were sent before then, the oldest first.
    func voiceMessages(before time: Timestamp, limit: Int) throws -> [VoiceMessage]
    /// Writes the message and that its file belongs to it.
    func insert(_ message: VoiceMessage) throws
    /// Removes the message and that its file belongs to anything.
    func remove(_ message: VoiceMessage) throws

    /// Those that are still to be written down.
    func untranscribed() throws -> [VoiceMessage]

    /// What `user` sent with this client id before.
    func voiceMessage(sentWith clientID: ClientID, of user: UserID, bodyHash: [UInt8]) throws -> SentBefore
    func remember(
        _ clientID: ClientID, of user: UserID, bodyHash: [UInt8], message: VoiceMessageID
    ) throws -> SentBefore

    /// Appends a change to a stream, in the same transaction.
    @discardableResult
    func append(_ type: String, _ data: some Encodable, to stream: StreamName) throws -> Position
}

/// Whether a client id is new to its user.
package enum SentBefore: Hashable, Sendable {
    case never
    /// The same request was made before, and this is what it made.
    case same(VoiceMessageID)
    /// Another request used the id.
    case somethingElse
}
