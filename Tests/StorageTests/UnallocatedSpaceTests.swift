import TestSupport
import Testing
import Wire

@testable import Storage

/// What is taken for a b-tree page, and what never is.
@Suite struct UnallocatedSpaceTests {
    private func range(_ page: [UInt8], isFirst: Bool = false) -> Range<Int>? {
        page.withUnsafeBytes { UnallocatedSpace.range(in: $0, isFirst: isFirst) }
    }

    /// A leaf of a table with two cells at the end of the page.
    private func leaf(_ size: Int) -> [UInt8] {
        var page = [UInt8](repeating: 0x41, count: size)
        let cells = [size - 20, size - 40]
        let header = [0x0D, 0, 0, 0, 2, cells[1] >> 8, cells[1] & 255, 0]
        let pointers = cells.flatMap { [$0 >> 8, $0 & 255] }
        page.replaceSubrange(0..<12, with: (header + pointers).map { UInt8($0) })
        return page
    }

    @Test(arguments: [512, 1024, 4096, 65_536]) func theSpaceOfALeaf(_ size: Int) {
        #expect(range(leaf(size)) == 12..<size - 40)
    }

    @Test func anEmptyPage() {
        for size in [512, 65_536] {
            var page = [UInt8](repeating: 0, count: size)
            page[0] = 0x0A
            (page[5], page[6]) = (UInt8(size >> 8 & 255), UInt8(size & 255))
            #expect(range(page) == 8..<size)
        }
    }

    @Test func aWrongHeaderIsNoPage() {
        let page = leaf(4096)
        let wrong: [(Int, UInt8)] = [
            (0, 0x00), (0, 0x01), (0, 0x0C), (0, 0x8D),  // type
            (1, 0x01), (1, 0xFF),  // freeblock
            (3, 0x10), (4, 3),  // cells
            (6, 0xFF), (5, 0x10),  // start of the content
            (7, 61),  // fragments
            (8, 0x01), (10, 0xFF),  // pointers
        ]
        for (offset, value) in wrong {
            var other = page
            other[offset] = value
            #expect(range(other) == nil, "\(offset) \(value)")
        }
        #expect(range(Array(page.dropLast())) == nil)
        #expect(range([]) == nil)
        #expect(range(page, isFirst: true) == nil)
    }

    @Test func theFirstPageBeginsWithTheDatabasesHeader() {
        var page = leaf(4096)
        page.insert(contentsOf: Array("SQLite format 3\0".utf8) + [UInt8](repeating: 13, count: 84), at: 0)
        page.removeSubrange(200..<300)
        #expect(range(page, isFirst: true) == 112..<4056)
        for type: UInt8 in [0x02, 0x0A] {
            var other = page
            other[100] = type
            #expect(range(other, isFirst: true) == nil)
        }
        page[0] = 0x0D
        #expect(range(page, isFirst: true) == nil)
    }

    /// Pointer maps of all sizes, whose numbers of pages are any, with any reserved bytes at the end.
    @Test func aPointerMapIsNoPage() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<20_000 {
            let size = 512 << Int.random(in: 0..<4, using: &random)
            let reserved = Int.random(in: 0..<256, using: &random)
            var page = [UInt8](repeating: 0, count: size)
            let count = Int.random(in: 1...(size - reserved) / 5, using: &random)
            // A few bits, so that many look like a header.
            let mask = UInt32.random(in: 0 ... .max, using: &random) & UInt32.random(in: 0 ... .max, using: &random)
            for entry in 0..<count {
                let parent = UInt32.random(in: 0 ... .max, using: &random) & mask
                page[5 * entry] = entry == 0 ? [2, 5][Int(parent & 1)] : UInt8.random(in: 1...5, using: &random)
                for byte in 0..<4 { page[5 * entry + 1 + byte] = UInt8(truncatingIfNeeded: parent >> (24 - 8 * byte)) }
            }
            for offset in size - reserved..<size { page[offset] = UInt8.random(in: 0...255, using: &random) }
            #expect(range(page) == nil, "seed \(seed)")
        }
    }

    /// An overflow page or a trunk of the freelist whose other bytes, which a client may choose, are those of a leaf.
    @Test func anOverflowPageOfASmallDatabaseIsNoPage() {
        var page = leaf(4096)
        for next: [UInt8] in [[0, 0, 0, 0], [0, 13, 0, 0], [0, 255, 255, 255], [1, 0, 0, 0], [1, 255, 255, 255]] {
            page.replaceSubrange(0..<4, with: next)
            #expect(range(page) == nil)
        }
    }

    /// Any bytes: the space is within the page and behind its header, and nothing traps.
    @Test func anyBytes() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        var accepted = 0
        for _ in 0..<50_000 {
            var page = leaf(512)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                page[Int.random(in: 0..<16, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            page[0] = [2, 5, 10, 13][Int.random(in: 0..<4, using: &random)]
            guard let range = range(page) else { continue }
            accepted += 1
            #expect(range.lowerBound >= 8 && range.upperBound <= 512, "seed \(seed)")
        }
        #expect(accepted > 1000, "seed \(seed)")
    }
}
