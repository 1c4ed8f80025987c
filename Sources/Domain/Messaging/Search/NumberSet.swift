/// Numbers of one block of messages.
struct NumberSet {
    private static let width = 64
    private var words: [UInt64]
    private let first: Int64

    /// - Parameter range: within one block; the set has all of it.
    init(block: Int64, _ range: ClosedRange<Int64>? = nil) {
        first = block * SearchIndex.blockLength
        words = Array(repeating: 0, count: Int(SearchIndex.blockLength) / Self.width)
        if let range { insert(range) }
    }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    var min: Int64? {
        words.firstIndex { $0 != 0 }.map { first + Int64($0 * Self.width + words[$0].trailingZeroBitCount) }
    }

    var max: Int64? {
        words.lastIndex { $0 != 0 }.map { first + Int64(($0 + 1) * Self.width - 1 - words[$0].leadingZeroBitCount) }
    }

    func contains(_ number: Int64) -> Bool { bit(of: number).map { words[$0.word] & $0.bit != 0 } ?? false }

    /// Numbers of other blocks are left out.
    mutating func insert(_ number: Int64) {
        guard let (word, bit) = bit(of: number) else { return }
        words[word] |= bit
    }

    mutating func insert(_ range: ClosedRange<Int64>) {
        let block = range.clamped(to: first...(first + SearchIndex.blockLength - 1))
        guard block.overlaps(range) else { return }
        let (start, end) = (Int(block.lowerBound - first), Int(block.upperBound - first))
        for word in start / Self.width...end / Self.width {
            let low = Swift.max(start - word * Self.width, 0)
            let high = Swift.min(end - word * Self.width, Self.width - 1)
            words[word] |= UInt64.max << UInt64(low) & UInt64.max >> UInt64(Self.width - 1 - high)
        }
    }

    mutating func remove(_ number: Int64) {
        guard let (word, bit) = bit(of: number) else { return }
        words[word] &= ~bit
    }

    mutating func formIntersection(_ other: NumberSet) {
        for index in words.indices { words[index] &= other.words[index] }
    }

    mutating func formUnion(_ other: NumberSet) {
        for index in words.indices { words[index] |= other.words[index] }
    }

    mutating func popMax() -> Int64? {
        guard let number = max else { return nil }
        remove(number)
        return number
    }

    private func bit(of number: Int64) -> (word: Int, bit: UInt64)? {
        let index = number &- first
        guard (0..<SearchIndex.blockLength).contains(index) else { return nil }
        return (Int(index) / Self.width, 1 << UInt64(Int(index) % Self.width))
    }
}
