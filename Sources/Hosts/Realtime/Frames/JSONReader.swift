/// Why a text is not JSON, or not the JSON that was asked for.
struct JSONFault: Error, Hashable {
    var detail: String
    /// Where in the text, in bytes.
    var offset: Int
}

/// Reads JSON text (RFC 8259) from front to back, value by value, and skips what nobody asked for after checking it.
///
/// A frame's parameters are passed on as the text that they are; so no tree of values is built, and what is skipped
/// costs no memory however deep or long it is. Nesting is bounded because it is followed by recursion.
struct JSONReader {
    private let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int
    /// The last byte of the value or bracket before: tells the first member of an object from the others.
    private var previous: UInt8 = 0

    static let deepestNesting = 64

    init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = min(range?.upperBound ?? bytes.count, bytes.count)
    }

    /// What kind of value comes next.
    enum Kind { case object, array, string, number, boolean, null }

    mutating func nextKind() throws(JSONFault) -> Kind {
        skipSpace()
        guard let byte = peek else { throw fault("Here must be a value.") }
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        default: throw fault("Here must be a value.")
        }
    }

    mutating func beginObject() throws(JSONFault) {
        guard try nextKind() == .object else { throw fault("Here must be an object.") }
        consume()
    }

    /// The next key of the object that was begun, or nil at its end. Its value must then be read or skipped.
    mutating func nextKey() throws(JSONFault) -> String? {
        skipSpace()
        if peek == UInt8(ascii: "}") {
            consume()
            return nil
        }
        if previous != UInt8(ascii: "{") { try expect(UInt8(ascii: ","), "Here must be a comma or the object's end.") }
        skipSpace()
        let key = try readString()
        skipSpace()
        try expect(UInt8(ascii: ":"), "Here must be a colon.")
        return key
    }

    mutating func beginArray() throws(JSONFault) {
        guard try nextKind() == .array else { throw fault("Here must be an array.") }
        consume()
    }

    /// Whether the array that was begun has another element, which must then be read or skipped.
    mutating func hasElement() throws(JSONFault) -> Bool {
        skipSpace()
        if peek == UInt8(ascii: "]") {
            consume()
            return false
        }
        if previous != UInt8(ascii: "[") { try expect(UInt8(ascii: ","), "Here must be a comma or the array's end.") }
        return true
    }

    mutating func readInteger() throws(JSONFault) -> Int64 {
        guard try nextKind() == .number else { throw fault("Here must be a whole number.") }
        let start = position
        try skipNumber()
        guard let number = Int64(String(decoding: bytes[start..<position], as: UTF8.self)) else {
            throw JSONFault(detail: "Here must be a whole number.", offset: start)
        }
        return number
    }

    /// Checks that nothing but white space follows.
    mutating func finish() throws(JSONFault) {
        skipSpace()
        guard position == end else { throw fault("Nothing may follow the value.") }
    }

    /// Steps over the next value and returns where it stands in the bytes.
    mutating func skip(depth: Int = 0) throws(JSONFault) -> Range<Int> {
        guard depth < Self.deepestNesting else { throw fault("This is nested too deeply.") }
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
    mutating func readString() throws(JSONFault) -> String {
        skipSpace()
        guard peek == UInt8(ascii: "\"") else { throw fault("Here must be a string.") }
        let start = position + 1
        var hasEscapes = false
        try skipString(noting: &hasEscapes)
        let text = bytes[start..<(position - 1)]
        guard hasEscapes else { return String(decoding: text, as: UTF8.self) }
        return try unescaped(text)
    }

    private mutating func skipString() throws(JSONFault) {
        var hasEscapes = false
        try skipString(noting: &hasEscapes)
    }

    private mutating func skipString(noting hasEscapes: inout Bool) throws(JSONFault) {
        consume()
        while let byte = peek {
            consume()
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape()
            case ..<0x20: throw fault("Control characters must be escaped.")
            default: break
            }
        }
        throw fault("The string has no end.")
    }

    private mutating func skipEscape() throws(JSONFault) {
        guard let byte = peek else { throw fault("The string has no end.") }
        consume()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            break
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard let digit = peek, Self.hexadecimal(digit) != nil else {
                    throw fault("Here must be four hex digits.")
                }
                consume()
            }
        default: throw fault("There is no such escape.")
        }
    }

    /// Resolves escapes whose syntax was checked. A surrogate without its pair becomes U+FFFD, as in decoding UTF-8.
    private func unescaped(_ text: ArraySlice<UInt8>) throws(JSONFault) -> String {
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

    /// The character of a `\u` escape, whose digits come next; a high surrogate takes the low one that follows it along.
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
    private mutating func skipNumber() throws(JSONFault) {
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

    private mutating func skipDigits() throws(JSONFault) {
        guard let byte = peek, Self.isDigit(byte) else { throw fault("Here must be a digit.") }
        while let byte = peek, Self.isDigit(byte) { consume() }
    }

    private mutating func skipWord(_ word: StaticString) throws(JSONFault) {
        let length = word.utf8CodeUnitCount
        guard end - position >= length,
            String(decoding: bytes[position..<(position + length)], as: UTF8.self) == "\(word)"
        else { throw fault("Here must be a value.") }
        for _ in 0..<length { consume() }
    }

    private mutating func expect(_ byte: UInt8, _ detail: String) throws(JSONFault) {
        guard peek == byte else { throw fault(detail) }
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

    private func fault(_ detail: String) -> JSONFault { JSONFault(detail: detail, offset: position) }
}
