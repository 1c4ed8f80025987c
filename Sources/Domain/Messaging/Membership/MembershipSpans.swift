/// Which messages of a conversation a member may see: those of the spans between joining and leaving.
///
/// A span is the numbers after `from` up to `until`, or without an end. Returning adds one; clearing the conversation
/// for the user themselves raises `from` of the latest and removes the others. Spans are in order, apart from each
/// other, and only the last one may be open.
package struct MembershipSpans: Hashable, Sendable {
    package struct Span: Hashable, Sendable {
        /// The last message before it; 0 for the beginning of the conversation.
        package var from: Int64
        /// Its last message; nil while it is open.
        package var until: Int64?
        /// The conversation's sequence when it was closed: what changed later is not seen, but for deletions.
        package var untilSequence: Int64?

        package init(from: Int64, until: Int64? = nil, untilSequence: Int64? = nil) {
            self.from = from
            self.until = until
            self.untilSequence = untilSequence
        }

        package func contains(_ number: Int64) -> Bool { number > from && until.map { number <= $0 } ?? true }
    }

    /// The maximum. A user who leaves and returns more often loses the oldest spans.
    package static let maxCount = 64

    package private(set) var spans: [Span]

    package init(_ spans: [Span] = []) { self.spans = spans }

    /// Whether the member is in the conversation now.
    package var isOpen: Bool { spans.last.map { $0.until == nil } ?? false }

    /// What unread messages come after, unless they were read: the beginning of the latest span.
    package var from: Int64 { spans.last?.from ?? 0 }

    package func contains(_ number: Int64) -> Bool { span(of: number) != nil }

    package func span(of number: Int64) -> Span? { spans.last { $0.contains(number) } }

    /// The numbers of `range` that may be seen, in order.
    package func visible(in range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
        spans.compactMap { span in
            let (first, last) = (max(range.lowerBound, span.from + 1), min(range.upperBound, span.until ?? .max))
            return first <= last ? first...last : nil
        }
    }

    /// The newest message that may be seen, of a conversation with `lastNumber` messages; nil if there is none.
    package func newest(lastNumber: Int64) -> Int64? {
        guard lastNumber > 0 else { return nil }
        return visible(in: 1...lastNumber).last?.upperBound
    }

    /// The member joins, or returns, after the conversation's last message. Joining twice changes nothing.
    package mutating func join(after lastNumber: Int64) {
        guard !isOpen else { return }
        // A user who left and returned with no message in between has missed nothing.
        if let last = spans.last, last.until == lastNumber {
            spans[spans.count - 1].until = nil
            spans[spans.count - 1].untilSequence = nil
            return
        }
        spans.append(Span(from: lastNumber))
        if spans.count > Self.maxCount { spans.removeFirst(spans.count - Self.maxCount) }
    }

    /// The member leaves, or is removed. Leaving twice changes nothing.
    package mutating func leave(after lastNumber: Int64, sequence: Int64) {
        guard isOpen, let last = spans.last else { return }
        guard last.from < lastNumber else {
            // There was nothing to see in it.
            spans.removeLast()
            return
        }
        spans[spans.count - 1] = Span(from: last.from, until: lastNumber, untilSequence: sequence)
    }

    /// Hides everything up to a message from this member, for ever.
    package mutating func clear(after number: Int64) {
        spans = spans.compactMap { span in
            guard span.until.map({ $0 > number }) ?? true else { return nil }
            var left = span
            left.from = max(span.from, number)
            return left
        }
    }
}
