import HTTPTypes
import Model

/// `/openapi.json`: the route table as OpenAPI 3.1.
package enum OpenAPIDocument {
    package static func make(
        operations: [Operation], schemas: [(String, Schema)], version: String
    ) -> String {
        var paths: [(String, [(String, JSON)])] = []
        for operation in operations {
            let entry = (operation.method.rawValue.lowercased(), describe(operation))
            if let index = paths.firstIndex(where: { $0.0 == operation.path }) {
                paths[index].1.append(entry)
            } else {
                paths.append((operation.path, [entry]))
            }
        }
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
            members.append(
                (
                    "parameters",
                    .array(
                        operation.parameters.map { parameter in
                            .object([
                                ("name", .text(parameter.name)), ("in", .text(parameter.isInPath ? "path" : "query")),
                                ("required", .boolean(parameter.isInPath)), ("description", .text(parameter.meaning)),
                                ("schema", parameter.schema.json),
                            ])
                        })
                ))
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
        var statuses: [Int: [Problem.Kind]] = [:]
        for kind in operation.possibleProblems { statuses[kind.status, default: []].append(kind) }
        for (status, kinds) in statuses.sorted(by: { $0.key < $1.key }) {
            let content: JSON = .object([
                ("application/problem+json", .object([("schema", Schema.named("Problem").json)]))
            ])
            responses.append(
                (
                    String(status),
                    .object([
                        ("description", .text(kinds.map { "`\($0.rawValue)`: \($0.title)." }.joined(separator: " "))),
                        ("content", content),
                    ])
                ))
        }
        return responses
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
