package import Languages
package import Model

/// How a member keeps a conversation: what its owner alone sees of the membership.
package struct Membership: Hashable, Sendable {
    package struct Mute: Hashable, Sendable {
        /// Nil for ever.
        package var until: Timestamp?
        /// Whether mentions are told all the same.
        package var allowsMentions: Bool

        package init(until: Timestamp? = nil, allowsMentions: Bool = false) {
            self.until = until
            self.allowsMentions = allowsMentions
        }

        package func isActive(at now: Timestamp) -> Bool { until.map { now < $0 } ?? true }
    }

    package var mute: Mute?
    package var isPinned = false
    package var isArchived = false
    /// A flag that the user sets, and reading takes away.
    package var isMarkedUnread = false
    /// Whether others see what the user has read here; nil as the user's setting says.
    package var receipts: Bool?
    package var draft: Draft?
    /// The last message when the user took the conversation off their list; nil if they did not.
    package var removedAfter: Int64?
    /// What the user wants of machines here.
    package var choices = LanguageChoices()
    /// The store's counter when the user's reading of translations last changed.
    package var choicesSince: Int64 = 0
    /// The store's counter at the last change.
    package var counter: Int64 = 0

    package init() {}

    /// Whether the conversation is on the user's list.
    ///
    /// - Parameter lastNumber: of the last message that the user may see.
    package func isListed(lastNumber: Int64) -> Bool { removedAfter.map { lastNumber > $0 } ?? true }

    mutating func remove(after lastNumber: Int64) {
        (isPinned, isArchived, isMarkedUnread, removedAfter) = (false, false, false, lastNumber)
        draft?.empty()
    }
}

/// What a user is writing, over all of their devices: the highest revision is kept.
package struct Draft: Hashable, Sendable {
    /// Integers above are not exact in JavaScript.
    package static let maxRevision: Int64 = 1 << 53 - 1

    /// Empty for no draft; its revision is kept, so that an older one does not come back.
    package private(set) var text: String
    package private(set) var replyTo: Int64?
    package private(set) var revision: Int64

    /// - Throws: `invalid_request` of `draft.text`, `draft.replyTo` or `draft.revision`.
    package init(text: String, replyTo: Int64? = nil, revision: Int64) throws(Problem) {
        guard text.utf8.count <= MessageText.maxBytes else {
            throw .invalid("draft.text", "A draft has at most \(MessageText.maxBytes) bytes of UTF-8.")
        }
        guard replyTo.map({ $0 > 0 }) ?? true else {
            throw .invalid("draft.replyTo", "Expected the number of a message, which is at least 1.")
        }
        try Self.check(revision, field: "draft.revision")
        self.init(stored: text, replyTo: replyTo, revision: revision)
    }

    package init(stored text: String, replyTo: Int64?, revision: Int64) {
        self.text = text
        self.replyTo = replyTo
        self.revision = revision
    }

    package var isEmpty: Bool { text.isEmpty && replyTo == nil }

    static func check(_ revision: Int64, field: String) throws(Problem) {
        guard (1...maxRevision).contains(revision) else {
            throw .invalid(field, "Expected an integer from 1 to \(maxRevision).")
        }
    }

    mutating func empty() { (text, replyTo) = ("", nil) }
}

/// A change of a membership by its user; properties that are nil stay unchanged.
package struct MembershipChange: Hashable, Sendable {
    /// `.some(nil)` ends it.
    package var mute: Membership.Mute??
    package var isPinned: Bool?
    package var isArchived: Bool?
    package var isMarkedUnread: Bool?
    /// `.some(nil)` is as the user's setting says.
    package var receipts: Bool??
    package var draft: Draft?
    /// `.some(nil)` is as the user's setting says.
    package var translation: TranslationSettings??
    package var hints: TranslationMode??
    package var intelligence: IntelligenceLevel??

    package init(
        mute: Membership.Mute?? = nil, isPinned: Bool? = nil, isArchived: Bool? = nil, isMarkedUnread: Bool? = nil,
        receipts: Bool?? = nil, draft: Draft? = nil,
        translation: TranslationSettings?? = nil, intelligence: IntelligenceLevel?? = nil,
        hints: TranslationMode?? = nil
    ) {
        self.mute = mute
        self.isPinned = isPinned
        self.isArchived = isArchived
        self.isMarkedUnread = isMarkedUnread
        self.receipts = receipts
        self.draft = draft
        self.translation = translation
        self.hints = hints
        self.intelligence = intelligence
    }
}

/// The storage of memberships.
package protocol MembershipStore {
    /// The default one where none is stored.
    func membership(of user: UserID, in conversation: ConversationID) throws -> Membership
    /// Inserts or replaces.
    func save(_ membership: Membership, of user: UserID, in conversation: ConversationID) throws
    func pinnedConversationCount(of user: UserID) throws -> Int
}
