import Model

// Operations whose bodies are not JSON.
extension OpenAPIDocument {
    static func describe(_ operation: DocumentOperation) -> JSON {
        let headers: [JSON] = operation.headers.map { header in
            .object([
                ("name", .text(header.name)), ("in", "header"), ("required", .boolean(header.isRequired)),
                ("description", .text(header.description)), ("schema", Schema.text().json),
            ])
        }
        var members: [(String, JSON)] = [
            ("operationId", .text(operation.name)), ("summary", .text(operation.summary)),
            ("tags", .array([.text(operation.tag)])),
            ("description", "Only over HTTP."), ("parameters", .array(operation.parameters.map(describe) + headers)),
        ]
        if !operation.bodyTypes.isEmpty {
            members.append(
                (
                    "requestBody",
                    .object([
                        ("required", true), ("content", .object(content(operation.bodyTypes, operation.bodySchema))),
                    ])
                ))
        }
        let outcomes = operation.outcomes.map { outcome -> (String, JSON) in
            var members: [(String, JSON)] = [("description", .text(outcome.description))]
            if !outcome.headers.isEmpty {
                let headers = outcome.headers.map { name, description in
                    (name, JSON.object([("description", .text(description)), ("schema", Schema.text().json)]))
                }
                members.append(("headers", .object(headers)))
            }
            if let type = outcome.contentType {
                var content = content([type] + outcome.otherContentTypes, outcome.schema)
                if let other = outcome.alternative { content += self.content([other.contentType], other.schema) }
                members.append(("content", .object(content)))
            }
            return (String(outcome.status), .object(members))
        }
        members.append(("responses", .object(outcomes + problems(operation.possibleProblems))))
        members.append(("security", .array(operation.isPublic ? [] : [.object([("accessToken", .array([]))])])))
        return .object(members)
    }

    private static func content(_ types: [String], _ schema: Schema) -> [(String, JSON)] {
        types.map { ($0, .object([("schema", schema.json)])) }
    }
}
