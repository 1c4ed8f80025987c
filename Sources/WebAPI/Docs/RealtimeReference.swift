/// The page on the realtime protocol, from `/asyncapi.json`.
struct RealtimeReference {
    static let path = "/docs/realtime"

    let document: JSON
    let table: SchemaTable
    /// The address of an operation of the REST API.
    let address: (String) -> String?

    /// The components that this page describes: frames and streams, and neither documents nor requests.
    static func names(in document: JSON, without documents: Set<String>) -> [String] {
        (document["components"]?["schemas"]?.members ?? []).map(\.0).filter { name in
            !documents.contains(name) && !(name.hasSuffix("Request") || name.hasSuffix("Result"))
        }
    }

    let names: [String]

    var page: DocsPage {
        var page = DocsPage(
            Self.path, "Realtime",
            "The frames and streams of the WebSocket, and of server-sent events. The same for programs: "
                + "`/asyncapi.json` (AsyncAPI 3.0).")
        addProse(document["info"]?["description"]?.string ?? "", to: &page)
        addChannels(to: &page)
        addStreams(to: &page)
        addList("Resets", "x-resets", key: "reason", to: &page)
        addCloseCodes(to: &page)
        addLimits(to: &page)
        addRequests(to: &page)
        addFrames(to: &page)
        return page
    }

    private func addProse(_ text: String, to page: inout DocsPage) {
        if let rendered = try? Markdown(text) { page.content.add(rendered.html) } else { page.paragraph(text) }
    }

    private func addChannels(to page: inout DocsPage) {
        page.heading(2, "Transports")
        for (_, channel) in document["channels"]?.members ?? [] {
            page.heading(3, channel["address"]?.string ?? "", isCode: true)
            addProse(channel["description"]?.string ?? "", to: &page)
        }
    }

    private func addStreams(to page: inout DocsPage) {
        page.heading(2, "Streams")
        for stream in document["x-streams"]?.elements ?? [] {
            let name = stream["name"]?.string ?? ""
            page.heading(3, name, isCode: true)
            page.paragraph(stream["meaning"]?.string ?? "")
            page.paragraph("Kind `\(stream["kind"]?.string ?? "")`: \(stream["kindMeaning"]?.string ?? "")")
            page.paragraph("Who may listen: \(stream["listeners"]?.string ?? "")")
            let changes = stream["changes"]?.elements ?? []
            if !changes.isEmpty {
                page.content.table(
                    head: ["Change", "Meaning"],
                    rows: changes.map { change in
                        page.entries.append(
                            .init(
                                anchor: Markdown.anchor(name), title: change["type"]?.string ?? "",
                                text: "A change of \(name)"))
                        return [code(change["type"]), SchemaTable.prose(change["meaning"]?.string ?? "")]
                    })
            }
            page.content.element("p") { html in
                html.add("Frames:")
                for (_, frame) in stream["frames"]?.members ?? [] {
                    html.add(" ")
                    html.add(table.type(of: frame))
                }
            }
        }
    }

    private func code(_ value: JSON?) -> HTML {
        var html = HTML()
        html.code(value?.string ?? value?.encoded ?? "")
        return html
    }

    private func addList(_ title: String, _ member: String, key: String, to page: inout DocsPage) {
        page.heading(2, title)
        page.content.table(
            head: ["Reason", "Meaning", "What to do"],
            rows: (document[member]?.elements ?? []).map { one in
                [
                    code(one[key]), SchemaTable.prose(one["meaning"]?.string ?? ""),
                    SchemaTable.prose(one["action"]?.string ?? ""),
                ]
            })
    }

    private func addCloseCodes(to page: inout DocsPage) {
        page.heading(2, "Close codes")
        page.paragraph(
            "Codes with a reason come as a `bye` frame first; over server-sent events, only that frame comes.")
        page.content.table(
            head: ["Code", "Reason", "Meaning", "What to do"],
            rows: (document["x-closeCodes"]?.elements ?? []).map { one in
                [
                    code(one["code"]), one["reason"].map { code($0) } ?? HTML(),
                    SchemaTable.prose(one["meaning"]?.string ?? ""), SchemaTable.prose(one["action"]?.string ?? ""),
                ]
            })
    }

    private func addLimits(to page: inout DocsPage) {
        page.heading(2, "Limits")
        page.content.table(
            head: ["Limit", "Value", "Meaning"],
            rows: (document["x-limits"]?.elements ?? []).map { limit in
                [
                    code(limit["name"]), HTML("\(limit["value"]?.encoded ?? "") \(limit["unit"]?.string ?? "")"),
                    SchemaTable.prose(limit["meaning"]?.string ?? ""),
                ]
            })
    }

    private func addRequests(to page: inout DocsPage) {
        page.heading(2, "Requests")
        page.paragraph(
            """
            A request frame names the operation in `request`, and has path, query and body together in `params`. The \
            result is the body of the HTTP response.
            """)
        page.content.element("ul") { html in
            for request in document["x-requests"]?.elements ?? [] {
                let name = request["name"]?.string ?? ""
                html.element("li") { html in
                    if let address = address(name) { html.link(address, name) } else { html.code(name) }
                    html.add(" ")
                    html.add(SchemaTable.prose(request["summary"]?.string ?? ""))
                }
            }
        }
    }

    private func addFrames(to page: inout DocsPage) {
        page.heading(2, "Frames and their parts")
        let messages = (document["components"]?["messages"]?.members ?? []).map(\.1)
        for name in names {
            guard let schema = document["components"]?["schemas"]?[name] else { continue }
            page.heading(3, name, anchor: name)
            let message = messages.first { $0["payload"]?["$ref"]?.string?.hasSuffix("/\(name)") == true }
            if let summary = message?["summary"]?.string { page.paragraph(summary) }
            if let text = schema["description"]?.string { page.paragraph(text) }
            if schema["properties"] == nil, name != "RequestFrame" {
                page.content.element("p", table.type(of: schema))
            }
            page.content.add(table.members(of: schema))
            if let example = message?["examples"]?.elements.first?["payload"] {
                page.content.add(Markdown.code(example.encoded, language: "json"))
            }
        }
    }
}
