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
    }

    var now = Timestamp(milliseconds: 1_800_000_000_000)
    var rows: [ConversationID: Row] = [:]
    var inactive: Set<UserID> = []
    /// The blocked and the blocker.
    var blocks: Set<[UserID]> = []
    var friends: Set<Set<UserID>> = []

    func isActive(_ user: UserID) -> Bool { !inactive.contains(user) }
    func isBlocked(_ user: UserID, by blocker: UserID) -> Bool { blocks.contains([user, blocker]) }
    func areFriends(_ one: UserID, _ other: UserID) -> Bool { friends.contains([one, other]) }

    func conversation(_ id: ConversationID) -> Conversation? { rows[id]?.conversation }
    func conversation(of pair: ConversationPair) -> Conversation? {
        rows.values.first { $0.pair == pair }?.conversation
    }
    func insert(_ conversation: Conversation, pair: ConversationPair?) {
        rows[conversation.id] = Row(conversation: conversation, pair: pair)
    }
    func update(_ conversation: Conversation) { rows[conversation.id]?.conversation = conversation }
    func conversationCount(of user: UserID) -> Int { rows.values.count { $0.members[user] != nil } }

    func conversations(of user: UserID, after id: ConversationID?, limit: Int) -> [ConversationID] {
        let all = rows.values.filter { $0.members[user] != nil }.map(\.conversation.id).sorted { $0.text < $1.text }
        return Array(all.filter { $0.text > id?.text ?? "" }.prefix(limit))
    }

    func member(_ user: UserID, of conversation: ConversationID) -> Member? { rows[conversation]?.members[user] }
    func members(of conversation: ConversationID, after user: UserID?, limit: Int) -> [Member] {
        let all = (rows[conversation]?.members.values.sorted { $0.user.text < $1.user.text } ?? [])
        return Array(all.filter { $0.user.text > user?.text ?? "" }.prefix(limit))
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
        rows[conversation]?.messages[number]?.message
    }
    func messages(
        in conversation: ConversationID, _ numbers: ClosedRange<Int64>, visibleTo user: UserID, isNewestFirst: Bool,
        limit: Int
    ) -> [Message] {
        let found = (rows[conversation]?.messages.values.map(\.message) ?? [])
            .filter { numbers.contains($0.number) && $0.isVisible(to: user) }
            .sorted { isNewestFirst ? $0.number > $1.number : $0.number < $1.number }
        return Array(found.prefix(limit))
    }
    func message(sentWith clientID: ClientID, by author: UserID) -> (message: Message, digest: [UInt8])? {
        rows.values.flatMap(\.messages.values).first {
            $0.message.clientID == clientID && $0.message.author == author
        }
    }
    func messageCount(by author: UserID, in conversation: ConversationID, limit: Int) -> Int {
        min(limit, rows[conversation]?.messages.values.count { $0.message.author == author } ?? 0)
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
        rows[message.conversation]?.messages[message.number] = (message, digest)
    }
    func update(_ message: Message) { rows[message.conversation]?.messages[message.number]?.message = message }
    func edits(of number: Int64, in conversation: ConversationID) -> [MessageEdit] {
        rows[conversation]?.edits[number] ?? []
    }
    func insert(_ edit: MessageEdit, of number: Int64, in conversation: ConversationID) {
        rows[conversation]?.edits[number, default: []].append(edit)
    }
    func removeEdits(of number: Int64, in conversation: ConversationID) { rows[conversation]?.edits[number] = nil }
}

/// Some people and what they do.
struct Chat {
    let store = InMemoryMessagingStore()
    var commands = ConversationCommands()
    let people: [UserID]

    init(people count: Int, areFriends: Bool = true) {
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
    func send(_ text: String, to id: ConversationID, by person: Int, replyTo: Int64? = nil) throws -> Message {
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
