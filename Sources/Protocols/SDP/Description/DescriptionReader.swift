extension SessionDescription {
    /// More sections than this are rejected: a leg has at most 30 slots and a few tracks of its own.
    package static let maximumSections = 256

    /// Reads a description; see the type for how strict it is.
    package init(parsing text: String) throws(DescriptionError) {
        try self.init(parsing: text, isWhole: true)
    }

    /// The same from the body of a request, which may not be valid UTF-8.
    package init(parsing bytes: RawSpan) throws(DescriptionError) {
        try self.init(parsing: Self.text(of: bytes))
    }

    static func text(of bytes: RawSpan) throws(DescriptionError) -> String {
        guard bytes.byteCount <= maximumByteCount else { throw tooLong(bytes.byteCount) }
        if let text = bytes.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) { return text }
        let lines = bytes.withUnsafeBytes { Array($0) }.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let first = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        throw DescriptionError(
            line: first + 1, found: String(decoding: lines[safe: first]?.prefix(80) ?? [], as: UTF8.self),
            allowed: "UTF-8")
    }

    private static func tooLong(_ count: Int) -> DescriptionError {
        DescriptionError(line: 1, found: "\(count) bytes", allowed: "at most \(maximumByteCount) bytes")
    }

    /// A fragment, as opposed to a whole description, begins without `v=`, `o=` and `s=`.
    init(parsing text: String, isWhole: Bool) throws(DescriptionError) {
        self.init()
        lines = []
        guard text.utf8.count <= Self.maximumByteCount else { throw Self.tooLong(text.utf8.count) }
        var reader = LineReader(text)
        var seen: Set<UInt8> = []
        var section: SectionReader?
        while let line = try reader.next() {
            if isWhole, seen.isEmpty, line.letter != UInt8(ascii: "v") { throw line.error("v=0 in the first line") }
            seen.insert(line.letter)
            if line.letter == UInt8(ascii: "m") {
                if let section { sections.append(try section.finish()) }
                guard sections.count < Self.maximumSections else {
                    throw line.error("at most \(Self.maximumSections) sections")
                }
                section = try SectionReader(line)
            } else if section != nil {
                try section?.take(line)
            } else {
                try take(line)
            }
        }
        if let section { sections.append(try section.finish()) }
        for (letter, meaning) in [("v", "v=0"), ("o", "o=, the origin"), ("s", "s=, the session name")] where isWhole {
            guard letter.utf8.allSatisfy({ seen.contains($0) }) else {
                throw DescriptionError(line: reader.number &+ 1, found: "", allowed: meaning)
            }
        }
    }

    /// A line before the first section.
    private mutating func take(_ line: DescriptionLine) throws(DescriptionError) {
        switch line.letter {
        case UInt8(ascii: "v"):
            guard line.value == "0" else { throw line.error("v=0") }
        case UInt8(ascii: "o"):
            var rest = line.value
            guard let username = rest.takeWord(), let session = rest.takeWord(), let version = rest.takeWord(),
                !rest.isEmpty
            else { throw line.error("o=, a username, a session id, a version and an address") }
            origin.username = String(username)
            origin.session = String(session)
            origin.version = String(version)
            origin.address = String(rest)
        case UInt8(ascii: "s"):
            name = String(line.value)
        case UInt8(ascii: "a"):
            let (name, value) = line.value.split(at: ":")
            if try attributes.take(name, value, in: line) { return }
            switch name {
            case "ice-lite": isICELite = true
            case "group":
                let words = (value ?? "").words
                guard let semantics = words.first else { return }
                groups.append(SectionGroup(String(semantics), words.dropFirst().map { String($0) }))
            default: attributes.others.append(OtherAttribute(String(name), value.map { String($0) }))
            }
        default:
            lines.append(OtherLine(Unicode.Scalar(line.letter), String(line.value)))
        }
    }
}
