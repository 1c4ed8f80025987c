/// Which part of a file a request asks for (RFC 9110 section 14).
enum ByteRange: Hashable, Sendable {
    case whole
    case part(Range<Int>)
    /// Beyond the file's end.
    case unsatisfiable

    /// Reads `Range` for a file of so many bytes. One range is served; what cannot be read, is of another unit, or asks for
    /// several is answered with the whole, as section 14.2 allows.
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

    /// Nil for what is no number. More than any file has is the most there can be.
    private static func number(_ text: Substring) -> Number? {
        guard !text.isEmpty else { return .absent }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return .value(Int(text) ?? .max)
    }
}
