/// How much one search may still cost, so that it does not delay the others: counted in visited postings, of which a
/// hundred thousand take some ten milliseconds.
struct SearchBudget {
    /// A lookup in the index, with its way down the tree.
    static let lookup = 4
    /// A message that is read and compared, without its text.
    static let message = 16
    /// Bytes of a text that is compared that cost as much as a posting.
    private static let bytesCompared = 8
    /// Steps of a match that cost as much as a posting.
    private static let steps = 8
    /// Postings of a term that are visited in one block. A term with more divides too little to be worth it: rows
    /// decide.
    static let postings = 8 * Int(SearchIndex.blockLength)

    private(set) var left: Int
    private var frequencies: [Frequency]

    /// How often a condition was looked up in a block, and the postings that were visited.
    private struct Frequency {
        var lookups = 0
        var visited = 0

        /// A word without a known count is taken as neither rare nor frequent.
        var rate: Int { lookups == 0 ? 32 : visited / lookups }
    }

    init(_ cost: Int, conditions: Int) {
        left = cost
        frequencies = Array(repeating: Frequency(), count: conditions)
    }

    /// The indices of the conditions, the rarest so far first: they leave few candidates to the others.
    var order: [Int] { frequencies.indices.sorted { (frequencies[$0].rate, $0) < (frequencies[$1].rate, $1) } }

    /// - Parameter condition: the index of a condition that was looked up in a block.
    mutating func spend(onLookups count: Int, visited: Int, of condition: Int) {
        spend(count * Self.lookup + visited)
        frequencies[condition].lookups += 1
        frequencies[condition].visited += visited
    }

    var isSpent: Bool { left <= 0 }

    mutating func spend(_ cost: Int) { left -= cost }
    mutating func spend(onMatching steps: Int) { spend(steps / Self.steps) }
    mutating func spend(onComparing message: Message) {
        spend(Self.message + ((message.text ?? message.voice?.words)?.utf8.count ?? 0) / Self.bytesCompared)
    }
}
