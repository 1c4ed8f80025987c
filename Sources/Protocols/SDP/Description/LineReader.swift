/// One line of a description: a letter, an equals sign, and a value.
struct DescriptionLine {
    let number: Int
    let letter: UInt8
    let value: Substring

    func error(_ allowed: String) -> DescriptionError {
        DescriptionError(
            line: number, found: "\(Character(Unicode.Scalar(letter)))=\(value.prefix(90))", allowed: allowed)
    }
}

/// Splits a text into lines (RFC 8866 section 5). They end with CR LF, or with LF alone. Blanks at the end of a line
/// are cut, and lines with nothing else are ignored.
struct LineReader {
    private var rest: Substring.UTF8View
    private(set) var number = 0

    init(_ text: String) {
        rest = text[...].utf8
        // Programs in C may send the byte that ends their string.
        while let last = rest.last, last == 0 || last == UInt8(ascii: "\r") || last == UInt8(ascii: "\n") {
            rest = rest.dropLast()
        }
    }

    mutating func next() throws(DescriptionError) -> DescriptionLine? {
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            var line = rest[..<(end ?? rest.endIndex)]
            rest = end.map { rest[$0...].dropFirst() } ?? rest[rest.endIndex...]
            number &+= 1
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            while let last = line.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
                line = line.dropLast()
            }
            guard let letter = line.first else { continue }
            let value = line.dropFirst(2)
            guard line.dropFirst().first == UInt8(ascii: "="),
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
            else {
                throw DescriptionError(
                    line: number, found: Substring(line.prefix(90)),
                    allowed: "a lower-case letter, an equals sign, a value")
            }
            guard !value.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") }) else {
                throw DescriptionError(
                    line: number, found: Substring(line.prefix(90)), allowed: "no NUL and no CR within a line")
            }
            return DescriptionLine(number: number, letter: letter, value: Substring(value))
        }
        return nil
    }
}

// Parsing of values: by bytes, since every separator of SDP is one, in one pass.
extension Substring {
    /// The parts before and after the first `byte`; the second is nil when the byte does not occur.
    func split(at byte: UInt8) -> (Substring, Substring?) {
        guard let index = utf8.firstIndex(of: byte) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    func split(at scalar: Unicode.Scalar) -> (Substring, Substring?) {
        split(at: UInt8(truncatingIfNeeded: scalar.value))
    }

    /// Removes and returns the next word; nil at the end.
    mutating func takeWord() -> Substring? {
        while utf8.first == UInt8(ascii: " ") { self = Substring(utf8.dropFirst()) }
        guard !isEmpty else { return nil }
        let (word, after) = split(at: " ")
        self = after ?? self[endIndex...]
        return word
    }

    var words: [Substring] {
        utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
    }

    /// A number in decimal digits only; nil for a sign, a space, or one that is too large.
    func number<Number: FixedWidthInteger>(as type: Number.Type) -> Number? {
        guard !isEmpty, utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Number(self)
    }

    /// RFC 8866 section 9: printable ASCII without the separators.
    var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7E: true
                default: false
                }
            }
    }

    /// RFC 8839 section 5.4: letters, digits, `+` and `/`; and `-`, `_` and `=`, which some clients send.
    var isICEText: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F, 0x2D, 0x5F, 0x3D: true
                default: false
                }
            }
    }
}
