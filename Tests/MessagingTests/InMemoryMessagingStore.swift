import Languages
import Messaging
import Model

/// Conversations in memory, for the tests of the rules: without transactions, and slow on purpose, so that it is plainly
/// right.
final class InMemoryMessagingStore: MessagingStore {
    struct Row {
        var conversation: Conversation
        var pair: ConversationPair?
        var members: [UserID: Member] = [:]
        var spans: [UserID: MembershipSpans] = [:]
        var messages: [Int64: (message: Message, digest: [UInt8])] = [:]
        var edits: [Int64: [MessageEdit]] = [:]
        /// The sequences at which messages were sent.
        var born: [Int64: Int64] = [:]
    }

    var now = Timestamp(milliseconds: 1_800_000_000_000)
    var rows: [ConversationID: Row] = [:]
    var inactive: Set<UserID> = []
    /// The blocked and the blocker.
    var blocks: Set<[UserID]> = []
    var friends: Set<Set<UserID>> = []
    var requestPolicies: [UserID: MessageRequestPolicy] = [:]
    var parts = InMemoryMessageParts()
    var links: [(link: GroupLink, hash: [UInt8])] = []
    var declined: [UserID: [DeclineSubject: Declines]] = [:]
    var retentionMarks: [ConversationID: RetentionMark] = [:]
    var searchIndexes: [ConversationID: InMemorySearchIndex] = [:]
    var scheduled: [ScheduledMessage] = []
    var voice = InMemoryVoiceFiles()
    /// Postings and messages that were read.
    var rowsRead = 0
    var languages: [UserID: [LanguageTag]] = [:]
    var translations = InMemoryTranslations()

    func isActive(_ user: UserID) -> Bool { !inactive.contains(user) }
    func languages(of user: UserID) -> [LanguageTag] { languages[user] ?? [] }
    func isBlocked(_ user: UserID, by blocker: UserID) -> Bool { blocks.contains([user, blocker]) }
    func messageRequests(of user: UserID) -> MessageRequestPolicy { requestPolicies[user] ?? .ask }
    func areFriends(_ one: UserID, _ other: UserID) -> Bool { friends.contains([one, other]) }

    func conversation(_ id: ConversationID) -> Conversation? { rows[id]?.conversation }
    func conversation(of pair: ConversationPair) -> Conversation? {
        rows.values.first { $0.pair == pair }?.conversation
    }
    func insert(_ conversation: Conversation, pair: ConversationPair?) {
        rows[conversation.id] = Row(conversation: conversation, pair: pair)
    }
    func update(_ conversation: Conversation) {
        rows[conversation.id]?.conversation = conversation
        guard conversation.hasEnded else { return }
        for (user, member) in rows[conversation.id]?.members ?? [:] where member.state == .invited {
            rows[conversation.id]?.members[user]?.state = .left
            rows[conversation.id]?.members[user]?.invitedBy = nil
        }
    }
    func conversationCount(of user: UserID) -> Int {
        rows.values.count { row in
            row.members[user].map { $0.state == .member || $0.state == .left && $0.conversationAtLeaving != nil }
                ?? false
        }
    }
    func invitations(of user: UserID, beyond count: Int) -> [ConversationID] {
        let waiting = rows.values.filter { $0.members[user]?.state == .invited }
        return waiting.sorted { ($0.members[user]?.joinedAt ?? now) > ($1.members[user]?.joinedAt ?? now) }
            .dropFirst(count).map(\.conversation.id)
    }

    func conversations(of user: UserID, after id: ConversationID?, limit: Int) -> [ConversationID] {
        let all = rows.values.filter { $0.members[user] != nil }.map(\.conversation.id).sorted { $0.text < $1.text }
        return Array(all.filter { $0.text > id?.text ?? "" }.prefix(limit))
    }

    func member(_ user: UserID, of conversation: ConversationID) -> Member? { rows[conversation]?.members[user] }
    func members(of conversation: ConversationID, after user: UserID?, limit: Int) -> [Member] {
        let all = (rows[conversation]?.members.values.sorted { $0.user.text < $1.user.text } ?? [])
        return Array(all.filter { $0.user.text > user?.text ?? "" }.prefix(limit))
    }
    func members(of conversation: ConversationID, changedAfter sequence: Int64, limit: Int) -> [Member] {
        let changed = (rows[conversation]?.members.values ?? [:].values).filter { $0.version > sequence }
        return Array(changed.sorted { ($0.version, $0.user.text) < ($1.version, $1.user.text) }.prefix(limit))
    }
    func lastNumber(of conversation: ConversationID, at sequence: Int64) -> Int64 {
        rows[conversation]?.born.filter { $0.value <= sequence }.keys.max() ?? 0
    }
    func changedMessages(
        in conversation: ConversationID, after sequence: Int64, numbers: ClosedRange<Int64>, limit: Int
    ) -> [Message] {
        guard let row = rows[conversation] else { return [] }
        let changed = row.messages.values.map(\.message).filter {
            $0.version > sequence && $0.version > row.born[$0.number] ?? 0 && numbers.contains($0.number)
        }
        return Array(changed.sorted { $0.version < $1.version }.prefix(limit))
    }
    func noticeAuthors(in conversation: ConversationID, after number: Int64, since: Timestamp) -> [UserID] {
        let notices = rows[conversation]?.messages.values.map(\.message).filter {
            $0.kind == .notice && $0.number > number && $0.sentAt > since
        }
        return notices?.sorted { $0.number < $1.number }.map(\.author) ?? []
    }
    func memberCount(of conversation: ConversationID) -> Int {
        rows[conversation]?.members.values.count { $0.state != .left } ?? 0
    }
    func nextOwner(of conversation: ConversationID) -> Member? {
        let members = (rows[conversation]?.members.values.filter { $0.state == .member } ?? [])
        let next = successor(among: members.map { (user: $0.user.text, role: $0.role, joinedAt: $0.joinedAt) })
        return members.first { $0.user.text == next }
    }
    func save(_ member: Member, of conversation: ConversationID) { rows[conversation]?.members[member.user] = member }
    func spans(of user: UserID, in conversation: ConversationID) -> MembershipSpans {
        rows[conversation]?.spans[user] ?? MembershipSpans()
    }
    func save(_ spans: MembershipSpans, of user: UserID, in conversation: ConversationID) {
        rows[conversation]?.spans[user] = spans
    }

    func message(_ number: Int64, in conversation: ConversationID) -> Message? {
        rowsRead += 1
        return rows[conversation]?.messages[number]?.message
    }
    func messages(
        in conversation: ConversationID, _ numbers: ClosedRange<Int64>, visibleTo user: UserID, isNewestFirst: Bool,
        limit: Int
    ) -> [Message] {
        let found = (rows[conversation]?.messages.values.map(\.message) ?? [])
            .filter { numbers.contains($0.number) && $0.isVisible(to: user) }
            .filter { !ownRows(of: user, in: conversation, $0.number...$0.number).contains(where: \.isHidden) }
            .sorted { isNewestFirst ? $0.number > $1.number : $0.number < $1.number }
        return Array(found.prefix(limit))
    }
    func message(sentWith clientID: ClientID, by author: UserID) -> (message: Message, digest: [UInt8])? {
        rows.values.flatMap(\.messages.values).first {
            $0.message.clientID == clientID && $0.message.author == author
        }
    }
    func messageCount(by author: UserID, in conversation: ConversationID, limit: Int) -> Int {
        min(
            limit,
            rows[conversation]?.messages.values.count { $0.message.author == author && $0.message.kind != .call } ?? 0)
    }
    func messages(by author: UserID, after clientID: ClientID?, limit: Int) -> [Message] {
        let all = rows.values.flatMap(\.messages.values).map(\.message).filter { $0.author == author }
            .sorted { $0.clientID.text < $1.clientID.text }
        return Array(all.filter { $0.clientID.text > clientID?.text ?? "" }.prefix(limit))
    }
    func eraseDigest(of number: Int64, in conversation: ConversationID) {
        rows[conversation]?.messages[number]?.digest = []
    }
    func insert(_ message: Message, digest: [UInt8]) {
        rows[message.conversation]?.born[message.number] = message.version
        rows[message.conversation]?.messages[message.number] = (message, digest)
    }
    func update(_ message: Message) { rows[message.conversation]?.messages[message.number]?.message = message }
    func edits(of number: Int64, in conversation: ConversationID) -> [MessageEdit] {
        rows[conversation]?.edits[number] ?? []
    }
    func insert(_ edit: MessageEdit, of number: Int64, in conversation: ConversationID) {
        rows[conversation]?.edits[number, default: []].append(edit)
    }
    func edits(
        of number: Int64, in conversation: ConversationID, after version: Int64, limit: Int
    ) -> [MessageEdit] {
        Array(edits(of: number, in: conversation).filter { $0.textVersion > version }.prefix(limit))
    }
    func editCount(of number: Int64, in conversation: ConversationID) -> Int {
        edits(of: number, in: conversation).count
    }
    func edit(
        of number: Int64, in conversation: ConversationID, upTo version: Int64, includingWithheld: Bool
    ) -> (edit: MessageEdit, isFirst: Bool)? {
        let edits = edits(of: number, in: conversation)
        return edits.lastIndex { $0.textVersion <= version && (includingWithheld || !$0.isWithheld) }.map {
            (edits[$0], $0 == 0)
        }
    }
    func removeEdits(of number: Int64, in conversation: ConversationID) -> Int {
        rows[conversation]?.edits.removeValue(forKey: number)?.reduce(0) { $0 + $1.text.count } ?? 0
    }
    private var expiring: [Message] {
        rows.values.flatMap(\.messages.values).map(\.message).filter { $0.deletedAt == nil && $0.expiresAt != nil }
    }
    func dueMessages(limit: Int) -> [Message] {
        let due = expiring.filter { $0.isExpired(at: now) }
        return Array(due.sorted { ($0.expiresAt ?? now, $0.number) < ($1.expiresAt ?? now, $1.number) }.prefix(limit))
    }
    func nextExpiry() -> Timestamp? { expiring.compactMap(\.expiresAt).min() }
}

// Scheduled messages.
extension InMemoryMessagingStore {
    func scheduled(_ clientID: ClientID, by author: UserID) -> ScheduledMessage? {
        scheduled.first { $0.clientID == clientID && $0.author == author }
    }
    func scheduled(by author: UserID, in conversation: ConversationID, limit: Int) -> [ScheduledMessage] {
        let found = scheduled.filter { $0.author == author && $0.conversation == conversation }
        let sorted = found.sorted { ($0.sendAt, $0.clientID.text) < ($1.sendAt, $1.clientID.text) }
        return Array(sorted.prefix(limit))
    }
    func scheduledSummary(of author: UserID, in conversation: ConversationID) -> ScheduledSummary {
        let found = scheduled(by: author, in: conversation, limit: .max)
        return ScheduledSummary(
            count: found.count, failed: found.count { $0.failure != nil }, counter: found.map(\.counter).max() ?? 0)
    }
    func scheduledCount(by author: UserID, limit: Int) -> Int { min(limit, scheduled.count { $0.author == author }) }
    func dueScheduled(limit: Int) -> [ScheduledMessage] {
        let due = scheduled.filter { $0.failure == nil && $0.sendAt <= now }
        return Array(due.sorted { $0.sendAt < $1.sendAt }.prefix(limit))
    }
    func nextScheduled() -> Timestamp? { scheduled.filter { $0.failure == nil }.map(\.sendAt).min() }
    func save(_ message: ScheduledMessage) {
        removeScheduled(message, counter: message.counter)
        scheduled.append(message)
    }
    func removeScheduled(_ message: ScheduledMessage, counter: Int64) {
        scheduled.removeAll { $0.clientID == message.clientID && $0.author == message.author }
    }
    func removeScheduled(by author: UserID, in conversation: ConversationID, counter: Int64) {
        scheduled.removeAll { $0.author == author && $0.conversation == conversation }
    }
}

extension ConversationCommands {
    /// Without notices, so that numbers are those of what people wrote.
    static func quiet(
        _ limits: ConversationLimits = ConversationLimits(), analyzer: TextAnalyzer = TextAnalyzer()
    ) -> Self {
        var limits = limits
        limits.notices = 0
        return Self(limits: limits, analyzer: analyzer)
    }
}

/// Some people and what they do.
struct Chat {
    let store = InMemoryMessagingStore()
    var commands: ConversationCommands
    let people: [UserID]

    /// - Parameter notices: whether changes are told by messages.
    init(people count: Int, areFriends: Bool = true, notices: Bool = false) {
        commands = notices ? ConversationCommands() : .quiet()
        people = (0..<count).map { .make(at: Timestamp(milliseconds: Int64($0))) }
        guard areFriends else { return }
        for one in people { for other in people where one != other { store.friends.insert([one, other]) } }
    }

    func newID<Entity>() -> Identifier<Entity> { .make(at: store.now) }

    func group(_ others: [Int], name: String? = nil) throws -> ConversationID {
        try commands.createGroup(
            name: name, members: others.map { people[$0] }, id: newID(), by: people[0], in: store
        ).conversation.id
    }

    @discardableResult
    func send(_ text: String, to id: ConversationID, by person: Int, replyTo: Int64? = nil) throws -> SeenMessage {
        try commands.send(
            OutgoingMessage(clientID: newID(), text: MessageText(text), replyTo: replyTo, digest: Array(text.utf8)),
            to: id, by: people[person], in: store
        ).message
    }

    func page(_ anchor: PageAnchor = .newest, of id: ConversationID, limit: Int = 100, by person: Int) throws
        -> MessagePage
    {
        try commands.page(anchor, of: id, limit: limit, by: people[person], in: store)
    }

    func texts(_ id: ConversationID, by person: Int) throws -> [String] {
        try page(of: id, by: person).messages.map { $0.text ?? "" }
    }
}

/// The kind of the problem that `body` throws; nil if it throws none.
func problem(_ body: () throws -> Void) -> Problem.Kind? {
    do {
        try body()
        return nil
    } catch {
        return (error as? Problem)?.kind
    }
}
