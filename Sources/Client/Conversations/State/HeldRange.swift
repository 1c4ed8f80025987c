/// A range of a conversation's numbers of which everything that the user may see is held: a number in it without a
/// message has none to show.
struct HeldRange: Hashable, Sendable {
    var first: Int
    var last: Int
    /// The conversation's sequence up to which every change of these messages is known.
    var asOf: Int

    func contains(_ number: Int) -> Bool { first <= number && number <= last }
}

/// Ranges of one conversation, apart from each other or adjacent, in order.
struct HeldRanges: Hashable, Sendable {
    private(set) var all: [HeldRange] = []

    init(_ all: [HeldRange] = []) {
        for one in all { insert(one) }
    }

    var last: HeldRange? { all.last }

    /// The index of the range with a number.
    func index(of number: Int) -> Int? { all.firstIndex { $0.contains(number) } }

    func contains(_ number: Int) -> Bool { index(of: number) != nil }

    /// Adds a range. Of numbers that are held already, the newer copy counts.
    mutating func insert(_ new: HeldRange) {
        guard new.first <= new.last else { return }
        var rest: [HeldRange] = []
        var added = [new]
        for old in all {
            guard old.last >= new.first, old.first <= new.last else {
                rest.append(old)
                continue
            }
            if old.asOf > new.asOf {
                added = added.flatMap { Self.subtract(old, from: $0) }
                rest.append(old)
            } else {
                rest += Self.subtract(new, from: old)
            }
        }
        all = (rest + added).sorted { $0.first < $1.first }
    }

    /// Joins neighbours that are as new as `sequence`, at the position of the older one.
    mutating func join(currentAt sequence: Int) {
        var joined: [HeldRange] = []
        for range in all {
            if var before = joined.last, before.last + 1 == range.first, before.asOf >= sequence,
                range.asOf >= sequence
            {
                before.last = range.last
                before.asOf = min(before.asOf, range.asOf)
                joined[joined.count - 1] = before
            } else {
                joined.append(range)
            }
        }
        all = joined
    }

    /// Raises ranges that are known up to `after` to `upTo`; with `onlyLast`, only the last range. Changes after
    /// `after` were left out for numbers in `gap`.
    mutating func raise(after: Int, upTo: Int, onlyLast: Bool, gap: ClosedRange<Int>?) {
        let raised = onlyLast ? max(0, all.count - 1) : 0
        all =
            all[..<raised]
            + all[raised...].flatMap { old in
                guard old.asOf >= after, old.asOf < upTo else { return [old] }
                let new = HeldRange(first: old.first, last: old.last, asOf: upTo)
                guard let gap, gap.overlaps(old.first...old.last) else { return [new] }
                let stale = gap.clamped(to: old.first...old.last)
                let left = HeldRange(first: stale.lowerBound, last: stale.upperBound, asOf: old.asOf)
                return (Self.subtract(left, from: new) + [left]).sorted { $0.first < $1.first }
            }
    }

    /// Extends the last range up to a number.
    mutating func extendLast(to number: Int) {
        guard let last = all.last, number > last.last else { return }
        all[all.count - 1].last = number
    }

    /// Removes everything below a number.
    mutating func remove(below number: Int) {
        all = all.compactMap { range in
            var range = range
            range.first = max(range.first, number)
            return range.first <= range.last ? range : nil
        }
    }

    /// The run of ranges without a hole between them that contains the range at `index`.
    func run(around index: Int) -> (first: Int, last: Int) {
        var (lower, upper) = (index, index)
        while lower > 0, all[lower - 1].last + 1 == all[lower].first { lower -= 1 }
        while upper + 1 < all.count, all[upper].last + 1 == all[upper + 1].first { upper += 1 }
        return (all[lower].first, all[upper].last)
    }

    private static func subtract(_ cut: HeldRange, from range: HeldRange) -> [HeldRange] {
        guard cut.last >= range.first, cut.first <= range.last else { return [range] }
        var left: [HeldRange] = []
        if range.first < cut.first {
            left.append(HeldRange(first: range.first, last: cut.first - 1, asOf: range.asOf))
        }
        if range.last > cut.last {
            left.append(HeldRange(first: cut.last + 1, last: range.last, asOf: range.asOf))
        }
        return left
    }
}
