/// What all pages of `/docs` share: head, search, navigation and contents.
struct DocsLayout {
    private struct Group {
        let title: String
        let pages: [(path: String, title: String)]
    }

    private let pages: [DocsPage]
    private let version: String
    private let groups: [Group]

    init(pages: [DocsPage], version: String) {
        self.pages = pages
        self.version = version
        let titles = Dictionary(pages.map { ($0.path, $0.title) }, uniquingKeysWith: { first, _ in first })
        func group(_ title: String, _ paths: [String]) -> Group {
            Group(title: title, pages: paths.compactMap { path in titles[path].map { (path, $0) } })
        }
        let reference =
            [APIReference.path, APIReference.typesPath, RealtimeReference.path, ErrorReference.path, DocsSetting.path]
        groups =
            DocsGuides.groups.map { group($0.title, $0.names.map(DocsGuides.path)) } + [group("Reference", reference)]
    }

    func html(of page: DocsPage) -> String {
        var html = HTML()
        html.add(markup: "<!doctype html>\n")
        html.element("html", [("lang", "en")]) { html in
            html.element("head") { addHead(of: page, to: &$0) }
            html.element("body", [("class", "docs")]) { html in
                html.element("a", [("class", "skip"), ("href", "#content")], "Skip to the content")
                addHeader(to: &html)
                html.element("div", [("class", "columns")]) { html in
                    html.element("main", [("id", "content"), ("tabindex", "-1")]) { html in
                        html.add(page.content)
                    }
                    addContents(of: page, to: &html)
                    addNavigation(from: page, to: &html)
                }
            }
        }
        return html.markup + "\n"
    }

    private func addHead(of page: DocsPage, to html: inout HTML) {
        html.void("meta", [("charset", "utf-8")])
        html.void("meta", [("name", "viewport"), ("content", "width=device-width, initial-scale=1")])
        html.element("title", "\(page.title) · Switchboard")
        html.void("meta", [("name", "description"), ("content", MarkdownInline.plain(page.summary))])
        html.void("link", [("rel", "icon"), ("href", "/favicon.svg")])
        html.void("link", [("rel", "stylesheet"), ("href", Self.path(of: "/docs/assets/docs.css"))])
        html.element("script", [("type", "module"), ("src", Self.path(of: "/docs/assets/search.js"))], "")
    }

    /// Where an embedded file is served.
    private static func path(of name: String) -> String { WebFiles.docs[name]?.path ?? name }

    private func addHeader(to html: inout HTML) {
        html.element("header", [("class", "bar")]) { html in
            html.element("a", [("class", "name"), ("href", "/docs")]) { html in
                html.add("Switchboard ")
                html.element("span", version)
            }
            html.element("a", [("class", "to-pages"), ("href", "#pages")], "Pages")
            // Shown by the script, which it needs.
            html.element("search", [("id", "search"), ("hidden", "")]) { html in
                html.element("label", [("class", "unseen"), ("for", "words")], "Search")
                html.void(
                    "input", [("id", "words"), ("type", "search"), ("placeholder", "Search"), ("autocomplete", "off")])
                html.element("ol", [("id", "found"), ("hidden", ""), ("aria-label", "Results")], "")
                html.element("p", [("id", "count"), ("class", "unseen"), ("role", "status")], "")
            }
        }
    }

    private func addContents(of page: DocsPage, to html: inout HTML) {
        let deepest = page.headings.count > 40 ? 2 : 3
        let headings = page.headings.filter { $0.level <= deepest }
        guard headings.count > 1 else { return }
        html.element("nav", [("class", "contents"), ("aria-label", "On this page")]) { html in
            html.element("p", "On this page")
            html.element("ul") { html in
                for heading in headings {
                    html.element("li", [("class", "level\(heading.level)")]) { html in
                        html.link("#\(heading.anchor)", heading.title)
                    }
                }
            }
        }
    }

    private func addNavigation(from page: DocsPage, to html: inout HTML) {
        html.element("nav", [("class", "pages"), ("id", "pages"), ("aria-label", "Pages")]) { html in
            for group in groups {
                html.element("p", group.title)
                html.element("ul") { html in
                    for (path, title) in group.pages {
                        html.element("li") { html in
                            let current = path == page.path ? [("aria-current", "page")] : []
                            html.element("a", [("href", path)] + current, title)
                            if path == APIReference.path { addTags(from: page, to: &html) }
                        }
                    }
                }
            }
        }
    }

    /// The groups of operations, below the API.
    private func addTags(from page: DocsPage, to html: inout HTML) {
        html.element("ul") { html in
            for one in pages where one.path.hasPrefix(APIReference.path + "/") {
                html.element("li") { html in
                    let current = one.path == page.path ? [("aria-current", "page")] : []
                    html.element("a", [("href", one.path)] + current, one.title)
                }
            }
        }
    }

    /// What the search looks through: `[{"address", "title", "page", "text"}]`.
    var searchIndex: JSON {
        .array(
            pages.flatMap { page -> [JSON] in
                let found = Set(page.entries.map(\.anchor))
                let headings = page.headings.filter { !found.contains($0.anchor) }.map {
                    Self.entry("\(page.path)#\($0.anchor)", $0.title, page.title, "")
                }
                let entries = page.entries.map {
                    Self.entry("\(page.path)#\($0.anchor)", $0.title, page.title, $0.text)
                }
                let summary = MarkdownInline.plain(page.summary)
                return [Self.entry(page.path, page.title, "", summary)] + headings + entries
            })
    }

    private static func entry(_ address: String, _ title: String, _ page: String, _ text: String) -> JSON {
        .object([("address", .text(address)), ("title", .text(title)), ("page", .text(page)), ("text", .text(text))])
    }
}
