import Foundation

/// What an endpoint holds of its user's conversations.
struct MessagingState {
    /// Whose conversations these are; nil before that is known.
    var owner: UserID?
    var store: ConversationStore?
    /// The cache could not be written: from then on it is left as it is, so that it has no holes.
    var isCacheBroken = false
    var queue = WriteQueue(seed: .random(in: 0...UInt64.max))
    var queueTimer: (deadline: Int64, task: Task<Void, Never>)?
    var expiryTimer: (at: Date, task: Task<Void, Never>)?
    var inbox = InboxState()
    /// Whether the stream of the inbox is open.
    var isInboxOpen = false
    /// Signals a change of the inbox or the queue. Like the friends, it outlives sign-ins.
    let inboxUpdates = Broadcast<Void>(limit: 1)
    /// The conversations that the app reads.
    var open: [ConversationID: OpenConversation] = [:]
    /// The threads and runs of the assistant that are gone: what a late response has of them is not stored.
    var erased: Set<String> = []
    /// The places of runs in their batches and threads, as responses have them.
    var runOrder: [AssistantRunID: Int] = [:]
    /// The conversations in which the app shows who is writing.
    var typing: [ConversationID: RealtimeEndpoint.OpenTyping] = [:]
}

/// A conversation that the app reads.
final class OpenConversation {
    /// At most so many messages are held of a conversation whose newest ones are shown.
    static let heldMessages = 4_000

    var state: ConversationState
    var marks = MarksState()
    var translations = TranslationsState()
    let updates = Broadcast<Void>(limit: 1)
    /// Whether the stream is open.
    var isOpen = false
    /// Whether the marks of now have come since the connection began.
    var areMarksKnown = false
    /// The number that the app looks at, rather than the newest.
    var focus: Int?
    /// Why it cannot be read.
    var problem: Problem?
    var draft: String?
    /// Whose profiles were asked for.
    var askedPeople: Set<UserID> = []
    var isRefreshing = false

    init(_ state: ConversationState) { self.state = state }

    /// The run of numbers that is shown: around the focus, or up to the newest.
    var run: (first: Int, last: Int, isNewest: Bool)? {
        let ranges = state.ranges
        guard !ranges.all.isEmpty else { return nil }
        let index = focus.flatMap { ranges.index(of: $0) } ?? ranges.all.count - 1
        let (first, last) = ranges.run(around: index)
        return (first, last, last == ranges.last?.last)
    }
}
