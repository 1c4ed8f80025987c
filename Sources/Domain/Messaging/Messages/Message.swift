package import Languages
package import Model

/// A message, as users see it who may see it.
package struct Message: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case text
        /// What happened in the conversation, told by the server.
        case notice
        /// A call, which the message follows.
        case call
        /// A sound, with its transcript.
        case voice
    }

    package let conversation: ConversationID
    /// Its place in the conversation, from 1.
    package let number: Int64
    /// The id that its author's client made, by which a repeated request finds it.
    package let clientID: ClientID
    package let author: UserID
    package var sentAt: Timestamp
    package var kind: Kind
    /// Nil for a deleted message, a call, a voice message and a notice.
    package var text: String?
    package var ranges: [TextRange]
    /// The language of the text; nil if it has too few letters, or the language is not known.
    package var language: MessageLanguage?
    /// The conversation's sequence at the last change of anything, and of the text.
    package var version: Int64
    /// The sequence at the last change that was not withheld: the version for users who do not see withheld changes.
    package var shownVersion: Int64
    package var textVersion: Int64
    /// Numbers in the same conversation.
    package var replyTo: Int64?
    package var editedAt: Timestamp?
    package var deletedAt: Timestamp?
    /// When it disappears, which is fixed when it is sent; nil if it stays.
    package var expiresAt: Timestamp?
    package var reactions: [MessageReaction] = []
    /// The root of the thread that it is in, by number.
    package var thread: Int64?
    /// The messages of its own thread.
    package var replies = 0
    /// Of a message of kind `call`; nil once it is deleted. `textVersion` is that of its last change.
    package var call: CallRecord?
    /// Of a message of kind `voice`; nil once it is deleted. `textVersion` is that of its transcript.
    package var voice: VoiceRecord?
    /// Of a message of kind `notice`; nil once it is deleted.
    package var notice: Notice?
    /// Of a forwarded message: the user who wrote the text first.
    package var forwardedFrom: UserID?
    /// Sent to somebody who had blocked the author: only the author sees it, for ever.
    package var isWithheld: Bool
    /// Edited while the author was blocked: the author alone sees this text, and the other the last one before it.
    package var isTextWithheld = false

    package init(
        conversation: ConversationID, number: Int64, clientID: ClientID, author: UserID, sentAt: Timestamp,
        kind: Kind = .text, text: String?, ranges: [TextRange] = [], version: Int64, textVersion: Int64,
        replyTo: Int64? = nil, editedAt: Timestamp? = nil, deletedAt: Timestamp? = nil, isWithheld: Bool = false
    ) {
        self.conversation = conversation
        self.number = number
        self.clientID = clientID
        self.author = author
        self.sentAt = sentAt
        self.kind = kind
        self.text = text
        self.ranges = ranges
        self.version = version
        self.shownVersion = version
        self.textVersion = textVersion
        self.replyTo = replyTo
        self.editedAt = editedAt
        self.deletedAt = deletedAt
        self.isWithheld = isWithheld
    }

    /// A call that has not ended, or a recording that is being written down: it changes by itself.
    var isUnderWay: Bool { call.map { $0.state != .ended } ?? (voice?.transcript?.status == .pending) }

    package func isVisible(to user: UserID) -> Bool { !isWithheld || author == user }

    mutating func change(to version: Int64, isWithheld: Bool) {
        self.version = version
        if !isWithheld { shownVersion = version }
    }
}

/// A former text of a message.
package struct MessageEdit: Hashable, Sendable {
    package var textVersion: Int64
    package var text: String
    /// Of the text; nil where they were not stored with it, as in databases of before.
    package var storedRanges: [TextRange]?
    package var language: MessageLanguage?
    /// When it was written: the message's `sentAt` for the first.
    package var writtenAt: Timestamp
    /// The author alone sees it: see `Message.isTextWithheld`.
    package var isWithheld: Bool

    package init(
        textVersion: Int64, text: String, ranges: [TextRange]?, language: MessageLanguage? = nil,
        writtenAt: Timestamp, isWithheld: Bool = false
    ) {
        self.textVersion = textVersion
        self.text = text
        storedRanges = ranges
        self.language = language
        self.writtenAt = writtenAt
        self.isWithheld = isWithheld
    }

    package var ranges: [TextRange] { storedRanges ?? RangeFinder.ranges(in: text).ranges }
}
