/// The order of a track's encodings by quality.
///
/// Browsers list them from the lowest to the best, RFC 8853 section 5.2 in the opposite order. So the order of the
/// offer is a guess until two sizes are known: then the larger frame is the better one, and encodings of unknown size
/// keep the direction of the known ones. Of two with equal size the one with the higher bitrate is the better one.
struct LayerOrder {
    /// The indices of the encodings, the lowest first.
    private(set) var encodings: [Int]
    /// Every size is known: the order is no guess.
    private(set) var isSettled = false

    init(count: Int) {
        encodings = Array(0..<count)
    }

    func layer(of encoding: Int) -> Int {
        encodings.firstIndex(of: encoding) ?? 0
    }

    /// True when the order changed.
    ///
    /// - Parameters:
    ///   - sizes: pixels of each encoding, in the order of the offer; nil if unknown.
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
        for position in next.indices where sizes[next[position]] != nil {
            if let encoding = rest.popFirst() { next[position] = encoding }
        }
        isSettled = known.count == sizes.count
        defer { encodings = next }
        return next != encodings
    }
}
