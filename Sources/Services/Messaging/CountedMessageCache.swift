import Messaging
import Model
import Storage
import Synchronization

/// The newest messages of large groups that changed last, for the counts in the inbox rows of all listeners.
package final class CountedMessageCache: Sendable {
    /// In smaller conversations, counting for each member costs less than holding them here.
    static let minMembers = 50
    private static let maxConversations = 32

    private struct Entry {
        let epoch: String
        let sequence: Int64
        let messages: CountedMessages
    }
    private let entries = Mutex<[ConversationID: Entry]>([:])

    package init() {}

    /// Those of a conversation as it is in a transaction; nil where there is no need of them.
    func messages(
        of conversation: Conversation, _ commands: ConversationCommands, in store: StoreTransaction
    ) throws -> CountedMessages? {
        guard conversation.memberCount >= Self.minMembers else { return nil }
        let epoch = try store.epoch()
        let known = entries.withLock { $0[conversation.id] }
        if let known, known.epoch == epoch, known.sequence == conversation.sequence,
            known.messages.expiresAt.map({ $0 > store.now }) ?? true
        {
            return known.messages
        }
        let messages = try commands.countedMessages(in: conversation.id, store: store)
        entries.withLock { entries in
            if entries.count >= Self.maxConversations, entries[conversation.id] == nil, let other = entries.keys.first {
                entries[other] = nil
            }
            entries[conversation.id] = Entry(epoch: epoch, sequence: conversation.sequence, messages: messages)
        }
        return messages
    }
}
