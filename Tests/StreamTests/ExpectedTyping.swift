import Messaging
import Model
import Storage
import TestSupport

/// Who is told that somebody writes, said again without the code that decides it: the other members, but not what somebody
/// does of two people of whom one has blocked the other, and the same at most once a second. Of who goes from one state to
/// another three a second, counted from the first, and always that they have stopped.
struct ExpectedTyping {
    private struct Key: Hashable {
        var user: UserID
        var conversation: ConversationID
    }

    private struct Notices {
        var state: TypingState
        /// In the second that began with the first of them, the last one at the end.
        var times: [Timestamp]
    }

    private var last: [Key: Notices] = [:]

    /// What each user has to receive.
    mutating func received(
        after command: StreamCommand, in harness: StreamHarness
    ) async throws -> [UserID: [EventSession.ReceivedTyping]] {
        guard command.kind == .typing, let id = harness.conversation(at: command.location) else { return [:] }
        let (user, state) = (harness.users[command.user], command.typing)
        let listeners = try await harness.store.read { store -> [UserID]? in
            let members = try store.members(of: id, after: nil, limit: 100).filter { $0.state == .member }
            guard let writer = members.first(where: { $0.user == user }), let conversation = try store.conversation(id)
            else { return nil }
            let others = members.map(\.user).filter { $0 != user }
            switch conversation.kind {
            case .ownNotes: return nil
            case .group:
                return conversation.settings.write == .members || writer.role >= .admin ? others : nil
            case .direct:
                guard let other = others.first else { return nil }
                return try store.isBlocked(user, by: other) || store.isBlocked(other, by: user) ? nil : others
            }
        }
        guard let listeners else { return [:] }
        let (key, now) = (Key(user: user, conversation: id), harness.time.now)
        let known = last[key]
        func isWithin(_ time: Timestamp?) -> Bool { time.map { now.milliseconds(since: $0) < 1000 } ?? false }
        let second = isWithin(known?.times.first) ? known?.times ?? [] : []
        if state == .stopped {
            guard known?.state ?? .stopped != .stopped else { return [:] }
        } else {
            guard second.count < 3, state != known?.state || !isWithin(known?.times.last) else { return [:] }
        }
        last[key] = Notices(state: state, times: second + [now])
        let event = EventSession.ReceivedTyping(conversation: id, user: user.text, state: state.rawValue)
        return Dictionary(uniqueKeysWithValues: listeners.map { ($0, [event]) })
    }
}
