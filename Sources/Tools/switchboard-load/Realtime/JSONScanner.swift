/// Scans the members of a JSON object and skips values that are not needed. It assumes valid JSON; on other text it
/// ends early.
struct JSONScanner: ~Escapable {
    private let text: Span<UInt8>
    private var index = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = text }

    mutating func enterObject() -> Bool {
        skipSpace()
        return take(UInt8(ascii: "{"))
    }

    mutating func enterArray() -> Bool {
        skipSpace()
        return take(UInt8(ascii: "["))
    }

    /// Whether the array has another element, which is next.
    mutating func nextElement() -> Bool {
        skipSpace()
        if take(UInt8(ascii: ",")) { return true }
        return !take(UInt8(ascii: "]")) && index < text.count
    }

    /// Reads the next member's name and its colon; nil at the end of the object, which is consumed.
    mutating func nextKey() -> String? {
        skipSpace()
        _ = take(UInt8(ascii: ","))
        skipSpace()
        if take(UInt8(ascii: "}")) { return nil }
        guard let key = string() else { return nil }
        skipSpace()
        return take(UInt8(ascii: ":")) ? key : nil
    }

    /// Reads a string, without decoding its escapes.
    mutating func string() -> String? {
        skipSpace()
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = index
        skipString()
        guard index > start, index <= text.count else { return nil }
        let count = index - 1 - start
        return String(unsafeUninitializedCapacity: count) { bytes in
            for offset in 0..<count { bytes[offset] = text[start + offset] }
            return count
        }
    }

    mutating func integer() -> Int? {
        skipSpace()
        var value: Int?
        while index < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) {
            value = (value ?? 0) &* 10 &+ Int(text[index] - UInt8(ascii: "0"))
            index += 1
        }
        if value == nil { skipValue() }
        return value
    }

    mutating func boolean() -> Bool {
        skipSpace()
        let isTrue = index < text.count && text[index] == UInt8(ascii: "t")
        skipValue()
        return isTrue
    }

    /// Skips a value of any kind.
    mutating func skipValue() {
        var depth = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""):
                index += 1
                skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
            case UInt8(ascii: ","): if depth == 0 { return }
            default: break
            }
            index += 1
        }
    }

    /// Skips the rest of a string and its closing quote.
    private mutating func skipString() {
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""):
                index += 1
                return
            default: index += 1
            }
        }
        index = text.count
    }

    private mutating func skipSpace() {
        while index < text.count, text[index] <= UInt8(ascii: " ") { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < text.count, text[index] == byte else { return false }
        index += 1
        return true
    }
}
