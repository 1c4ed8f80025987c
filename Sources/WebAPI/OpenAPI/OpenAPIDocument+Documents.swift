import Model

// Operations whose bodies are not JSON.
extension OpenAPIDocument {
    func describe(_ operation: DocumentOperation) -> JSON {
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
            let content = Self.content(operation.bodyTypes, operation.bodySchema)
            members.append(("requestBody", .object([("required", true), ("content", .object(content))])))
        }
        let outcomes = operation.outcomes.map { (String($0.status), Self.describe($0)) }
        members.append(("responses", .object(outcomes + problems(operation.possibleProblems))))
        members.append(("security", .array(operation.isPublic ? [] : [.object([("accessToken", .array([]))])])))
        return .object(members)
    }

    private static func describe(_ outcome: DocumentOperation.Outcome) -> JSON {
        let headers = outcome.headers.map { name, description in
            (name, JSON.object([("description", .text(description)), ("schema", Schema.text().json)]))
        }
        var members: [(String, JSON)] = [
            ("description", .text(outcome.description)),
            ("headers", .object(headers + headerReferences(of: outcome.status))),
        ]
        if let type = outcome.contentType {
            var content = content([type] + outcome.otherContentTypes, outcome.schema)
            if let other = outcome.alternative { content += self.content([other.contentType], other.schema) }
            members.append(("content", .object(content)))
        }
        return .object(members)
    }

    private static func content(_ types: [String], _ schema: Schema) -> [(String, JSON)] {
        types.map { ($0, .object([("schema", schema.json)])) }
    }
}
