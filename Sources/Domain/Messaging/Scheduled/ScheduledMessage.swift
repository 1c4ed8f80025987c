package import Model

/// A message that is sent at its time. Its author alone sees it until then.
package struct ScheduledMessage: Hashable, Sendable {
    /// Why it could not be sent at its time. It is kept until its author deletes it or gives it another time.
    package struct Failure: Hashable, Sendable {
        package var kind: Problem.Kind
        package var detail: String

        package init(kind: Problem.Kind, detail: String) {
            self.kind = kind
            self.detail = detail
        }
    }

    /// Seconds from now.
    package static let bounds: ClosedRange<Int64> = 10...31_536_000

    package let conversation: ConversationID
    package let author: UserID
    /// The message is sent with it, so that it is sent once.
    package let clientID: ClientID
    package var text: String
    package var replyTo: Int64?
    package var thread: Int64?
    package var sendAt: Timestamp
    package let createdAt: Timestamp
    package var failure: Failure?
    /// Of the request, by which a repetition is told from another one.
    package let digest: [UInt8]
    /// The store's counter of one user's own data, at the last change.
    package var counter: Int64

    package init(
        conversation: ConversationID, author: UserID, clientID: ClientID, text: String, replyTo: Int64? = nil,
        thread: Int64? = nil, sendAt: Timestamp, createdAt: Timestamp, failure: Failure? = nil, digest: [UInt8],
        counter: Int64 = 0
    ) {
        self.conversation = conversation
        self.author = author
        self.clientID = clientID
        self.text = text
        self.replyTo = replyTo
        self.thread = thread
        self.sendAt = sendAt
        self.createdAt = createdAt
        self.failure = failure
        self.digest = digest
        self.counter = counter
    }

    /// - Throws: `invalid_request` of `sendAt`.
    static func check(_ sendAt: Timestamp, at now: Timestamp) throws(Problem) {
        let (first, last) = (now.adding(seconds: bounds.lowerBound), now.adding(seconds: bounds.upperBound))
        guard (first...last).contains(sendAt) else {
            throw .invalid("sendAt", "A message is sent \(bounds.lowerBound) seconds to a year from now.")
        }
    }
}

/// What an author has scheduled in a conversation: if it is another one than before, the list has changed.
package struct ScheduledSummary: Hashable, Sendable {
    package var count: Int
    /// Those that could not be sent.
    package var failed: Int
    /// The highest of theirs.
    package var counter: Int64

    package init(count: Int, failed: Int, counter: Int64) {
        self.count = count
        self.failed = failed
        self.counter = counter
    }
}

/// The storage of scheduled messages.
package protocol ScheduledStore {
    func scheduled(_ clientID: ClientID, by author: UserID) throws -> ScheduledMessage?
    /// Those of one author in a conversation by time, then by client id; counted to `limit`.
    func scheduled(by author: UserID, in conversation: ConversationID, limit: Int) throws -> [ScheduledMessage]
    func scheduledSummary(of author: UserID, in conversation: ConversationID) throws -> ScheduledSummary
    /// Of one author anywhere; counts to `limit`.
    func scheduledCount(by author: UserID, limit: Int) throws -> Int
    /// Those that are due and have not failed, the earliest first.
    func dueScheduled(limit: Int) throws -> [ScheduledMessage]
    /// When the next one is due, or should have been; nil if none is.
    func nextScheduled() throws -> Timestamp?
    /// Inserts or replaces.
    func save(_ scheduled: ScheduledMessage) throws
    /// The counter is that of this change.
    func removeScheduled(_ scheduled: ScheduledMessage, counter: Int64) throws
    func removeScheduled(by author: UserID, in conversation: ConversationID, counter: Int64) throws
}
