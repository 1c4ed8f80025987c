import Model

/// Reads one JSON text (RFC 8259) strictly: nesting is bounded, names are unique in their object, and strings are valid
/// UTF-8 without lone surrogates. Its memory is a small multiple of the text's.
struct JSONParser {
    /// A record has an array of objects at most.
    static let maxDepth = 8

    private let bytes: [UInt8]
    private var index = 0

    /// - Throws: `invalid_request` with the offset of the byte at which the text is wrong.
    static func parse(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
        var parser = JSONParser(bytes: bytes)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.index == bytes.count else { throw parser.problem("there is something after the object") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func value(depth: Int) throws(Problem) -> JSONValue {
        guard depth <= Self.maxDepth else { throw problem("it is nested too deeply") }
        skipSpace()
        guard let first = peek else { throw problem("it ends early") }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw problem("a value was expected")
        }
    }

    private mutating func object(depth: Int) throws(Problem) -> JSONValue {
        index += 1
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw problem("a name in quotation marks was expected") }
            let name = try string()
            guard names.insert(name).inserted else { throw problem("a name is there twice") }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw problem("a colon was expected") }
            members.append(.init(name: name, value: try value(depth: depth + 1)))
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw problem("a comma or } was expected") }
        }
    }

    private mutating func array(depth: Int) throws(Problem) -> JSONValue {
        index += 1
        var values: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(values) }
        while true {
            values.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(values) }
            guard take(UInt8(ascii: ",")) else { throw problem("a comma or ] was expected") }
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(Problem) -> JSONValue {
        for offset in 0..<text.utf8CodeUnitCount {
            guard take(text.utf8Start[offset]) else { throw problem("a value was expected") }
        }
        return value
    }

    /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
    private mutating func number() throws(Problem) -> JSONValue {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard isInteger, let value = Int64(String(decoding: bytes[start..<index], as: UTF8.self)) else {
            return .otherNumber
        }
        return .integer(value)
    }

    private mutating func digits() throws(Problem) {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw problem("a digit was expected") }
    }

    private mutating func string() throws(Problem) -> String {
        index += 1
        var content: [UInt8] = []
        var start = index
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                content += bytes[start..<index]
                index += 1
                guard let text = String(validating: content, as: UTF8.self) else {
                    throw problem("the string before it is not UTF-8")
                }
                return text
            case UInt8(ascii: "\\"):
                content += bytes[start..<index]
                index += 1
                content += Array(String(try escape()).utf8)
                start = index
            case ..<0x20: throw problem("a control character must be escaped")
            default: index += 1
            }
        }
        throw problem("a string has no end")
    }

    private mutating func escape() throws(Problem) -> Unicode.Scalar {
        let byte = peek
        index += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar()
        default: throw problem("an escape is unknown")
        }
    }

    /// Four hexadecimal digits, or a pair of surrogates.
    private mutating func scalar() throws(Problem) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(UInt32(first)) { return scalar }
        guard (0xD800...0xDBFF).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw problem("a surrogate is alone")
        }
        let second = try codeUnit()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + UInt32(first & 0x3FF) << 10 + UInt32(second & 0x3FF))
        else { throw problem("a surrogate is alone") }
        return scalar
    }

    private mutating func codeUnit() throws(Problem) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Self.hexadecimal(byte) else {
                throw problem("\\u has four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        default: nil
        }
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private func problem(_ what: String) -> Problem {
        Problem(.invalidRequest, "This is not a JSON object: at byte \(min(index, bytes.count) + 1), \(what).")
    }
}
