import Calls
import Messaging
import Model
import Storage

/// What documents have to say that are stored as they are sent, counted again from what they are made of.
struct StoredState {
    let store: StoreTransaction
    let user: UserID

    /// - Parameter messages: that the user sees.
    func violations(of messages: [Message], in id: ConversationID) throws -> [String] {
        let spans = try store.spans(of: user, in: id)
        // Who has left sees texts alone.
        return try messages.filter { $0.deletedAt == nil && spans.span(of: $0.number)?.until == nil }
            .flatMap { try reactionViolations(of: $0) + callViolations(of: $0) }
    }

    private func reactionViolations(of message: Message) throws -> [String] {
        let stored = try store.reactions(
            to: message.number, in: message.conversation, emoji: nil, after: 0, visibleTo: user, limit: .max)
        let expected = Dictionary(grouping: stored, by: \.emoji).mapValues { $0.map(\.user) }
        let shown = Dictionary(uniqueKeysWithValues: message.reactions.map { ($0.emoji, $0) })
        let isRight = shown.mapValues(\.users) == expected && shown.values.allSatisfy { $0.count == $0.users.count }
        return isRight ? [] : ["message \(message.number): reactions \(message.reactions), stored \(expected)"]
    }

    /// Nobody sees whether phones ring: such a part is shown as invited.
    private func callViolations(of message: Message) throws -> [String] {
        guard let shown = message.call, let call = try store.call(shown.id) else { return [] }
        let expected = call.participants.map { part in
            CallRecord.Participant(user: part.user, state: part.state.name == "ringing" ? "invited" : part.state.name)
        }
        let status =
            switch call.status {
            case .ringing: "ringing"
            case .active: "active"
            case .ended: "ended"
            }
        let isRight =
            shown.participants == expected && shown.state.rawValue == status
            && shown.reason == call.ending?.reason.rawValue
        return isRight ? [] : ["message \(message.number): call \(shown), stored \(call)"]
    }

    /// - Parameter messages: the newest that the user sees.
    func violations(of row: JSONValue, messages page: MessagePage) throws -> [String] {
        let isMember = row["membership"]?["state"]?.string == "member"
        let unread = isMember ? try page.messages.filter { try isUnread($0.message, row["membership"]) } : []
        let mentions = unread.filter { message in
            message.forwardedFrom == nil
                && message.ranges.contains { $0.kind == .mention && ($0.user == user || $0.user == nil) }
        }
        let (shown, counted) = ((row["unread"]?.integer, row["mentions"]?.integer), (unread.count, mentions.count))
        guard shown != (Int64(counted.0), Int64(counted.1)) else { return [] }
        return ["inbox: counted \(unread.map(\.number)), mentions \(mentions.map(\.number)), row \(row)"]
    }

    /// Whether a message of others came after what the user has read, and since the user is in the conversation.
    private func isUnread(_ message: Message, _ membership: JSONValue?) throws -> Bool {
        let read = membership?["read"]?.integer ?? 0
        let from = membership?["spans"]?.items.last?["from"]?.integer ?? 0
        guard message.number > max(read, from), message.author != user, message.deletedAt == nil else { return false }
        let isGroup = try store.conversation(message.conversation)?.kind == .group
        if isGroup, try store.isBlocked(message.author, by: user) { return false }
        switch message.kind {
        case .notice: return false
        case .call:
            let part = try message.call.flatMap { try store.call($0.id) }?.participants.first { $0.user == user }
            return part?.state == .missed && part?.isWithheld == false
        default: return true
        }
    }
}
