import Foundation

/// Which bytes of a database file are in use, by SQLite's *Database File Format*, section 1. The file has to be whole:
/// without a write-ahead log.
struct DatabasePages {
    enum Kind { case tree, overflow, freelist, pointerMap }

    private(set) var kinds: [Int: Kind] = [:]
    /// The unallocated space of each page of a b-tree.
    private(set) var unallocated: [Int: Range<Int>] = [:]
    /// All bytes that are in no use, but for the fewer than four between two cells, and old page numbers in a trunk of
    /// the freelist.
    private(set) var unused: [Int: [Range<Int>]] = [:]
    let bytes: [UInt8]
    let pageSize: Int
    private let usable: Int

    /// - Parameter roots: the root pages of all tables and indexes, but for the schema's.
    init(_ path: String, roots: [Int]) throws {
        bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65_536 : size
        usable = pageSize - Int(bytes[20])
        for root in [1] + roots { visit(tree: root) }
        var trunk = long(1, 32)
        while trunk != 0 {
            kinds[trunk] = .freelist
            for index in 0..<long(trunk, 4) { add(0..<pageSize, of: long(trunk, 8 + 4 * index), .freelist) }
            trunk = long(trunk, 0)
        }
        guard long(1, 52) != 0 else { return }
        let count = bytes.count / pageSize
        for page in stride(from: 2, through: count, by: usable / 5 + 1) {
            add(5 * min(usable / 5, count - page)..<pageSize, of: page, .pointerMap)
        }
    }

    var count: Int { bytes.count / pageSize }

    func page(_ number: Int) -> ArraySlice<UInt8> { bytes[(number - 1) * pageSize..<number * pageSize] }

    /// The pages that have something in their unused bytes. An overflow page that was a trunk of the freelist may still
    /// have page numbers.
    var remains: [Int] {
        unused.filter { number, ranges in
            ranges.contains { range in
                kinds[number] == .overflow
                    ? stride(from: (range.lowerBound + 3) / 4 * 4, to: pageSize, by: 4).contains {
                        long(number, $0) > count
                    }
                    : range.contains { byte(number, $0) != 0 }
            }
        }.keys.sorted()
    }

    private mutating func add(_ range: Range<Int>, of page: Int, _ kind: Kind) {
        kinds[page] = kind
        if !range.isEmpty { unused[page, default: []].append(range) }
    }

    private mutating func visit(tree number: Int) {
        let header = number == 1 ? 100 : 0
        let type = byte(number, header)
        let pointers = header + (type < 8 ? 12 : 8)
        let cells = short(number, header + 3)
        let content = short(number, header + 5)
        let space = pointers + 2 * cells..<(content == 0 ? 65_536 : content)
        unallocated[number] = space
        add(space, of: number, .tree)
        var freeblock = short(number, header + 1)
        while freeblock != 0 {
            add(freeblock + 4..<freeblock + short(number, freeblock + 2), of: number, .tree)
            freeblock = short(number, freeblock)
        }
        if type < 8 { visit(tree: long(number, header + 8)) }
        for cell in 0..<cells { visit(cell: short(number, pointers + 2 * cell), of: number, type) }
    }

    private mutating func visit(cell: Int, of page: Int, _ type: Int) {
        var offset = cell
        if type < 8 {
            visit(tree: long(page, offset))
            offset += 4
        }
        guard type != 5 else { return }
        let payload = varint(page, &offset)
        if type == 13 { _ = varint(page, &offset) }
        let most = type == 13 ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard payload > most else { return }
        let least = (usable - 12) * 32 / 255 - 23
        let fitting = least + (payload - least) % (usable - 4)
        let local = fitting <= most ? fitting : least
        var left = payload - local
        var next = long(page, offset + local)
        while next != 0 {
            let part = min(left, usable - 4)
            add(4 + part..<pageSize, of: next, .overflow)
            left -= part
            next = long(next, 0)
        }
    }

    private func byte(_ page: Int, _ offset: Int) -> Int { Int(bytes[(page - 1) * pageSize + offset]) }
    private func short(_ page: Int, _ offset: Int) -> Int { byte(page, offset) << 8 | byte(page, offset + 1) }
    private func long(_ page: Int, _ offset: Int) -> Int { short(page, offset) << 16 | short(page, offset + 2) }

    private func varint(_ page: Int, _ offset: inout Int) -> Int {
        var value = 0
        for _ in 0..<9 {
            let next = byte(page, offset)
            offset += 1
            value = value << 7 | next & 0x7F
            if next < 0x80 { break }
        }
        return value
    }
}
