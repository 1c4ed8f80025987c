/// Everything that a run knows of what it did and of what it was shown, in the end.
struct ChatHistory: Sendable {
    /// A message of which the server said that it is stored.
    struct Acknowledgement: Hashable, Sendable {
        var key: MessageKey
        var number: Int64
    }

    /// All pages of a conversation as one member reads them.
    struct Pages: Sendable {
        /// Names the member in what is reported.
        var user: Int
        var author: UUIDBits
        var messages: [SeenMessage] = []
        var epoch = ""
        /// The position of the last page.
        var sequence: Int64 = 0
        /// The member's row of the inbox.
        var inbox: InboxRow?
    }

    struct Listener: Sendable {
        var user: Int
        var held: HeldConversation
    }

    /// A listener who reads in another language.
    struct Reader: Sendable {
        var user: Int
        var held: HeldTranslations
    }

    struct Conversation: Sendable {
        var name: String
        var acknowledged: [Acknowledgement] = []
        /// Messages whose send was refused: they must not be there.
        var refused: Set<MessageKey> = []
        /// Messages whose send has no result: they may be there.
        var unanswered: Set<MessageKey> = []
        /// The text's version of the last acknowledged edit of a message.
        var edited: [Int64: Int64] = [:]
        var deleted: Set<Int64> = []
        /// The number up to which the server has acknowledged that a user has read, by user.
        var read: [Int: Int64] = [:]
        var pages: [Pages] = []
        var listeners: [Listener] = []
        var readers: [Reader] = []
    }

    /// Of the client ids of this run.
    var run: UInt32
    var conversations: [Conversation] = []
    /// In which languages the users write, if that matters.
    var languages: [UUIDBits: ChatLanguage] = [:]
    /// What the listeners of inboxes hold, by user.
    var inboxes: [(user: Int, held: HeldInbox)] = []
}

/// What a history violates.
struct ChatViolation: Hashable, Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable, Sendable {
        case lost, duplicated, notDense, reordered, unexpected, differs, editLost, deletionLost, wrongUnread,
            wrongInbox, markLost
        case untranslated, translatedTwice, needlessTranslation
        case protocolViolation
    }

    var kind: Kind
    var text: String
    var description: String { "\(kind.rawValue): \(text)" }
}
