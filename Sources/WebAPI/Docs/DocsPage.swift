/// A page under `/docs`, without what all pages share.
struct DocsPage: Sendable {
    /// Such as `/docs/errors`.
    let path: String
    let title: String
    /// What it is about, in a sentence of plain text.
    let summary: String
    var content: HTML
    /// The headings of the second level and below, for the table of contents.
    var headings: [Markdown.Heading]
    /// What the search finds in it beside its headings: anchor, title, and a sentence.
    var entries: [Entry] = []

    struct Entry: Sendable {
        let anchor: String
        let title: String
        let text: String
    }

    init(_ path: String, _ title: String, _ summary: String) {
        self.path = path
        self.title = title
        self.summary = summary
        headings = []
        content = HTML()
        content.element("h1", title)
        content.element("p", [("class", "summary")], SchemaTable.prose(summary))
    }

    /// A page from Markdown, whose first heading is its title and whose first paragraph is its summary.
    init(_ path: String, markdown: String, example: @escaping (String) -> HTML?) throws(MarkdownError) {
        let rendered = try Markdown(markdown, example: example)
        guard let title = rendered.headings.first, title.level == 1,
            rendered.headings.dropFirst().allSatisfy({ $0.level > 1 })
        else {
            throw MarkdownError(reason: "\(path) has no title, or two")
        }
        let paragraphs = markdown.split(separator: "\n\n").map { $0.split(separator: "\n").joined(separator: " ") }
        self.path = path
        self.title = title.title
        summary = paragraphs.count > 1 ? MarkdownInline.plain(paragraphs[1]) : ""
        content = rendered.html
        headings = Array(rendered.headings.dropFirst())
    }

    mutating func heading(_ level: Int, _ title: String, anchor: String? = nil, isCode: Bool = false) {
        let anchor = anchor ?? Markdown.anchor(title)
        headings.append(.init(level: level, anchor: anchor, title: title))
        content.element("h\(level)", [("id", anchor)]) { html in
            if isCode { html.code(title) } else { html.add(title) }
        }
    }

    /// A paragraph of Markdown.
    mutating func paragraph(_ text: String) { content.element("p", SchemaTable.prose(text)) }
}
