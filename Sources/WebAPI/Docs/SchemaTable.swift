/// Shows schemas of both documents, in words and as tables of members.
struct SchemaTable {
    /// The address of a component's description, by its name.
    let address: (String) -> String?

    /// The type of a value in words, such as "string of 1 to 64 characters".
    func type(of schema: JSON) -> HTML {
        var html = HTML()
        if let reference = schema["$ref"]?.string {
            let name = String(reference.split(separator: "/").last ?? "")
            if let address = address(name) { html.link(address, name) } else { html.code(name) }
        } else if let all = schema["allOf"] {
            html.add(joined(all.elements, by: " with "))
        } else if let any = schema["anyOf"] {
            html.add(joined(any.elements, by: " or "))
        } else if let choices = schema["enum"] {
            for (index, choice) in choices.elements.enumerated() {
                if index > 0 { html.add(index == choices.elements.count - 1 ? " or " : ", ") }
                html.code(choice.string ?? choice.encoded)
            }
        } else {
            html.add(simple(schema))
        }
        return html
    }

    private func joined(_ schemas: [JSON], by word: String) -> HTML {
        var html = HTML()
        for (index, schema) in schemas.enumerated() {
            if index > 0 { html.add(word) }
            html.add(type(of: schema))
        }
        return html
    }

    private func simple(_ schema: JSON) -> HTML {
        var html = HTML()
        switch schema["type"]?.string {
        case "string": html.add(Self.string(schema))
        case "array":
            html.add("list of \(Self.range(schema["minItems"], schema["maxItems"]).map { $0 + " " } ?? "")")
            html.add(type(of: schema["items"] ?? .object([])))
        case "object":
            if let values = schema["additionalProperties"] {
                html.add("map to ")
                html.add(type(of: values))
            } else {
                html.add(schema["properties"] == nil ? "empty object" : "object")
            }
        case "integer", "number":
            let range = Self.range(schema["minimum"], schema["maximum"])
            html.add((schema["type"]?.string ?? "") + (range.map { " from \($0)" } ?? ""))
        case let type?: html.add(type)
        case nil: html.add("any value")
        }
        return html
    }

    private static func string(_ schema: JSON) -> String {
        switch schema["format"]?.string {
        case "uuid": "UUID"
        case "date-time": "time (RFC 3339)"
        case "binary": "bytes"
        default:
            "string" + (range(schema["minLength"], schema["maxLength"]).map { " of \($0) characters" } ?? "")
        }
    }

    private static func range(_ low: JSON?, _ high: JSON?) -> String? {
        switch (low?.encoded, high?.encoded) {
        case (let low?, let high?): low == high ? low : "\(low) to \(high)"
        case (nil, let high?): "at most \(high)"
        case (let low?, nil): "at least \(low)"
        case (nil, nil): nil
        }
    }

    /// A table of the members of an object, those of inner objects and of objects in lists among them; nothing for
    /// schemas without members.
    func members(of schema: JSON) -> HTML {
        let rows = rows(of: schema, prefix: "", depth: 0)
        var html = HTML()
        if !rows.isEmpty { html.table(head: ["Member", "Type", "Meaning"], rows: rows) }
        return html
    }

    /// Schemas are nested less deeply than this.
    private static let maximumDepth = 5

    private func rows(of schema: JSON, prefix: String, depth: Int) -> [[HTML]] {
        guard depth < Self.maximumDepth else { return [] }
        let required = Set((schema["required"]?.elements ?? []).compactMap(\.string))
        let own = (schema["properties"]?.members ?? []).flatMap { name, member -> [[HTML]] in
            let path = prefix + name
            return [row(path, member, isRequired: required.contains(name))]
                + rows(of: member, prefix: path + ".", depth: depth + 1)
        }
        let items = schema["items"].map { rows(of: $0, prefix: listed(prefix), depth: depth + 1) } ?? []
        let values = schema["additionalProperties"].map { rows(of: $0, prefix: prefix + "*.", depth: depth + 1) } ?? []
        let parts = (schema["allOf"]?.elements ?? []).flatMap { rows(of: $0, prefix: prefix, depth: depth + 1) }
        let choices = (schema["anyOf"]?.elements ?? []).flatMap { rows(of: $0, prefix: prefix, depth: depth + 1) }
        return own + items + values + parts + choices
    }

    /// `callees.` is `callees[].`.
    private func listed(_ prefix: String) -> String { prefix.isEmpty ? "[]." : prefix.dropLast() + "[]." }

    private func row(_ path: String, _ member: JSON, isRequired: Bool) -> [HTML] {
        var name = HTML()
        name.code(path)
        if isRequired { name.element("span", [("class", "required")], "required") }
        return [name, type(of: member), Self.prose(member["description"]?.string ?? "")]
    }

    /// A description: our own text, whose marks are shown as they stand if they make no sense.
    static func prose(_ text: String) -> HTML { (try? MarkdownInline.html(text)) ?? HTML(text) }
}
