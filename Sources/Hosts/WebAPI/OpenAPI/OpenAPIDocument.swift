import HTTPTypes
import Model

/// `/openapi.json`: the route table as OpenAPI 3.1.
package enum OpenAPIDocument {
    package static func make(
        operations: [Operation], documents: [DocumentOperation] = [], schemas: [(String, Schema)], version: String
    ) -> String {
        var paths: [(String, [(String, JSON)])] = []
        func add(_ path: String, _ method: String, _ description: JSON) {
            if let index = paths.firstIndex(where: { $0.0 == path }) {
                paths[index].1.append((method.lowercased(), description))
            } else {
                paths.append((path, [(method.lowercased(), description)]))
            }
        }
        for operation in operations { add(operation.path, operation.method.rawValue, describe(operation)) }
        for operation in documents { add(operation.path, operation.method.rawValue, describe(operation)) }
        return JSON.object([
            ("openapi", "3.1.0"),
            (
                "info",
                .object([
                    ("title", "Switchboard"), ("version", .text(version)),
                    (
                        "description",
                        """
                        Calls, signalling and relay credentials. Every request is also a realtime request of the same name \
                        (its operationId) over the WebSocket at /v1/realtime, unless its description says otherwise.
                        """
                    ),
                    ("license", .object([("name", "Apache-2.0"), ("identifier", "Apache-2.0")])),
                ])
            ),
            ("paths", .object(paths.map { ($0.0, .object($0.1)) })),
            (
                "components",
                .object([
                    ("schemas", .object((schemas + [("Problem", Problem.schema)]).map { ($0.0, $0.1.json) })),
                    (
                        "securitySchemes",
                        .object([
                            (
                                "accessToken",
                                .object([("type", "http"), ("scheme", "bearer"), ("bearerFormat", "JWT")])
                            ),
                            (
                                "endpoint",
                                .object([
                                    ("type", "apiKey"), ("in", "header"), ("name", "Switchboard-Endpoint"),
                                    (
                                        "description",
                                        "`<endpoint id> <secret>`, both made by the client; the first use registers them."
                                    ),
                                ])
                            ),
                        ])
                    ),
                ])
            ),
        ]).encoded
    }

    private static func describe(_ operation: Operation) -> JSON {
        var members: [(String, JSON)] = [
            ("operationId", .text(operation.name)), ("summary", .text(operation.summary)),
            ("tags", .array([.text(operation.name.split(separator: ".").first.map(String.init) ?? "server")])),
        ]
        if !operation.isRealtime { members.append(("description", "Only over HTTP.")) }
        if !operation.parameters.isEmpty {
            members.append(("parameters", .array(operation.parameters.map(describe))))
        }
        if let body = operation.body {
            members.append(
                (
                    "requestBody",
                    .object([
                        ("required", true),
                        ("content", .object([("application/json", .object([("schema", body.json)]))])),
                    ])
                ))
        }
        members.append(("responses", .object(responses(of: operation))))
        switch operation.access {
        case .anyone: members.append(("security", .array([])))
        case .user: members.append(("security", .array([.object([("accessToken", .array([]))])])))
        case .endpoint:
            members.append(
                ("security", .array([.object([("accessToken", .array([])), ("endpoint", .array([]))])])))
        }
        return .object(members)
    }

    private static func responses(of operation: Operation) -> [(String, JSON)] {
        var responses = operation.answers.map { answer -> (String, JSON) in
            var members: [(String, JSON)] = [("description", .text(answer.meaning))]
            if let schema = answer.schema {
                members.append(("content", .object([("application/json", .object([("schema", schema.json)]))])))
            }
            return (String(answer.status), .object(members))
        }
        responses += problems(operation.possibleProblems)
        return responses
    }

    static func describe(_ parameter: Operation.Parameter) -> JSON {
        .object([
            ("name", .text(parameter.name)), ("in", .text(parameter.isInPath ? "path" : "query")),
            ("required", .boolean(parameter.isRequired)), ("description", .text(parameter.meaning)),
            ("schema", parameter.schema.json),
        ])
    }

    /// A response for each status that problems have.
    static func problems(_ kinds: [Problem.Kind]) -> [(String, JSON)] {
        var statuses: [Int: [Problem.Kind]] = [:]
        for kind in kinds { statuses[kind.status, default: []].append(kind) }
        return statuses.sorted(by: { $0.key < $1.key }).map { status, kinds in
            let content: JSON = .object([
                ("application/problem+json", .object([("schema", Schema.named("Problem").json)]))
            ])
            return (
                String(status),
                .object([
                    ("description", .text(kinds.map { "`\($0.rawValue)`: \($0.title)." }.joined(separator: " "))),
                    ("content", content),
                ])
            )
        }
    }
}

extension Operation {
    /// Every problem that this operation can answer.
    var possibleProblems: [Problem.Kind] {
        var kinds: [Problem.Kind] = [.invalidRequest, .internalError, .unavailable]
        if access != .anyone { kinds += [.unauthenticated, .forbidden] }
        if body != nil { kinds += [.payloadTooLarge, .unsupportedMediaType] }
        if limit != .none { kinds.append(.rateLimited) }
        return kinds + problems.filter { !kinds.contains($0) }
    }
}
