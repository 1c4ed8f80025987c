/// What a listener holds of a conversation, and what in its frames was not as it has to be: snapshots and rows are without
/// holes, new messages come in the order of their numbers, and none changes into another.
struct HeldConversation: Sendable {
    /// A held message: which one, and its version.
    struct Held: Hashable, Sendable {
        var clientID: UUIDBits
        var version: Int64
    }

    private(set) var epoch = ""
    private(set) var sequence: Int64 = 0
    private(set) var messages: [Int64: Held] = [:]
    /// The lowest and the highest number that was received; nothing below the lowest is held.
    private(set) var first: Int64 = 0
    private(set) var last: Int64 = 0
    /// Numbers that the server left out with notice: a client reads them as pages.
    private(set) var gaps: [ClosedRange<Int64>] = []
    /// Numbers that were passed over without notice, and have not come since.
    private(set) var missing: Set<Int64> = []
    private(set) var violations: [String] = []
    private var hasBegun = false

    /// The server cannot tell what has changed since: what is held is worth nothing.
    mutating func reset() { (hasBegun, messages, gaps, missing, first, last) = (false, [:], [], [], 0, 0) }

    /// Takes a snapshot. Without a reset before it, it continues what is held.
    mutating func take(snapshot: [SeenMessage], epoch: String, sequence: Int64) {
        if hasBegun, self.epoch == epoch, sequence < self.sequence {
            violations.append("went back from \(self.sequence) to \(sequence)")
        }
        if epoch != self.epoch { (messages, gaps, missing, first, last) = ([:], [], [], 0, 0) }
        (hasBegun, self.epoch, self.sequence) = (true, epoch, sequence)
        // The window is the newest: what is between it and what was held is to be read.
        if let lowest = snapshot.map(\.number).min(), last > 0, lowest > last + 1 {
            gaps.append((last + 1)...(lowest - 1))
        }
        _ = keep(snapshot)
    }

    /// Takes rows that cover the changes after `after`, up to `upTo`. Returns the messages that are new.
    mutating func take(
        rows: [SeenMessage], epoch: String, after: Int64, upTo: Int64, gap: ClosedRange<Int64>?
    ) -> [SeenMessage] {
        guard hasBegun else {
            violations.append("rows came before the snapshot")
            return []
        }
        if epoch != self.epoch || after > sequence || upTo < after {
            violations.append("the rows of \(epoch) \(after) to \(upTo) leave a hole after \(self.epoch) \(sequence)")
        }
        sequence = max(sequence, upTo)
        if let gap { gaps.append(gap) }
        return keep(rows)
    }

    private mutating func keep(_ received: [SeenMessage]) -> [SeenMessage] {
        var new: [SeenMessage] = []
        // Rows are in the order of their changes, and an edited message changed after it was sent.
        for message in received.sorted(by: { $0.number < $1.number }) {
            let (number, held) = (message.number, Held(clientID: message.clientID, version: message.version))
            if let known = messages[number] {
                if known.clientID != held.clientID {
                    violations.append("number \(number) was \(known.clientID.text) and is \(held.clientID.text)")
                }
                if known.version < held.version { messages[number] = held }
                continue
            }
            if number > last {
                if last > 0 { for skipped in last + 1..<number where !isInGap(skipped) { missing.insert(skipped) } }
                if first == 0 { first = number }
                last = number
            } else if number < first {
                // Of an earlier page, which the listener does not hold.
                continue
            } else if missing.remove(number) != nil, message.isUnchanged {
                violations.append("number \(number) came after \(last)")
            }
            messages[number] = held
            new.append(message)
        }
        return new
    }

    func isInGap(_ number: Int64) -> Bool { gaps.contains { $0.contains(number) } }

    /// The position by which the stream is resumed, as JSON text.
    var position: String? {
        guard hasBegun else { return nil }
        return first > 0 ? #"["\#(epoch)",\#(sequence),\#(first),\#(last)]"# : #"["\#(epoch)",\#(sequence)]"#
    }
}

/// What a listener holds of its inbox: the latest of each row.
struct HeldInbox: Sendable {
    private(set) var epoch = ""
    private(set) var sequence: Int64 = 0
    private(set) var rows: [String: InboxRow] = [:]
    private(set) var violations: [String] = []
    private var hasBegun = false

    mutating func reset() { (hasBegun, rows) = (false, [:]) }

    mutating func take(snapshot: [InboxRow], epoch: String, sequence: Int64) {
        if epoch != self.epoch { rows = [:] }
        (hasBegun, self.epoch, self.sequence) = (true, epoch, sequence)
        _ = keep(snapshot)
    }

    /// Returns the last messages that are new.
    mutating func take(rows received: [InboxRow], epoch: String, after: Int64, upTo: Int64) -> [SeenMessage] {
        if !hasBegun || epoch != self.epoch || after > sequence || upTo < after {
            violations.append("the rows of \(epoch) \(after) to \(upTo) leave a hole after \(self.epoch) \(sequence)")
        }
        sequence = max(sequence, upTo)
        return keep(received)
    }

    private mutating func keep(_ received: [InboxRow]) -> [SeenMessage] {
        received.compactMap { row in
            let known = rows[row.conversation]
            if let known, known.counter > row.counter { return nil }
            rows[row.conversation] = row
            guard let message = row.lastMessage, message.number > known?.lastMessage?.number ?? 0 else { return nil }
            return message
        }
    }

    var position: String? { hasBegun ? #"["\#(epoch)",\#(sequence)]"# : nil }
}
