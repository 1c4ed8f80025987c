/// What one commit changed in a conversation, for those who listen to it and for the inboxes of its members.
///
/// It covers the sequences after `after` up to `upTo`: what is not in `rows` was superseded, or is not for listeners.
package struct ConversationUpdate: Sendable, Hashable {
    package var conversation: ConversationID
    package var epoch: String
    package var after: Int64
    package var upTo: Int64
    package var rows: [ConversationRow]
    /// Whether `rows` and `marks` were made. They are not where nobody listened at the time: who listens by the time that
    /// they are published reads them.
    package var hasRows = true
    package var hasMarks = true
    /// The store's counter of this commit, which only rises: see `inbox` streams.
    package var counter: Int64
    /// Whether the rows of all members' inboxes have changed.
    package var movesEverybody: Bool
    /// Those whose own row has changed, whatever the others' did.
    package var moved: Set<UserID>
    /// Those who may no longer listen, or who see other numbers than before.
    package var access: [UserID: ListenerAccess]
    /// What has changed of marks and of what members have noted on messages, and the counter of those.
    package var marks: [ConversationRow] = []
    package var marksCounter: Int64 = 0
    /// Those who see other marks than before.
    package var marksAccess: Set<UserID> = []
    /// What has changed of translations; nil if nothing has.
    package var translations: TranslationUpdate?
    /// Those who read in another language than before, or in another way.
    package var translationsAccess: Set<UserID> = []

    package init(
        conversation: ConversationID, epoch: String, after: Int64, upTo: Int64, rows: [ConversationRow], counter: Int64,
        movesEverybody: Bool, moved: Set<UserID> = [], access: [UserID: ListenerAccess] = [:]
    ) {
        self.conversation = conversation
        self.epoch = epoch
        self.after = after
        self.upTo = upTo
        self.rows = rows
        self.counter = counter
        self.movesEverybody = movesEverybody
        self.moved = moved
        self.access = access
    }
}

/// What one commit changed in the translations of a conversation.
package struct TranslationUpdate: Sendable, Hashable {
    /// Nil where nobody listened at the time: who listens by the time that they are published reads them.
    package var rows: [ConversationRow]?
    /// The store's counter of the last.
    package var counter: Int64

    package init(rows: [ConversationRow]?, counter: Int64) {
        self.rows = rows
        self.counter = counter
    }
}

/// What has become of somebody's access to a conversation.
package enum ListenerAccess: Sendable, Hashable {
    /// They have hidden messages from themselves: their listens to messages begin anew, without them.
    case hidden
    /// They are not in it any more.
    case ended
    /// They see other numbers than before.
    case changed
}

/// The latest state of something in a conversation.
package struct ConversationRow: Sendable, Hashable {
    package enum Audience: Sendable, Hashable {
        /// Whoever listens.
        case listeners
        /// Those who may see the message of this number. Who left and returned sees messages of before as they were: only
        /// a deletion reaches those.
        case message(Int64, isDeletion: Bool)
        /// One member alone.
        case only(UserID)
        /// All but one, if they let others see their own.
        case others(than: UserID)
        /// The author alone, of a message of this number.
        case author(UserID, Int64)
        /// Those who see this version of the text of the message of this number and read translations into this language;
        /// all but one of them, or one alone.
        case readers(Int64, of: Int64, language: String, except: UserID? = nil, only: UserID? = nil)
    }

    /// JSON text: an object with one member that says what it is, such as `{"message":{…}}`.
    package var json: String
    package var audience: Audience
    /// The numbers of pinned messages in it: a listener gets those of messages that they see.
    package var pins: [Int64]

    package init(json: String, audience: Audience, pins: [Int64] = []) {
        self.json = json
        self.audience = audience
        self.pins = pins
    }
}

/// What of a conversation a listener may see.
package struct ConversationView: Sendable, Hashable {
    package var user: UserID
    /// The numbers after it may be seen as they are.
    package var from: Int64
    /// Numbers of former times in the conversation.
    package var former: [ClosedRange<Int64>]
    /// The conversation's sequence at the end of each: later texts of those messages are not seen.
    package var formerEnds: [Int64]
    /// Whether they let others see what they have read, and so see it of others.
    package var seesMarks: Bool
    /// Numbers of messages that the user has deleted for themselves.
    package var hidden: Set<Int64>
    /// The language in which they read translations, and its tone.
    package var language: String?
    /// Likewise, of hints, in the form of those.
    package var hintAudience: String?

    package init(
        user: UserID, from: Int64, former: [ClosedRange<Int64>] = [], formerEnds: [Int64] = [], seesMarks: Bool = false,
        hidden: some Sequence<Int64> = EmptyCollection(), language: String? = nil
    ) {
        self.language = language
        self.seesMarks = seesMarks
        self.user = user
        self.from = from
        self.former = former
        self.formerEnds = formerEnds
        self.hidden = Set(hidden)
    }

    private func sees(_ number: Int64) -> Bool {
        (number > from || former.contains { $0.contains(number) }) && !hidden.contains(number)
    }

    /// Whether a text of that version is the one that they see.
    private func sees(_ number: Int64, of version: Int64) -> Bool {
        guard sees(number) else { return false }
        return number > from || zip(former, formerEnds).contains { $0.contains(number) && version <= $1 }
    }

    package func includes(_ row: ConversationRow) -> Bool {
        switch row.audience {
        case .listeners: true
        case .only(let user): user == self.user
        case .others(let user): user != self.user && seesMarks
        case .author(let author, let number): author == user && number > from && !hidden.contains(number)
        case .message(let number, let isDeletion): sees(number) && (number > from || isDeletion)
        case .readers(let number, let version, let language, let excluded, let only):
            (language == self.language || language == hintAudience) && sees(number, of: version) && user != excluded
                && only ?? user == user
        }
    }

    /// Whether every listener with such a view sees all of the rows, so that they can share a frame.
    package func includesAll(_ rows: [ConversationRow]) -> Bool {
        rows.allSatisfy { includes($0) && $0.pins.allSatisfy(sees) }
    }

    /// The row as this listener gets it.
    package func json(of row: ConversationRow) -> String {
        let seen = row.pins.filter(sees)
        guard seen.count < row.pins.count else { return row.json }
        // No text within it has such quotation marks.
        return row.json.replacing(Self.member(row.pins), with: Self.member(seen), maxReplacements: 1)
    }

    private static func member(_ pins: [Int64]) -> String {
        "\"pins\":[\(pins.map { String($0) }.joined(separator: ","))]"
    }
}
