/// The part of a file that a request asks for (RFC 9110 section 14).
enum ByteRange: Hashable, Sendable {
    case whole
    case part(Range<Int>)
    /// Beyond the file's end.
    case unsatisfiable

    /// Parses `Range` for a file of `byteCount` bytes. A single range is served; for a header that is not valid, has
    /// another unit, or lists several ranges, the whole file is served, as section 14.2 allows.
    init(_ header: String?, byteCount: Int) {
        guard let header, let equals = header.firstIndex(of: "="),
            header[..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let spec = header[header.index(after: equals)...].filter { $0 != " " && $0 != "\t" }
        let ends = spec.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else {
            self = .whole
            return
        }
        switch (first, last) {
        case (.absent, .absent): self = .whole
        case (.absent, .value(let count)):
            self = count > 0 && byteCount > 0 ? .part(max(0, byteCount - count)..<byteCount) : .unsatisfiable
        case (.value(let start), .absent): self = start < byteCount ? .part(start..<byteCount) : .unsatisfiable
        case (.value(let start), .value(let end)):
            guard start <= end else {
                self = .whole
                return
            }
            self = start < byteCount ? .part(start..<min(end, byteCount - 1) + 1) : .unsatisfiable
        }
    }

    private enum Number {
        case absent
        case value(Int)
    }

    /// Nil if the text is not a number. A number that overflows is clamped.
    private static func number(_ text: Substring) -> Number? {
        guard !text.isEmpty else { return .absent }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return .value(Int(text) ?? .max)
    }
}
