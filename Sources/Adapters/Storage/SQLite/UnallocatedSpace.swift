/// The unallocated space of a b-tree page, between its array of cell pointers and its first cell (*Database File Format*,
/// section 1.6).
///
/// When SQLite balances pages, it leaves there what cells had that are now on another page, or deleted: `secure_delete`
/// zeroes freed cells, freeblocks, and the pages of the freelist and of overflow chains, but not this.
enum UnallocatedSpace {
    /// The sizes that a page may have.
    static let pageSizes = 512...65_536
    /// From this size on, every b-tree page with text in its unallocated space is known as one. SQLite's default is 4096.
    static let smallestDecidedSize = 2048
    /// The end of the database's own header, in front of the b-tree header of the first page.
    private static let firstPageHeader = 100
    private static let magic = Array("SQLite format 3\0".utf8)
    private static let maximumFragments = 60
    private static let minimumCell = 4
    /// The most that an extension may reserve at the end of each page.
    private static let maximumReserved = 255

    /// The range of the page's unallocated space, which may be empty; nil if this is not surely a b-tree page.
    ///
    /// Overflow pages and trunks of the freelist begin with the number of a page, whose first byte is 0 or 1 in a database
    /// of fewer than 2^25 pages: no type of a b-tree page. Pointer maps begin with a type that may be one of a b-tree
    /// page, but all their types are at most 5. Leaves of the freelist have no content.
    ///
    /// - Parameters:
    ///   - page: a whole page of a database of fewer than 2^25 pages.
    ///   - isFirst: whether it is the first page of the database.
    static func range(in page: UnsafeRawBufferPointer, isFirst: Bool) -> Range<Int>? {
        let size = page.count
        guard pageSizes.contains(size), size & (size &- 1) == 0 else { return nil }
        if isFirst { guard page.prefix(magic.count).elementsEqual(magic) else { return nil } }
        let header = isFirst ? firstPageHeader : 0
        let pointers: Int
        switch (page[header], isFirst) {
        case (0x02, false): pointers = header &+ 12
        case (0x05, _): pointers = header &+ 12
        case (0x0A, false), (0x0D, _): pointers = header &+ 8
        default: return nil
        }
        let end = pointers &+ 2 &* number(page, header &+ 3)
        let content = number(page, header &+ 5)
        // The largest page's end does not fit into two bytes.
        let start = content == 0 ? 65_536 : content
        guard page[header &+ 7] <= maximumFragments, end <= start, start <= size else { return nil }
        func isCell(_ offset: Int) -> Bool { offset >= start && offset <= size &- minimumCell }
        let freeblock = number(page, header &+ 1)
        guard freeblock == 0 || isCell(freeblock) else { return nil }
        for offset in stride(from: pointers, to: end, by: 2) where !isCell(number(page, offset)) { return nil }
        if pointers &- header == 12, !isFirst, isPerhapsPointerMap(page) { return nil }
        return end..<start
    }

    /// Whether a page could be a pointer map: entries of five bytes, which are a type of 1 to 5 and the number of a page,
    /// and zeros after the last.
    ///
    /// A b-tree page of `smallestDecidedSize` or more that could be one has nothing of value in its unallocated space: the
    /// byte at 5, the start of its content in units of 256, is at most 5, so that space ends within what is looked at, and
    /// five bytes of text would have one above 5.
    private static func isPerhapsPointerMap(_ page: UnsafeRawBufferPointer) -> Bool {
        stride(from: 0, to: page.count &- maximumReserved &- 5, by: 5).allSatisfy { page[$0] <= 5 }
    }

    /// A number of two bytes, most significant first.
    private static func number(_ page: UnsafeRawBufferPointer, _ offset: Int) -> Int {
        Int(page[offset]) << 8 | Int(page[offset &+ 1])
    }
}
