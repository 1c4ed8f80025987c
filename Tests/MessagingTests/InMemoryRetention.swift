import Messaging
import Model

extension InMemoryMessagingStore: RetentionStore {
    func retentionMark(of conversation: ConversationID) -> RetentionMark {
        retentionMarks[conversation]
            ?? RetentionMark(
                erasedTo: 0, keptSince: rows[conversation]?.conversation.createdAt ?? Timestamp(milliseconds: 0))
    }
    func save(_ mark: RetentionMark, of conversation: ConversationID) { retentionMarks[conversation] = mark }

    func conversationsWithOldMessages(before time: Timestamp?, limit: Int) -> [ConversationID] {
        let all = rows.values.map { row in
            (row.conversation, retentionMark(of: row.conversation.id).keptSince)
        }.sorted { $0.1 < $1.1 }
        let old = all.filter { _, since in time.map { since < $0 } ?? false }.map(\.0.id)
        let due = all.filter { conversation, since in
            let days = conversation.settings.keepDays
            return days > 0 && since.adding(seconds: Int64(days) * 86_400) < now
        }.map(\.0.id)
        let ended = all.filter { conversation, since in
            guard let end = conversation.endedAt else { return false }
            return end < MessageRetention.endedBefore(now) && MessageRetention.endedBefore(since) < end
        }.map(\.0.id)
        var known: Set<ConversationID> = []
        return Array((old + due + ended).filter { known.insert($0).inserted }.prefix(limit))
    }

    func sentTimes(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) -> [(number: Int64, sentAt: Timestamp)] {
        let all = (rows[conversation]?.messages.values.map(\.message) ?? []).filter { $0.number > number }
        return all.sorted { $0.number < $1.number }.prefix(limit).map { ($0.number, $0.sentAt) }
    }
}
