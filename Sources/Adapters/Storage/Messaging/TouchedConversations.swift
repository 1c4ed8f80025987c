import Languages
import Messaging
import Model

/// What a transaction has changed in conversations: each is written once, when the transaction ends, and what is published
/// then has the latest state of everything that was changed.
struct TouchedConversations {
    struct Touched {
        /// The sequence and the version before the transaction; 0 for one that it made.
        let sequence: Int64
        let version: Int64
        let withheldVersions: [WithheldVersion]
        let lastNumber: Int64
        private let name: String?
        private let settings: ConversationSettings?
        private let disappearAfter: Int64?
        private let memberCount: Int
        /// The latest state that is not written yet.
        var unwritten: Conversation?
        var messages: [Int64: Message] = [:]
        var members: [UserID: Member] = [:]
        /// Those whose own part has changed: marks, membership, hidden messages.
        var own: Set<UserID> = []
        /// Marks, and whether others see them change.
        var marks: [UserID: (marks: MemberMarks, isShown: Bool)] = [:]
        /// The numbers of messages on which users have noted something.
        var notes: [UserID: Set<Int64>] = [:]
        /// Those whose scheduled messages have changed.
        var scheduled: Set<UserID> = []
        /// The counter of what is above.
        var marksCounter: Int64 = 0
        /// Those who have changed whether they send receipts.
        var receipts: Set<UserID> = []
        /// The latest state of translations, by who is told.
        var translations: [(row: MessageTranslation, audience: TranslationAudience)] = []
        var hints: [(row: MessageHints, audience: TranslationAudience)] = []
        /// Those who read in another language than before, or may have other translations.
        var choices: Set<UserID> = []
        /// Those who have hidden messages from themselves.
        var hiding: Set<UserID> = []
        /// Those who see other numbers now.
        var spans: Set<UserID> = []
        /// The order in which rows were first touched.
        var order: [Row] = []
        /// Whether it has to be published.
        var hasChanged = false

        init(_ conversation: Conversation?) {
            sequence = conversation?.sequence ?? 0
            version = conversation?.version ?? 0
            withheldVersions = conversation?.withheldVersions ?? []
            lastNumber = conversation?.lastNumber ?? 0
            name = conversation?.name
            settings = conversation?.settings
            disappearAfter = conversation?.disappearAfter
            memberCount = conversation?.memberCount ?? 0
        }

        /// Whether what those see who are invited has changed.
        func hasNewInvitation(_ conversation: Conversation) -> Bool {
            sequence > 0 && conversation.kind == .group
                && (hasNewSettings(conversation) || conversation.memberCount != memberCount)
        }

        func hasNewSettings(_ conversation: Conversation) -> Bool {
            conversation.name != name || conversation.settings != settings
                || conversation.disappearAfter != disappearAfter
        }

        /// Who alone sees that the document has changed.
        func newReaders(of conversation: Conversation) -> [UserID] {
            guard unwritten != nil, conversation.version == version else { return [] }
            return conversation.withheldVersions.filter { !withheldVersions.contains($0) }.map(\.user)
        }

        enum Row: Hashable {
            case message(Int64)
            case member(UserID)
        }
    }

    /// Whether what is written now is neither published nor collected: an import writes past it.
    var isSuspended = false
    /// The conversations that an import has finished or added to.
    var imported: [ConversationID] = []
    private var touched: [ConversationID: Touched] = [:]
    /// In the order in which they were first changed.
    private(set) var order: [ConversationID] = []

    subscript(id: ConversationID) -> Touched? { touched[id] }

    /// A conversation was read: this is its state before the transaction, unless it was touched.
    mutating func read(_ conversation: Conversation) {
        if !isSuspended, touched[conversation.id] == nil { touched[conversation.id] = Touched(conversation) }
    }

    mutating func insert(_ conversation: Conversation) {
        change(conversation.id) { $0.unwritten = conversation }
    }

    mutating func update(_ conversation: Conversation) {
        change(conversation.id) { $0.unwritten = conversation }
    }

    mutating func save(_ member: Member, of conversation: ConversationID) {
        change(conversation) { touched in
            if touched.members.updateValue(member, forKey: member.user) == nil {
                touched.order.append(.member(member.user))
            }
        }
    }

    mutating func own(of user: UserID, in conversation: ConversationID) {
        change(conversation) { $0.own.insert(user) }
    }

    mutating func save(_ marks: MemberMarks, in conversation: ConversationID, isShown: Bool) {
        change(conversation) { touched in
            touched.marks[marks.user] = (marks, isShown || touched.marks[marks.user]?.isShown == true)
            touched.marksCounter = max(touched.marksCounter, marks.counter)
        }
    }

    mutating func save(_ row: OwnRow, of user: UserID) {
        change(row.conversation) { touched in
            touched.notes[user, default: []].insert(row.number)
            touched.marksCounter = max(touched.marksCounter, row.counter)
        }
    }

    mutating func scheduled(by user: UserID, in conversation: ConversationID, counter: Int64) {
        change(conversation) { touched in
            touched.scheduled.insert(user)
            touched.marksCounter = max(touched.marksCounter, counter)
        }
    }

    mutating func receipts(of user: UserID, in conversation: ConversationID) {
        change(conversation) { $0.receipts.insert(user) }
    }

    mutating func choices(of user: UserID, in conversation: ConversationID) {
        change(conversation) { $0.choices.insert(user) }
    }

    mutating func save(_ translation: MessageTranslation, for audience: TranslationAudience) {
        change(translation.conversation) { touched in
            touched.translations.removeAll { $0.row.isSame(as: translation) }
            touched.translations.append((translation, audience))
        }
    }

    mutating func save(_ hints: MessageHints, for audience: TranslationAudience) {
        change(hints.conversation) { touched in
            touched.hints.removeAll {
                $0.row.number == hints.number && $0.row.of == hints.of && $0.row.language == hints.language
            }
            touched.hints.append((hints, audience))
        }
    }

    mutating func hide(by user: UserID, in conversation: ConversationID) {
        change(conversation) { $0.hiding.insert(user) }
    }

    mutating func spans(of user: UserID, in conversation: ConversationID) {
        change(conversation) { $0.spans.insert(user) }
    }

    mutating func save(_ message: Message, isNew: Bool) {
        change(message.conversation) { touched in
            if touched.messages.updateValue(message, forKey: message.number) == nil {
                touched.order.append(.message(message.number))
            }
        }
    }

    private mutating func change(_ id: ConversationID, _ body: (inout Touched) -> Void) {
        guard !isSuspended else { return }
        var one = touched[id] ?? Touched(nil)
        if !one.hasChanged {
            one.hasChanged = true
            order.append(id)
        }
        body(&one)
        touched[id] = one
    }
}

extension MessageTranslation {
    fileprivate func isSame(as other: MessageTranslation) -> Bool {
        number == other.number && of == other.of && target == other.target
    }
}
