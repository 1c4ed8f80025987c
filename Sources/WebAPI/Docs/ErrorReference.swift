import Model

/// The page with every kind of problem: what it means and what to do.
struct ErrorReference {
    static let path = "/docs/errors"

    let api: APIReference
    let table: SchemaTable

    var page: DocsPage {
        var page = DocsPage(
            Self.path, "Errors",
            "Every error is a problem document (RFC 9457). Its `type` is a word of this page and never changes.")
        page.paragraph(
            """
            Over HTTP it is the body, as `application/problem+json`; in realtime it is the `error` of an error frame. \
            `detail` explains what happened, `field` names the member of the request that is not allowed, `request` is \
            the id under which the server's log has it, and `retryAfter` is the number of milliseconds after which you \
            may repeat the request. If you do not know a type, go by its status.
            """)
        for kind in Problem.Kind.allCases {
            page.heading(2, kind.rawValue, anchor: kind.rawValue)
            page.content.element("p") { html in
                html.element("strong", String(kind.status))
                html.add(" \(kind.title). ")
                html.add(SchemaTable.prose(kind.meaning))
            }
            page.paragraph(kind.action)
            let operations = api.operations(with: kind)
            // What nearly all operations have needs no list.
            guard (1...25).contains(operations.count) else { continue }
            page.content.element("p", [("class", "problems")]) { html in
                html.add("Operations:")
                for (name, address) in operations {
                    html.add(" ")
                    html.link(address, name)
                }
            }
        }
        return page
    }
}
