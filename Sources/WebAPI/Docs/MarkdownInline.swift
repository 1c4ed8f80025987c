/// What stands within a paragraph: `code`, **strong**, *emphasis*, and [links](/docs/errors).
struct MarkdownInline {
    private var rest: Substring
    private var html = HTML()

    private init(_ text: some StringProtocol) { rest = Substring(text) }

    /// - Throws: `MarkdownError` for a construct that has a beginning and no end.
    static func html(_ text: some StringProtocol) throws(MarkdownError) -> HTML {
        var parser = Self(text)
        try parser.parse()
        return parser.html
    }

    /// The text without its marks, for titles and the search.
    static func plain(_ text: some StringProtocol) -> String {
        var result = ""
        var rest = Substring(text)
        while let character = rest.popFirst() {
            if character == "[", let link = Self.link(in: rest) {
                result += plain(link.text)
                rest = link.rest
            } else if character != "`", character != "*" {
                result.append(character)
            }
        }
        return result
    }

    private mutating func parse() throws(MarkdownError) {
        while let character = rest.first {
            switch character {
            case "`": html.code(String(try spanned("`")))
            case "*" where rest.hasPrefix("**"):
                let inner = try Self.html(spanned("**"))
                html.element("strong", inner)
            case "*" where Self.opensEmphasis(rest):
                let inner = try Self.html(spanned("*"))
                html.element("em", inner)
            case "[":
                if let link = Self.link(in: rest.dropFirst()) {
                    let inner = try Self.html(link.text)
                    html.element("a", [("href", String(link.address))], inner)
                    rest = link.rest
                } else {
                    copy(character)
                }
            default: copy(character)
            }
        }
    }

    private mutating func copy(_ character: Character) {
        html.add(String(character))
        rest.removeFirst()
    }

    /// What stands between two marks, after which parsing goes on.
    private mutating func spanned(_ mark: String) throws(MarkdownError) -> Substring {
        let inner = rest.dropFirst(mark.count)
        guard let end = inner.firstRange(of: mark), end.lowerBound > inner.startIndex else {
            throw MarkdownError(reason: "\(mark) without an end in: \(rest.prefix(60))")
        }
        rest = inner[end.upperBound...]
        return inner[..<end.lowerBound]
    }

    /// A star before a space is a star.
    private static func opensEmphasis(_ text: Substring) -> Bool {
        guard let next = text.dropFirst().first else { return false }
        return !next.isWhitespace
    }

    /// The link whose text begins here, after its bracket; nil if it is none.
    private static func link(in text: Substring) -> (text: Substring, address: Substring, rest: Substring)? {
        guard let middle = text.firstRange(of: "]("), let end = text[middle.upperBound...].firstIndex(of: ")") else {
            return nil
        }
        let name = text[..<middle.lowerBound]
        guard !name.contains("["), !name.contains("]") else { return nil }
        return (name, text[middle.upperBound..<end], text[text.index(after: end)...])
    }
}
