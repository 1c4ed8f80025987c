/// The messages that the user has edited, deleted, hidden or cleared, of which the server does not know yet. Anything
/// that was derived from them is not shown.
struct PendingRemovals {
    private struct Key: Hashable {
        var conversation: ConversationID
        var number: Int
    }

    private var messages: Set<Key> = []
    private var cleared: [ConversationID: Int] = [:]

    init(_ entries: [WriteEntry]) {
        for entry in entries where entry.failure == nil {
            switch entry.kind {
            case .edit, .delete, .hide:
                guard case .number(let number)? = entry.target else { continue }
                messages.insert(Key(conversation: entry.conversation, number: number))
            case .clear, .deleteForMe:
                cleared[entry.conversation] = max(cleared[entry.conversation] ?? 0, entry.upTo ?? .max)
            default: continue
            }
        }
    }

    func contain(_ number: Int, in id: ConversationID) -> Bool {
        messages.contains(Key(conversation: id, number: number)) || number <= cleared[id] ?? 0
    }
}
