/// Which of a track's encodings is better than which.
///
/// Browsers list them from the lowest to the best, RFC 8853 section 5.2 the other way about. So the order of the offer is
/// a guess until two sizes are known: then the larger picture is the better one, and encodings of unknown size keep the
/// direction that the known ones show. Of two that are as large as one another the one with more bits is the better one.
struct LayerOrder {
    /// The places of the encodings, the lowest first.
    private(set) var encodings: [Int]
    /// Every size is known: what is shown was not chosen by a guess.
    private(set) var isSettled = false

    init(count: Int) {
        encodings = Array(0..<count)
    }

    func layer(of encoding: Int) -> Int {
        encodings.firstIndex(of: encoding) ?? 0
    }

    /// True when the order is another one now.
    ///
    /// - Parameters:
    ///   - sizes: pixels of each encoding, in the order of the offer; nil for one that is not known.
    ///   - bitrates: in the same order.
    mutating func update(sizes: [UInt64?], bitrates: [UInt64]) -> Bool {
        let known = sizes.indices.filter { sizes[$0] != nil && bitrates.indices.contains($0) }
        guard known.count > 1, let first = known.first, let last = known.last, sizes.count == encodings.count else {
            return false
        }
        func size(_ index: Int) -> UInt64 { sizes[index] ?? 0 }
        let isBestFirst = size(first) > size(last)
        var next = isBestFirst ? Array(sizes.indices.reversed()) : Array(sizes.indices)
        let sorted = known.sorted { (size($0), bitrates[$0], $0) < (size($1), bitrates[$1], $1) }
        var rest = sorted[...]
        for place in next.indices where sizes[next[place]] != nil {
            if let encoding = rest.popFirst() { next[place] = encoding }
        }
        isSettled = known.count == sizes.count
        defer { encodings = next }
        return next != encodings
    }
}
