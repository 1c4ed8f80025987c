/// Numbered placeholders for statements with lists.
enum Placeholders {
    /// `(?2, ?3, ?4)`
    static func list(_ count: Int, from first: Int = 1) -> String {
        "(" + (0..<count).map { "?\($0 + first)" }.joined(separator: ", ") + ")"
    }

    /// `(?1, ?2), (?3, ?4)`
    static func rows(_ count: Int, of columns: Int) -> String {
        (0..<count).map { list(columns, from: $0 * columns + 1) }.joined(separator: ", ")
    }
}

extension Array {
    /// The rows of a long insert in batches of at most eight, so that the database compiles and caches only eight
    /// statements.
    var batches: [ArraySlice<Element>] {
        stride(from: 0, to: count, by: 8).map { self[$0..<Swift.min($0 + 8, count)] }
    }
}
