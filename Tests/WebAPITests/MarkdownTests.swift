import NIOCore
import Testing

@testable import WebAPI

/// The Markdown of `/docs`: what is known is rendered and escaped, and everything else is an error.
@Suite struct MarkdownTests {
    @Test(arguments: [
        ("a <b> & \"c\"", "<p>a &lt;b&gt; &amp; &quot;c&quot;</p>"),
        ("`a*b` *c* **d** 2 * 3", "<p><code>a*b</code> <em>c</em> <strong>d</strong> 2 * 3</p>"),
        ("one\ntwo\n\nthree", "<p>one two</p><p>three</p>"),
        ("[the `x`](/docs/x#y) [no link]", "<p><a href=\"/docs/x#y\">the <code>x</code></a> [no link]</p>"),
        ("## A title, *here*", "<h2 id=\"a-title-here\">A title, <em>here</em></h2>"),
        ("- one\n  more\n- two", "<ul><li>one more</li><li>two</li></ul>"),
        ("1. one\n2. two", "<ol><li>one</li><li>two</li></ol>"),
        ("text\n- one", "<p>text</p><ul><li>one</li></ul>"),
        ("@example(call)", "<p>call</p>"),
    ])
    func blocks(markdown: String, html: String) throws {
        let rendered = try Markdown(markdown) { name in
            var html = HTML()
            html.element("p", name)
            return html
        }
        #expect(rendered.html.markup == html)
    }

    @Test func codeIsShownAsItStands() throws {
        let html = try Markdown("```sh\n# not a *title*\n\n<a>\n```").html.markup
        #expect(html.contains("<code># not a *title*\n\n&lt;a&gt;</code>"))
    }

    @Test func aTableHasAHeadAndRows() throws {
        let html = try Markdown("| A | B |\n|---|---|\n| `a` | b |").html.markup
        #expect(html.contains("<th scope=\"col\">A</th><th scope=\"col\">B</th>"))
        #expect(html.contains("<td><code>a</code></td><td>b</td>"))
    }

    @Test(arguments: [
        "> quoted", "    indented", "<b>html</b>", "#title", "#### deep", "```\nopen", "`open", "**open", "*open",
        "| A |\n| a |", "| A |\n|---|\n| a | b |", "@include(x)", "@example(none)", "# one\n# one",
    ])
    func theUnknownIsAnError(markdown: String) {
        #expect(throws: MarkdownError.self) { try Markdown(markdown) }
    }

    @Test func plainTextHasNoMarks() {
        #expect(MarkdownInline.plain("a `b` **c** [d `e`](/f)") == "a b c d e")
    }
}

/// The guides that are embedded in the binary.
@Suite struct DocsGuidesTests {
    @Test(arguments: DocsGuides.groups.flatMap(\.names))
    func everyGuideIsRendered(name: String) throws {
        let page = try DocsGuides.page(name)
        #expect(page.path == DocsGuides.path(name) && !page.title.isEmpty && page.summary.hasSuffix("."))
    }

    @Test func everyFileIsShown() {
        let guides = Set(DocsGuides.groups.flatMap(\.names).map { "/docs/guides/\($0).md" })
        #expect(Set(WebFiles.docs.keys.filter { $0.hasPrefix("/docs/guides/") }) == guides)
        let all = DocsGuides.pages.map(\.content.markup).joined()
        for (path, file) in WebFiles.docs where path.hasPrefix("/docs/examples/") {
            let text = String(buffer: file.bytes)
            let lines = text.split(separator: "\n")
            let begin = lines.firstIndex { $0.contains("docs:begin") }
            let shown = begin.map { HTML.escaped(String(lines[$0 + 1])) }
            #expect(shown.map(all.contains) == true, "\(path) is in no guide, or has no docs:begin")
        }
    }
}
