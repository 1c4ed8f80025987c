/// Vectors of one conversation, one after the other in memory, for exact search.
package struct VectorBlock: Sendable {
    /// What a vector is of.
    package struct Entry: Hashable, Sendable {
        package var number: Int64
        package var chunk: Int64
        /// The `textVersion` that it was made from.
        package var of: Int64

        package init(number: Int64, chunk: Int64, of: Int64) {
            self.number = number
            self.chunk = chunk
            self.of = of
        }
    }

    package struct Match: Hashable, Sendable {
        package var number: Int64
        package var of: Int64
        package var similarity: Float
    }

    package let dimensions: Int
    private var values: [Int8] = []
    private var scales: [Float] = []
    /// Of each vector its number and chunk, and its `textVersion`.
    private var keys: [Int64] = []
    private var versions: [Int64] = []
    /// Where each is.
    private var positions = PositionTable()

    /// Both in one: a number has at most `maxChunks`.
    private static func key(_ number: Int64, _ chunk: Int64) -> Int64 { number &* maxChunks &+ chunk }
    private static func number(of key: Int64) -> Int64 { key / maxChunks }

    /// - Parameter capacity: for so many there is room, so that nothing is moved to a larger one.
    package init(dimensions: Int, capacity: Int = 0) {
        self.dimensions = dimensions
        values.reserveCapacity(capacity * dimensions)
        scales.reserveCapacity(capacity)
        keys.reserveCapacity(capacity)
        versions.reserveCapacity(capacity)
        positions.reserve(capacity, of: keys)
    }

    package var count: Int { keys.count }
    /// What it takes in memory, about.
    package var byteCount: Int {
        values.capacity + 4 * scales.capacity + 8 * (keys.capacity + versions.capacity) + positions.byteCount
    }

    /// Of one vector, about.
    package static func byteCount(dimensions: Int) -> Int { dimensions + 4 + 16 + 12 }

    /// Adds a vector, or replaces the one that is there. One of other dimensions is left out.
    package mutating func set(_ vector: EmbeddingVector, of entry: Entry) {
        guard vector.values.count == dimensions, (0..<Self.maxChunks).contains(entry.chunk),
            (0..<Int64.max / Self.maxChunks).contains(entry.number), keys.count < Int32.max
        else { return }
        let key = Self.key(entry.number, entry.chunk)
        if let position = positions.position(of: key, in: keys) {
            values.replaceSubrange(position * dimensions..<(position + 1) * dimensions, with: vector.values)
            scales[position] = vector.scale
            versions[position] = entry.of
        } else {
            values.append(contentsOf: vector.values)
            scales.append(vector.scale)
            keys.append(key)
            versions.append(entry.of)
            positions.addLast(of: keys)
        }
    }

    /// Removes all of a message, also from memory.
    package mutating func remove(_ number: Int64) {
        for chunk in 0..<Self.maxChunks {
            guard let position = positions.remove(Self.key(number, chunk), from: keys) else { continue }
            let last = keys.count - 1
            if position != last {
                positions.move(keys[last], to: position, in: keys)
                let moved = Array(values[last * dimensions..<(last + 1) * dimensions])
                values.replaceSubrange(position * dimensions..<(position + 1) * dimensions, with: moved)
                scales[position] = scales[last]
                keys[position] = keys[last]
                versions[position] = versions[last]
            }
            // What is left behind the end is overwritten too.
            for index in last * dimensions..<(last + 1) * dimensions { values[index] = 0 }
            values.removeLast(dimensions)
            scales.removeLast()
            keys.removeLast()
            versions.removeLast()
        }
    }

    /// Of one message.
    package static let maxChunks: Int64 = 8

    /// The messages with the most similar vectors, the most similar first: of each its best chunk.
    ///
    /// - Parameter ranges: of the numbers that are looked at, in order and without overlaps.
    package func search(_ query: EmbeddingVector, in ranges: [ClosedRange<Int64>], limit: Int) -> [Match] {
        guard query.values.count == dimensions, limit > 0, let first = ranges.first, let last = ranges.last else {
            return []
        }
        var best = BestMatches(limit: limit)
        let isOne = ranges.count == 1
        let wide = query.values.map { Int16($0) }
        values.withUnsafeBufferPointer { values in
            wide.withUnsafeBufferPointer { query in
                for position in keys.indices {
                    let number = Self.number(of: keys[position])
                    guard number >= first.lowerBound, number <= last.upperBound,
                        isOne || Self.contains(number, in: ranges)
                    else { continue }
                    let sum = Self.product(values, at: position * dimensions, query)
                    let similarity = Float(sum) * scales[position]
                    guard best.takes(similarity) else { continue }
                    best.add(Match(number: number, of: versions[position], similarity: similarity))
                }
            }
        }
        return best.sorted.map { match in
            var match = match
            match.similarity *= query.scale
            return match
        }
    }

    private static func contains(_ number: Int64, in ranges: [ClosedRange<Int64>]) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(number)
    }

    /// Exact, since no value of a vector is -128: two products of 127 · 127 fit 16 bits, of which the processor adds twice as
    /// many at once, and 4,096 are far below the largest number of 32.
    @inline(__always)
    private static func product(
        _ values: UnsafeBufferPointer<Int8>, at start: Int, _ query: UnsafeBufferPointer<Int16>
    ) -> Int32 {
        var sum: Int32 = 0
        let half = query.count / 2
        let middle = start &+ half
        for index in 0..<half {
            let first = Int16(values[start &+ index]) &* query[index]
            sum &+= Int32(first &+ Int16(values[middle &+ index]) &* query[half &+ index])
        }
        guard !query.count.isMultiple(of: 2) else { return sum }
        return sum &+ Int32(values[start &+ query.count &- 1]) &* Int32(query[query.count &- 1])
    }
}

/// The best matches that were seen, each message once.
private struct BestMatches {
    private var matches: [VectorBlock.Match] = []
    private var lowest = -Float.infinity
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    @inline(__always)
    func takes(_ similarity: Float) -> Bool { similarity > lowest }

    /// Sorts now and then, so that each costs little.
    mutating func add(_ match: VectorBlock.Match) {
        matches.append(match)
        if matches.count >= 4 * limit + 64 { shrink() }
    }

    var sorted: [VectorBlock.Match] {
        var copy = self
        copy.shrink()
        return copy.matches
    }

    private mutating func shrink() {
        matches.sort { ($1.similarity, $0.number) < ($0.similarity, $1.number) }
        var known: Set<Int64> = []
        matches.removeAll { !known.insert($0.number).inserted }
        if matches.count >= limit {
            matches.removeSubrange(limit...)
            lowest = matches[limit - 1].similarity
        }
    }
}
