/// How far a member has read and received a conversation, and what of it others are shown.
///
/// Marks only rise. What others see may be less than what was read: messages that were read while receipts were off are
/// not shown later, so that turning receipts on reveals nothing.
package struct ReadMarks: Hashable, Sendable {
    /// Numbers after `from` up to `to`, which others see as read.
    package struct Shown: Hashable, Sendable, Codable {
        package var from: Int64
        package var to: Int64

        package init(from: Int64, to: Int64) {
            self.from = from
            self.to = to
        }
    }

    /// Neighbouring intervals are one; of more than these the oldest is forgotten.
    package static let maxShown = 32

    package private(set) var read: Int64
    /// What others see as received. It does not rise while receipts are off.
    package private(set) var delivered: Int64
    package private(set) var shown: [Shown]
    /// What the member's own devices see as received: `delivered`, as it would be if nobody had blocked the member.
    package private(set) var received: Int64

    /// - Parameter received: `delivered`, if that is higher.
    package init(read: Int64 = 0, delivered: Int64 = 0, shown: [Shown] = [], received: Int64 = 0) {
        self.read = read
        self.delivered = delivered
        self.shown = shown
        self.received = max(received, delivered)
    }

    /// Raises the marks. What was read was delivered too.
    ///
    /// - Parameters:
    ///   - newRead: the last message that was read, and those before it.
    ///   - newDelivered: the last message that was received.
    ///   - from: the last message before those that the member may see now.
    ///   - newest: the newest message that the member may see: marks do not go beyond it.
    ///   - showsReceipts: whether others see what the member has read.
    ///   - isBlocked: whether others see nothing of it all the same, which the member's own devices are not to tell.
    /// - Returns: whether a mark rose.
    @discardableResult
    package mutating func raise(
        read newRead: Int64 = 0, delivered newDelivered: Int64 = 0, after from: Int64 = 0, newest: Int64,
        showsReceipts: Bool, isBlocked: Bool = false
    ) -> Bool {
        let before = self
        let reached = max(read, min(newRead, newest))
        if showsReceipts {
            received = max(received, reached > read ? reached : 0, min(newDelivered, newest))
        }
        if showsReceipts, !isBlocked {
            if reached > max(read, from) { show(from: max(read, from), to: reached) }
            delivered = max(delivered, reached > read ? reached : 0, min(newDelivered, newest))
        }
        read = reached
        return self != before
    }

    /// Leaves what others see.
    mutating func hideRead() { (read, received) = (0, delivered) }

    /// Whether others see the message as read.
    package func isShownAsRead(_ number: Int64) -> Bool { shown.contains { number > $0.from && number <= $0.to } }

    private mutating func show(from: Int64, to: Int64) {
        if let last = shown.last, last.to == from {
            shown[shown.count - 1].to = to
        } else {
            shown.append(Shown(from: from, to: to))
            // The oldest ranges are dropped and not joined: joined, they would also show the messages between them as
            // read.
            if shown.count > Self.maxShown { shown.removeFirst() }
        }
    }
}
