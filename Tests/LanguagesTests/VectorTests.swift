import Languages
import Testing

/// SplitMix64 (Steele, Lea and Flood, 2014).
private struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

/// Vectors of texts: how they are kept, and how those are found that are similar.
@Suite("Vectors") struct VectorTests {
    private static func random(_ count: Int, _ seed: inout SplitMix64) -> [Float] {
        (0..<count).map { _ in Float.random(in: -1...1, using: &seed) }
    }

    private static func cosine(_ one: [Float], _ two: [Float]) -> Double {
        func product(_ one: [Float], _ two: [Float]) -> Double {
            zip(one, two).reduce(0) { $0 + Double($1.0) * Double($1.1) }
        }
        return product(one, two) / (product(one, one) * product(two, two)).squareRoot()
    }

    @Test("a byte for each dimension says nearly the same", arguments: [8, 384, 4_096])
    func bytes(dimensions: Int) throws {
        var seed = SplitMix64(seed: UInt64(dimensions))
        for _ in 0..<50 {
            let (one, two) = (Self.random(dimensions, &seed), Self.random(dimensions, &seed))
            let (left, right) = (try #require(EmbeddingVector(one)), try #require(EmbeddingVector(two)))
            let similarity = try #require(left.similarity(to: right))
            #expect(abs(Double(similarity) - Self.cosine(one, two)) < 0.02)
            #expect(abs((left.similarity(to: left) ?? 0) - 1) < 0.02)
            #expect(EmbeddingVector(bytes: left.bytes) == left && left.bytes.count == dimensions + 4)
        }
    }

    @Test("what is no vector is none")
    func invalid() throws {
        #expect(EmbeddingVector([Float](repeating: 0, count: 384)) == nil)
        #expect(EmbeddingVector([Float](repeating: 1, count: 7)) == nil)
        #expect(EmbeddingVector([Float](repeating: 1, count: 4_097)) == nil)
        for value in [Float.nan, .infinity, -.infinity, .leastNonzeroMagnitude] {
            #expect(EmbeddingVector([Float](repeating: value, count: 8)) == nil, "\(value)")
        }
        #expect(EmbeddingVector([Float.greatestFiniteMagnitude, 0, 0, 0, 0, 0, 0, 1]) != nil)
        for bytes in [[], [0, 0, 0], Array(repeating: UInt8(0), count: 388), [0, 0, 0xC0, 0x7F] + Array(0..<8)] {
            #expect(EmbeddingVector(bytes: bytes) == nil)
        }
        let vector = try #require(EmbeddingVector((0..<8).map { Float($0) }))
        #expect(vector.similarity(to: try #require(EmbeddingVector((0..<9).map { Float($0) }))) == nil)
    }

    @Test("the most similar come first, as when all are compared one by one", arguments: [0, 500])
    func search(capacity: Int) throws {
        var seed = SplitMix64(seed: 7)
        var block = VectorBlock(dimensions: 16, capacity: capacity)
        var known: [VectorBlock.Entry: EmbeddingVector] = [:]
        for step in 0..<3_000 {
            let number = Int64.random(in: 1...400, using: &seed)
            if step % 5 == 4 {
                block.remove(number)
                known = known.filter { $0.key.number != number }
            } else {
                let chunk = Int64.random(in: 0..<3, using: &seed)
                let vector = try #require(EmbeddingVector(Self.random(16, &seed)))
                let entry = VectorBlock.Entry(number: number, chunk: chunk, of: Int64(step))
                block.set(vector, of: entry)
                known = known.filter { ($0.key.number, $0.key.chunk) != (number, chunk) }
                known[entry] = vector
            }
            guard step % 50 == 0 else { continue }
            #expect(block.count == known.count)
            let query = try #require(EmbeddingVector(Self.random(16, &seed)))
            let ranges: [ClosedRange<Int64>] = [1...100, 150...150, 200...399]
            let limit = Int.random(in: 1...40, using: &seed)
            var best: [Int64: Float] = [:]
            for (entry, vector) in known where ranges.contains(where: { $0.contains(entry.number) }) {
                let similarity = try #require(vector.similarity(to: query))
                best[entry.number] = max(best[entry.number] ?? -2, similarity)
            }
            let expected = best.values.sorted(by: >).prefix(limit)
            let found = block.search(query, in: ranges, limit: limit)
            #expect(found.count == expected.count)
            for (match, similarity) in zip(found, expected) {
                #expect(abs(match.similarity - similarity) < 1e-4 && abs((best[match.number] ?? 9) - similarity) < 1e-4)
            }
        }
        #expect(block.search(try #require(EmbeddingVector(Self.random(17, &seed))), in: [1...400], limit: 5).isEmpty)
        #expect(block.search(try #require(EmbeddingVector(Self.random(16, &seed))), in: [], limit: 5).isEmpty)
    }

    @Test(
        "the largest values are added exactly, of even and of odd numbers of dimensions",
        arguments: [8, 9, 4_095, 4_096])
    func extremes(dimensions: Int) throws {
        let ones = try #require(EmbeddingVector([Float](repeating: 1, count: dimensions)))
        let others = try #require(EmbeddingVector([Float](repeating: -1, count: dimensions)))
        var block = VectorBlock(dimensions: dimensions)
        block.set(ones, of: VectorBlock.Entry(number: 1, chunk: 0, of: 1))
        block.set(others, of: VectorBlock.Entry(number: 2, chunk: 0, of: 1))
        let found = block.search(ones, in: [1...2], limit: 2)
        #expect(found.map(\.number) == [1, 2])
        #expect(try found.map(\.similarity) == [ones, others].map { try #require($0.similarity(to: ones)) })
    }

    @Test("of a text the words are embedded, in pieces")
    func passages() {
        #expect(MaskedText("12 + 3 = 15", keeping: []).passages().isEmpty)
        let link = MaskedText("See https://example.org/a please", keeping: [4..<25])
        #expect(link.passages() == ["See   please"])
        let long = MaskedText(
            Array(repeating: "One sentence of some words.", count: 400).joined(separator: " "), keeping: [])
        let pieces = long.passages()
        #expect(pieces.count == 8 && pieces.allSatisfy { $0.unicodeScalars.count <= 800 && $0.hasSuffix(".") })
        let word = MaskedText(String(repeating: "a", count: 5_000), keeping: [])
        #expect(word.passages() == [String(repeating: "a", count: 800)])
    }
}
