/// Why a text is not valid JSON, or has an unexpected type.
package struct JSONParseError: Error, Hashable {
    package var detail: String
    /// The position in the text, in bytes.
    package var offset: Int

    package init(detail: String, offset: Int) {
        self.detail = detail
        self.offset = offset
    }
}

/// A pull parser for JSON text (RFC 8259): reads value by value, and checks and skips unneeded ones.
///
/// A frame's parameters are passed on as text, so no tree of values is built, and skipped values cost no memory.
/// Nesting is limited because skipping is recursive.
package struct JSONReader {
    private let bytes: [UInt8]
    package private(set) var position: Int
    private let end: Int
    /// The last byte of the previous value or bracket: distinguishes the first member of an object from the others.
    private var previous: UInt8 = 0

    package static let maxNesting = 64

    package init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = min(range?.upperBound ?? bytes.count, bytes.count)
    }

    /// The type of a value.
    package enum Kind { case object, array, string, number, boolean, null }

    package mutating func nextKind() throws(JSONParseError) -> Kind {
        skipSpace()
        guard let byte = peek else { throw parseError("Expected a value.") }
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        default: throw parseError("Expected a value.")
        }
    }

    package mutating func beginObject() throws(JSONParseError) {
        guard try nextKind() == .object else { throw parseError("Expected an object.") }
        consume()
    }

    /// The next key of the object that was begun, or nil at its end. Its value must then be read or skipped.
    package mutating func nextKey() throws(JSONParseError) -> String? {
        skipSpace()
        if peek == UInt8(ascii: "}") {
            consume()
            return nil
        }
        if previous != UInt8(ascii: "{") { try expect(UInt8(ascii: ","), "Expected a comma or the end of the object.") }
        skipSpace()
        let key = try readString()
        skipSpace()
        try expect(UInt8(ascii: ":"), "Expected a colon.")
        return key
    }

    package mutating func beginArray() throws(JSONParseError) {
        guard try nextKind() == .array else { throw parseError("Expected an array.") }
        consume()
    }

    /// Whether the array that was begun has another element, which must then be read or skipped.
    package mutating func hasElement() throws(JSONParseError) -> Bool {
        skipSpace()
        if peek == UInt8(ascii: "]") {
            consume()
            return false
        }
        if previous != UInt8(ascii: "[") { try expect(UInt8(ascii: ","), "Expected a comma or the end of the array.") }
        return true
    }

    package mutating func readInteger() throws(JSONParseError) -> Int64 {
        guard try nextKind() == .number else { throw parseError("Expected an integer.") }
        let start = position
        try skipNumber()
        guard let number = Int64(String(decoding: bytes[start..<position], as: UTF8.self)) else {
            throw JSONParseError(detail: "Expected an integer.", offset: start)
        }
        return number
    }

    /// Checks that nothing but white space follows.
    package mutating func finish() throws(JSONParseError) {
        skipSpace()
        guard position == end else { throw parseError("Unexpected text after the value.") }
    }

    /// Skips the next value and returns its range in the bytes.
    package mutating func skip(depth: Int = 0) throws(JSONParseError) -> Range<Int> {
        guard depth < Self.maxNesting else { throw parseError("The nesting is too deep.") }
        let kind = try nextKind()
        let start = position
        switch kind {
        case .object:
            try beginObject()
            while try nextKey() != nil { _ = try skip(depth: depth + 1) }
        case .array:
            try beginArray()
            while try hasElement() { _ = try skip(depth: depth + 1) }
        case .string: try skipString()
        case .number: try skipNumber()
        case .boolean: try skipWord(peek == UInt8(ascii: "t") ? "true" : "false")
        case .null: try skipWord("null")
        }
        return start..<position
    }
}

// Strings.
extension JSONReader {
    package mutating func readString() throws(JSONParseError) -> String {
        skipSpace()
        guard peek == UInt8(ascii: "\"") else { throw parseError("Expected a string.") }
        let start = position + 1
        var hasEscapes = false
        try skipString(noting: &hasEscapes)
        let text = bytes[start..<(position - 1)]
        guard hasEscapes else { return String(decoding: text, as: UTF8.self) }
        return try unescaped(text)
    }

    private mutating func skipString() throws(JSONParseError) {
        var hasEscapes = false
        try skipString(noting: &hasEscapes)
    }

    private mutating func skipString(noting hasEscapes: inout Bool) throws(JSONParseError) {
        consume()
        while let byte = peek {
            consume()
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape()
            case ..<0x20: throw parseError("Control characters must be escaped.")
            default: break
            }
        }
        throw parseError("The string is not terminated.")
    }

    private mutating func skipEscape() throws(JSONParseError) {
        guard let byte = peek else { throw parseError("The string is not terminated.") }
        consume()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            break
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard let digit = peek, Self.hexadecimal(digit) != nil else {
                    throw parseError("Expected four hexadecimal digits.")
                }
                consume()
            }
        default: throw parseError("Invalid escape sequence.")
        }
    }

    /// Resolves escapes whose syntax was checked. An unpaired surrogate becomes U+FFFD, as in decoding UTF-8.
    private func unescaped(_ text: ArraySlice<UInt8>) throws(JSONParseError) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                result.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"): result.append(contentsOf: Self.character(&rest).utf8)
            default: result.append(escape)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The character of a `\u` escape, whose digits come next; a high surrogate is combined with the low one after it.
    private static func character(_ rest: inout ArraySlice<UInt8>) -> String {
        let unit = codeUnit(&rest)
        guard UTF16.isLeadSurrogate(unit), rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else {
            return String(decoding: [unit], as: UTF16.self)
        }
        var ahead = rest.dropFirst(2)
        let second = codeUnit(&ahead)
        guard UTF16.isTrailSurrogate(second) else { return String(decoding: [unit], as: UTF16.self) }
        rest = ahead
        return String(decoding: [unit, second], as: UTF16.self)
    }

    private static func codeUnit(_ rest: inout ArraySlice<UInt8>) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 { unit = unit << 4 | UInt16(rest.popFirst().flatMap(hexadecimal) ?? 0) }
        return unit
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

// Numbers, words and white space.
extension JSONReader {
    private mutating func skipNumber() throws(JSONParseError) {
        if peek == UInt8(ascii: "-") { consume() }
        if peek == UInt8(ascii: "0") {
            consume()
        } else {
            try skipDigits()
        }
        if peek == UInt8(ascii: ".") {
            consume()
            try skipDigits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            consume()
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { consume() }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(JSONParseError) {
        guard let byte = peek, Self.isDigit(byte) else { throw parseError("Expected a digit.") }
        while let byte = peek, Self.isDigit(byte) { consume() }
    }

    private mutating func skipWord(_ word: StaticString) throws(JSONParseError) {
        let length = word.utf8CodeUnitCount
        guard end - position >= length,
            String(decoding: bytes[position..<(position + length)], as: UTF8.self) == "\(word)"
        else { throw parseError("Expected a value.") }
        for _ in 0..<length { consume() }
    }

    private mutating func expect(_ byte: UInt8, _ detail: String) throws(JSONParseError) {
        guard peek == byte else { throw parseError(detail) }
        consume()
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private var peek: UInt8? { position < end ? bytes[position] : nil }

    private mutating func consume() {
        guard position < end else { return }
        previous = bytes[position]
        position += 1
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private func parseError(_ detail: String) -> JSONParseError { JSONParseError(detail: detail, offset: position) }
}
