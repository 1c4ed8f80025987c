import NIOCore

/// The guides: Markdown files in `Web/docs/guides`, with examples in `Web/docs/examples`.
enum DocsGuides {
    struct Group: Sendable {
        let title: String
        let names: [String]
    }

    static let groups = [
        Group(
            title: "Begin",
            names: ["start", "conversations", "assistant", "calls", "resume", "relay-only", "whip", "sdk"]),
        Group(
            title: "Your own users",
            names: [
                "own-sign-in", "own-back-end", "webhooks", "waking-phones", "moving", "deleting-accounts", "browsers",
            ]),
        Group(
            title: "Operate",
            names: ["operate", "operators-page", "reverse-proxy", "backup", "limits", "versions", "changes"]),
    ]

    /// The first guide is `/docs` itself.
    static func path(_ name: String) -> String { name == "start" ? "/docs" : "/docs/\(name)" }

    static let pages: [DocsPage] = groups.flatMap(\.names).compactMap { try? page($0) }

    /// - Throws: `MarkdownError` if the guide is missing or not in the Markdown that is known here.
    static func page(_ name: String) throws(MarkdownError) -> DocsPage {
        guard let file = WebFiles.docs["/docs/guides/\(name).md"] else {
            throw MarkdownError(reason: "there is no guide \(name)")
        }
        return try DocsPage(path(name), markdown: String(buffer: file.bytes), example: example)
    }

    private static let languages = [("sh", "curl"), ("js", "JavaScript"), ("py", "Python"), ("swift", "Swift")]

    /// An example in every language that there is.
    private static func example(_ name: String) -> HTML? {
        var html = HTML()
        for (suffix, language) in languages {
            guard let file = WebFiles.docs["/docs/examples/\(name).\(suffix)"] else { continue }
            html.element("details", html.markup.isEmpty ? [("open", "")] : []) { html in
                html.element("summary", language)
                html.add(Markdown.code(shown(String(buffer: file.bytes)), language: language))
            }
        }
        return html.markup.isEmpty ? nil : html
    }

    /// The lines between those with `docs:begin` and `docs:end`; all but the first if there are none.
    private static func shown(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let begin = lines.firstIndex { $0.contains("docs:begin") } ?? 0
        let end = lines.firstIndex { $0.contains("docs:end") } ?? lines.endIndex
        return lines[(begin + 1)..<max(begin + 1, end)].joined(separator: "\n")
    }
}
