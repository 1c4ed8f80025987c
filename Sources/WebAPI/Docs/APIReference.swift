import Model

/// The pages on the operations of `/openapi.json`: an overview, a page for each tag, and one of all documents.
struct APIReference {
    private struct Entry {
        let name: String
        let tag: String
        let method: String
        let path: String
        let description: JSON
        /// Whether the server sends it, to webhooks.
        var isSent = false
    }

    private let document: JSON
    private let entries: [Entry]
    /// The problems of each operation, by its operationId.
    private let problems: [String: [Problem.Kind]]
    private let table: SchemaTable

    init(_ openAPI: OpenAPIDocument, table: SchemaTable) {
        document = openAPI.json
        self.table = table
        var entries: [Entry] = (document["paths"]?.members ?? []).flatMap { path, methods in
            methods.members.map { method, description in
                Entry(
                    name: description["operationId"]?.string ?? "",
                    tag: description["tags"]?.elements.first?.string ?? "", method: method.uppercased(), path: path,
                    description: description)
            }
        }
        let sent = (document["webhooks"]?.members ?? []).compactMap { name, methods in
            methods["post"].map {
                Entry(
                    name: name, tag: OpenAPIDocument.webhooksTag, method: "POST", path: name, description: $0,
                    isSent: true)
            }
        }
        entries += sent
        let all =
            openAPI.operations.map { ($0.name, $0.possibleProblems) }
            + openAPI.documents.map { ($0.name, $0.possibleProblems) }
        self.entries = entries
        problems = Dictionary(all, uniquingKeysWith: { first, _ in first })
    }

    static let path = "/docs/api"
    static let typesPath = "/docs/types"

    /// The address of an operation, by its operationId; nil if there is none.
    func address(of operation: String) -> String? {
        entries.first { $0.name == operation }.map { "\(Self.path)/\($0.tag)#\(operation)" }
    }

    /// The operations that respond with a problem: operationId and address.
    func operations(with kind: Problem.Kind) -> [(name: String, address: String)] {
        entries.filter { problems[$0.name]?.contains(kind) == true }.map {
            ($0.name, "\(Self.path)/\($0.tag)#\($0.name)")
        }
    }

    var pages: [DocsPage] {
        let tags = (document["tags"]?.elements ?? []).map {
            (name: $0["name"]?.string ?? "", text: $0["description"]?.string ?? "")
        }
        return [overview(tags)] + tags.map { page($0.name, $0.text) } + [types]
    }

    private func overview(_ tags: [(name: String, text: String)]) -> DocsPage {
        var page = DocsPage(
            Self.path, "REST API",
            "Every operation, by group. The same as a document for programs: `/openapi.json` (OpenAPI 3.1).")
        page.paragraph(document["info"]?["description"]?.string ?? "")
        for (tag, text) in tags {
            page.heading(2, tag)
            page.paragraph(text)
            page.content.element("ul", [("class", "operations")]) { html in
                for entry in entries where entry.tag == tag {
                    html.element("li") { html in
                        html.element("a", [("href", "\(Self.path)/\(tag)#\(entry.name)")]) { html in
                            html.code("\(entry.method) \(entry.path)")
                        }
                        html.add(" ")
                        html.add(SchemaTable.prose(entry.description["summary"]?.string ?? ""))
                    }
                }
            }
        }
        return page
    }

    private func page(_ tag: String, _ text: String) -> DocsPage {
        var page = DocsPage("\(Self.path)/\(tag)", tag, text)
        for entry in entries where entry.tag == tag { add(entry, to: &page) }
        return page
    }

    private func add(_ entry: Entry, to page: inout DocsPage) {
        let summary = entry.description["summary"]?.string ?? ""
        page.heading(2, entry.name, anchor: entry.name)
        page.entries.append(
            .init(
                anchor: entry.name, title: entry.name,
                text: "\(entry.method) \(entry.path). \(MarkdownInline.plain(summary))"))
        page.content.element("p", [("class", "route")]) { html in
            html.element("strong", entry.method)
            html.add(" ")
            html.code(entry.path)
        }
        page.paragraph(summary)
        if !entry.isSent { page.paragraph(Self.access(to: entry.description)) }
        let parameters = parameters(of: entry.description)
        if !parameters.isEmpty {
            page.content.element("h3", "Parameters")
            page.content.table(head: ["Name", "Type", "Meaning"], rows: parameters)
        }
        addBody(of: entry, to: &page)
        if !entry.isSent { addResponses(of: entry, to: &page) }
    }

    private static func access(to description: JSON) -> String {
        let schemes = (description["security"]?.elements ?? []).flatMap { $0.members.map(\.0) }
        let who =
            if schemes.contains("serverKey") {
                "Needs a [server key](/docs/own-back-end)."
            } else if schemes.contains("endpoint") {
                "Needs an access token, and the endpoint in `Switchboard-Endpoint`."
            } else if schemes.contains("accessToken") {
                "Needs an access token."
            } else {
                "Open to everybody."
            }
        let isHTTP = description["description"]?.string == "Only over HTTP."
        return who + (isHTTP ? " Only over HTTP." : " Also a [realtime request](/docs/realtime#requests) of this name.")
    }

    private func parameters(of description: JSON) -> [[HTML]] {
        (description["parameters"]?.elements ?? []).map { parameter in
            let resolved = resolve(parameter, in: "parameters")
            var name = HTML()
            name.code(resolved["name"]?.string ?? "")
            name.add(" in \(resolved["in"]?.string ?? "")")
            if case .boolean(true)? = resolved["required"] {
                name.element("span", [("class", "required")], "required")
            }
            let text = resolved["description"]?.string ?? ""
            return [name, table.type(of: resolved["schema"] ?? .object([])), SchemaTable.prose(text)]
        }
    }

    private func resolve(_ value: JSON, in kind: String) -> JSON {
        guard let name = value["$ref"]?.string?.split(separator: "/").last else { return value }
        return document["components"]?[kind]?[String(name)] ?? value
    }

    private func addBody(of entry: Entry, to page: inout DocsPage) {
        let body = entry.description["requestBody"]?["content"]?.members ?? []
        if let (_, first) = body.first {
            page.content.element("h3", "Body")
            page.content.element("p") { html in
                html.add(body.map(\.0).joined(separator: ", ") + ": ")
                html.add(table.type(of: first["schema"] ?? .object([])))
            }
            page.content.add(table.members(of: first["schema"] ?? .object([])))
        }
        page.content.add(Markdown.code(curl(entry, body: body), language: "sh"))
    }

    /// The request as a command. Names in capitals are the reader's own.
    private func curl(_ entry: Entry, body: [(String, JSON)]) -> String {
        var path = ""
        for part in entry.path.split(separator: "/") {
            let isParameter = part.first == "{"
            path += "/" + (isParameter ? "$" + part.dropFirst().dropLast().uppercased() : part)
        }
        var lines = ["curl \(entry.method == "GET" ? "" : "-X \(entry.method) ")\"$SERVER\(path)\""]
        let schemes = (entry.description["security"]?.elements ?? []).flatMap { $0.members.map(\.0) }
        if schemes.contains("serverKey") {
            lines.append("-H \"Authorization: Bearer $KEY\"")
        } else if !schemes.isEmpty {
            lines.append("-H \"Authorization: Bearer $TOKEN\"")
        }
        if schemes.contains("endpoint") { lines.append("-H \"Switchboard-Endpoint: $ENDPOINT\"") }
        if let (type, content) = body.first {
            if type == "application/json", let example = content["example"] {
                lines.append("--json '\(example.encoded)'")
            } else {
                lines.append("-H \"Content-Type: \(type)\" --data-binary @FILE")
            }
        }
        return lines.joined(separator: " \\\n  ")
    }

    private func addResponses(of entry: Entry, to page: inout DocsPage) {
        page.content.element("h3", "Responses")
        for (status, response) in entry.description["responses"]?.members ?? [] where response["$ref"] == nil {
            page.content.element("p") { html in
                html.element("strong", status)
                html.add(" ")
                html.add(SchemaTable.prose(response["description"]?.string ?? ""))
                for (type, content) in response["content"]?.members ?? [] {
                    html.add(" \(type): ")
                    html.add(table.type(of: content["schema"] ?? .object([])))
                }
            }
            if let schema = response["content"]?.members.first?.1["schema"] {
                page.content.add(table.members(of: schema))
            }
        }
        page.content.element("p", [("class", "problems")]) { html in
            html.add("Problems:")
            for kind in problems[entry.name] ?? [] {
                html.add(" ")
                html.link("\(ErrorReference.path)#\(kind.rawValue)", "\(kind.status) \(kind.rawValue)")
            }
        }
    }

    private var types: DocsPage {
        var page = DocsPage(
            Self.typesPath, "Documents",
            "The objects that requests and responses, changes and snapshots share. Ignore members that are not listed.")
        for (name, schema) in document["components"]?["schemas"]?.members ?? [] {
            page.heading(2, name, anchor: name)
            let members = table.members(of: schema)
            if schema["properties"] == nil {
                page.content.element("p", table.type(of: schema))
            }
            page.content.add(members)
            if let example = schema["examples"]?.elements.first {
                page.content.add(Markdown.code(example.encoded, language: "json"))
            }
        }
        return page
    }
}
