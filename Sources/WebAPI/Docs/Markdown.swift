/// Why a guide is not in the Markdown that is known here.
struct MarkdownError: Error, Equatable {
    var reason: String
}

/// The Markdown of the guides and of descriptions: headings, paragraphs, lists, tables, fenced code and `@example(name)`.
///
/// A strict subset of CommonMark and of GitHub's tables. What is not in it is an error and not shown by chance: all text
/// is our own, and a test renders every guide.
struct Markdown {
    struct Heading: Equatable, Sendable {
        let level: Int
        let anchor: String
        let title: String
    }

    private var lines: ArraySlice<Substring>
    private(set) var html = HTML()
    private(set) var headings: [Heading] = []
    /// The HTML of an example; nil if there is none of this name.
    private let example: (String) -> HTML?

    /// - Throws: `MarkdownError` at the first thing that is not known.
    init(_ text: String, example: @escaping (String) -> HTML? = { _ in nil }) throws(MarkdownError) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        self.example = example
        while let line = lines.first {
            if line.allSatisfy(\.isWhitespace) { lines.removeFirst() } else { try block(line) }
        }
    }

    /// A title as the fragment of an address: lowercase, with hyphens.
    static func anchor(_ title: String) -> String {
        let words = title.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
        return words.joined(separator: "-")
    }

    private mutating func block(_ line: Substring) throws(MarkdownError) {
        if line.hasPrefix("```") {
            try code(line)
        } else if line.hasPrefix("#") {
            try heading(line)
        } else if line.hasPrefix("- ") || Self.number(of: line) != nil {
            try list(isOrdered: !line.hasPrefix("- "))
        } else if line.hasPrefix("|") {
            try table()
        } else if line.hasPrefix("@") {
            try directive(line)
        } else if line.hasPrefix(">") || line.hasPrefix(" ") || line.hasPrefix("<") {
            throw MarkdownError(reason: "not known here: \(line.prefix(60))")
        } else {
            let text = paragraph()
            html.element("p", try MarkdownInline.html(text))
        }
    }

    private mutating func heading(_ line: Substring) throws(MarkdownError) {
        lines.removeFirst()
        let level = line.prefix { $0 == "#" }.count
        let title = line.dropFirst(level)
        guard (1...3).contains(level), title.first == " " else {
            throw MarkdownError(reason: "headings have one to three # and a space: \(line.prefix(60))")
        }
        let text = MarkdownInline.plain(title.dropFirst())
        let heading = Heading(level: level, anchor: Self.anchor(text), title: text)
        guard !headings.contains(where: { $0.anchor == heading.anchor }) else {
            throw MarkdownError(reason: "two headings are \(text)")
        }
        headings.append(heading)
        html.element("h\(level)", [("id", heading.anchor)], try MarkdownInline.html(title.dropFirst()))
    }

    private mutating func code(_ line: Substring) throws(MarkdownError) {
        lines.removeFirst()
        guard let end = lines.firstIndex(where: { $0 == "```" }) else {
            throw MarkdownError(reason: "``` without an end")
        }
        let text = lines[..<end].joined(separator: "\n")
        html.add(Self.code(text, language: String(line.dropFirst(3))))
        lines = lines[(end + 1)...]
    }

    /// Scrolled by keyboard too, which needs the focus (WCAG 2.1.1).
    static func code(_ text: String, language: String) -> HTML {
        var html = HTML()
        let label = language.isEmpty ? "Code" : "Code: \(language)"
        html.element("pre", [("tabindex", "0"), ("role", "group"), ("aria-label", label)]) { $0.code(text) }
        return html
    }

    private mutating func directive(_ line: Substring) throws(MarkdownError) {
        lines.removeFirst()
        guard line.hasPrefix("@example("), line.hasSuffix(")") else {
            throw MarkdownError(reason: "not known here: \(line.prefix(60))")
        }
        let name = String(line.dropFirst("@example(".count).dropLast())
        guard let example = example(name) else { throw MarkdownError(reason: "there is no example \(name)") }
        html.add(example)
    }

    /// Joins lines up to an empty one or another block.
    private mutating func paragraph() -> String {
        var parts: [Substring] = []
        while let line = lines.first, !line.allSatisfy(\.isWhitespace), parts.isEmpty || !Self.beginsBlock(line) {
            parts.append(line)
            lines.removeFirst()
        }
        return parts.joined(separator: " ")
    }

    private static func beginsBlock(_ line: Substring) -> Bool {
        ["```", "#", "- ", "|", "@", ">"].contains(where: line.hasPrefix) || number(of: line) != nil
    }

    /// The part of a line after `1. `.
    private static func number(of line: Substring) -> Substring? {
        let digits = line.prefix(while: \.isNumber)
        guard !digits.isEmpty, line.dropFirst(digits.count).hasPrefix(". ") else { return nil }
        return line.dropFirst(digits.count + 2)
    }

    /// Items of one level; a line that is indented goes on with its item.
    private mutating func list(isOrdered: Bool) throws(MarkdownError) {
        var items: [String] = []
        while let line = lines.first {
            if !isOrdered, line.hasPrefix("- ") {
                items.append(String(line.dropFirst(2)))
            } else if isOrdered, let text = Self.number(of: line) {
                items.append(String(text))
            } else if line.hasPrefix("  "), let last = items.popLast() {
                items.append(last + " " + String(line.drop(while: \.isWhitespace)))
            } else {
                break
            }
            lines.removeFirst()
        }
        var list = HTML()
        for item in items { list.element("li", try MarkdownInline.html(item)) }
        html.element(isOrdered ? "ol" : "ul", list)
    }

    private mutating func table() throws(MarkdownError) {
        var rows: [[Substring]] = []
        while let line = lines.first, line.hasPrefix("|") {
            rows.append(line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false))
            lines.removeFirst()
        }
        guard rows.count > 2, rows[1].allSatisfy({ $0.allSatisfy { $0 == "-" } }), Set(rows.map(\.count)).count == 1
        else {
            throw MarkdownError(reason: "a table has a head, a line of hyphens, and rows of as many cells")
        }
        var cells: [[HTML]] = []
        for row in rows {
            var line: [HTML] = []
            for cell in row { line.append(try MarkdownInline.html(Self.trimmed(cell))) }
            cells.append(line)
        }
        html.table(head: cells[0], rows: Array(cells[2...]))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop(while: \.isWhitespace)
        return start.prefix(start.count - start.reversed().prefix(while: \.isWhitespace).count)
    }
}

extension HTML {
    /// A table that scrolls by itself where it is too wide.
    mutating func table(head: [HTML], rows: [[HTML]]) {
        element("div", [("class", "table"), ("tabindex", "0"), ("role", "group"), ("aria-label", "Table")]) { html in
            html.element("table") { html in
                html.element("thead") { html in
                    html.element("tr") { html in
                        for cell in head { html.element("th", [("scope", "col")], cell) }
                    }
                }
                html.element("tbody") { html in
                    for row in rows {
                        html.element("tr") { html in
                            for cell in row { html.element("td", cell) }
                        }
                    }
                }
            }
        }
    }

    mutating func table(head: [String], rows: [[HTML]]) { table(head: head.map { HTML($0) }, rows: rows) }
}
