import Languages
import Messaging
import Model

/// What several sends of one transaction share: rows that none of them changes are read once, and messages are inserted
/// several at a time. Only sends that are plain are among them: see `NewMessage.isPlain`.
final class SharedSends {
    struct Membership: Hashable {
        var user: UserID
        var conversation: ConversationID
    }

    struct Block: Hashable {
        var user: UserID
        var blocker: UserID
    }

    struct ClientKey: Hashable {
        var author: UserID
        var clientID: ClientID
    }

    var members: [Membership: Member?] = [:]
    var spans: [Membership: MembershipSpans] = [:]
    /// The members of conversations of two.
    var pairs: [ConversationID: [Member]] = [:]
    /// The languages of those who are active; nil of others.
    var active: [UserID: [LanguageTag]?] = [:]
    var blocked: [Block: Bool] = [:]
    /// Messages that are not inserted yet, with the digests of their requests.
    var waiting: [(message: Message, digest: [UInt8])] = []
    var waitingIndices: [ClientKey: Int] = [:]
    /// How many messages were stored, and which was the last one of each conversation.
    private(set) var count: Int64 = 0
    private(set) var last: [ConversationID: Int64] = [:]

    /// Counts a message that was stored. Alone, each would have the next counter of the store.
    func stored(_ message: SeenMessage) {
        count += 1
        last[message.conversation] = count
    }
}

extension StoreTransaction {
    /// A value that the sends of this transaction share.
    func shared<Key: Hashable, Value>(
        _ values: ReferenceWritableKeyPath<SharedSends, [Key: Value]>, _ key: Key, _ read: () throws -> Value
    ) throws -> Value {
        if let known = sends?[keyPath: values][key] { return known }
        let value = try read()
        sends?[keyPath: values][key] = value
        return value
    }

    /// The message that waits, with the digest of its request.
    func waitingMessage(sentWith clientID: ClientID, by author: UserID) -> (message: Message, digest: [UInt8])? {
        guard let sends, let index = sends.waitingIndices[.init(author: author, clientID: clientID)] else { return nil }
        return sends.waiting[index]
    }

    func wait(toInsert message: Message, digest: [UInt8]) -> Bool {
        guard let sends else { return false }
        sends.waitingIndices[.init(author: message.author, clientID: message.clientID)] = sends.waiting.count
        sends.waiting.append((message, digest))
        return true
    }

    /// Inserts what waits, several rows with one statement.
    func insertWaitingMessages() throws {
        guard let sends, !sends.waiting.isEmpty else { return }
        for batch in exchange(&sends.waiting, with: []).batches { try insert(batch) }
        sends.waitingIndices = [:]
    }
}
