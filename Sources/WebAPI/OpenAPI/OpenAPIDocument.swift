import HTTPTypes
import Model

/// `/openapi.json`: the route table as OpenAPI 3.1.
///
/// Every schema with members that is used twice is a component, and so is every response with a problem, since
/// generators make a type of each schema that they find.
package struct OpenAPIDocument {
    let operations: [Operation]
    let documents: [DocumentOperation]
    let schemas: [(String, Schema)]
    let about: About
    let version: String
    private let examples: SchemaExamples

    package init(
        operations: [Operation], documents: [DocumentOperation] = [], schemas: [(String, Schema)],
        about: About = .api, version: String
    ) {
        self.operations = operations
        self.documents = documents
        self.schemas = schemas + [("Problem", Problem.schema)]
        self.about = about
        self.version = version
        examples = SchemaExamples(self.schemas)
    }

    package var text: String { json.encoded }

    var json: JSON {
        .object([
            ("openapi", "3.1.0"), ("info", info),
            ("servers", .array([.object([("url", "/"), ("description", "The server that this document is from.")])])),
            ("tags", .array(tags)), ("paths", .object(paths)), ("webhooks", webhooks), ("components", components),
        ])
    }

    private var info: JSON {
        .object([
            ("title", .text(about.title)), ("version", .text(version)), ("description", .text(about.description)),
            ("license", .object([("name", "Apache-2.0"), ("identifier", "Apache-2.0")])),
        ])
    }

    /// What the document says of itself.
    package struct About: Sendable {
        let title: String
        let description: String

        /// The API of the server.
        package static let api = Self(
            title: "Switchboard",
            description: """
                Calls, signalling and relay credentials. Every request is also a realtime request of the same \
                name (its operationId) over the WebSocket at /v1/realtime, unless its description says otherwise.
                """)
    }

    private var paths: [(String, JSON)] {
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
        return paths.map { ($0.0, .object($0.1)) }
    }

    private func describe(_ operation: Operation) -> JSON {
        var members: [(String, JSON)] = [
            ("operationId", .text(operation.name)), ("summary", .text(operation.summary)),
            ("tags", .array([.text(operation.tag)])),
        ]
        if !operation.isRealtime { members.append(("description", "Only over HTTP.")) }
        let header = operation.access == .endpoint ? [Self.reference("parameters", Self.endpointParameter)] : []
        let parameters = operation.parameters.map(describe) + header
        if !parameters.isEmpty { members.append(("parameters", .array(parameters))) }
        if let body = operation.body.flatMap(requestBody) { members.append(("requestBody", body)) }
        members.append(("responses", .object(responses(of: operation))))
        let security: [JSON] =
            switch operation.access {
            case .anyone: []
            case .user: [.object([("accessToken", .array([]))])]
            case .serverKey, .operatorKey: [.object([("serverKey", .array([]))])]
            case .operator: [.object([("operatorToken", .array([]))])]
            case .endpoint: [.object([("accessToken", .array([])), ("endpoint", .array([]))])]
            }
        members.append(("security", .array(security)))
        return .object(members)
    }

    /// The body of a request: demanded if any member of it is. Nil for a body without members, which may be sent but
    /// says nothing.
    private func requestBody(_ schema: Schema) -> JSON? {
        guard let members = examples.resolve(schema).objectMembers, !members.isEmpty else { return nil }
        let content = JSON.object([("schema", schema.json), ("example", examples.example(of: schema))])
        return .object([
            ("required", .boolean(members.contains(where: \.isRequired))),
            ("content", .object([("application/json", content)])),
        ])
    }

    private func responses(of operation: Operation) -> [(String, JSON)] {
        let successes = operation.responses.map { response -> (String, JSON) in
            var members: [(String, JSON)] = [
                ("description", .text(response.description)), ("headers", Self.headers(of: response.status)),
            ]
            if let schema = response.schema {
                var content = [("application/json", JSON.object([("schema", schema.json)]))]
                // Without a form of its own in OpenAPI 3.1: what the data of each event is.
                if let events = response.events {
                    content.append(("text/event-stream", .object([("schema", events.json)])))
                }
                members.append(("content", .object(content)))
            }
            return (String(response.status), .object(members))
        }
        return successes + problems(operation.possibleProblems)
    }

    func describe(_ parameter: Operation.Parameter) -> JSON {
        .object([
            ("name", .text(parameter.name)), ("in", .text(parameter.isInPath ? "path" : "query")),
            ("required", .boolean(parameter.isRequired)), ("description", .text(parameter.description)),
            ("schema", parameter.schema.json),
        ])
    }

    /// A response for each status that problems have.
    func problems(_ kinds: [Problem.Kind]) -> [(String, JSON)] {
        ProblemResponse.all(of: kinds).map { (String($0.status), Self.reference("responses", $0.name)) }
    }

    static func reference(_ kind: String, _ name: String) -> JSON {
        .object([("$ref", .text("#/components/\(kind)/\(name)"))])
    }
}

// What operations share.
extension OpenAPIDocument {
    private static let endpointParameter = "Endpoint"

    private var components: JSON {
        .object([
            ("schemas", .object(schemas.map { ($0, component($0, $1)) })),
            ("parameters", .object([(Self.endpointParameter, Self.endpointHeader)])),
            ("headers", .object(Self.headers)),
            ("responses", .object(problemResponses.map { ($0.name, $0.json) })),
            (
                "securitySchemes",
                .object(securitySchemes)
            ),
        ])
    }

    private var securitySchemes: [(String, JSON)] {
        if operations.contains(where: { $0.access == .operator }) {
            return [("serverKey", Self.serverKeyScheme), ("operatorToken", Self.operatorTokenScheme)]
        }
        return [
            ("accessToken", .object([("type", "http"), ("scheme", "bearer"), ("bearerFormat", "JWT")])),
            (
                "endpoint",
                .object([
                    ("type", "apiKey"), ("in", "header"), ("name", "Switchboard-Endpoint"),
                    ("description", .text(Self.endpointDescription)),
                ])
            ),
            ("serverKey", Self.serverKeyScheme),
        ]
    }

    private func component(_ name: String, _ schema: Schema) -> JSON {
        guard case .object(let members) = schema.json, schema.objectMembers?.isEmpty == false else {
            return schema.json
        }
        return .object(members + [("examples", .array([examples.example(of: .named(name))]))])
    }

    /// Also a security scheme: generators have either an argument of the function or a setting of the client for it.
    private static let endpointHeader = JSON.object([
        ("name", "Switchboard-Endpoint"), ("in", "header"), ("required", true),
        ("description", .text(endpointDescription)),
        (
            "schema",
            Schema.text(
                pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12} [A-Za-z0-9_-]{16,128}$"
            ).json
        ),
        ("example", .text("\(SchemaExamples.identifier) a-long-random-secret-of-this-endpoint")),
    ])

    private static let endpointDescription = """
        `<endpoint id> <secret>`: a UUID and 16 to 128 characters, both generated by the client; the first use \
        registers them.
        """

    private var problemResponses: [ProblemResponse] {
        let kinds = operations.map(\.possibleProblems) + documents.map(\.possibleProblems)
        return Set(kinds.flatMap(ProblemResponse.all)).sorted { ($0.status, $0.name) < ($1.status, $1.name) }
    }
}

extension Operation {
    /// Groups operations in the OpenAPI description.
    var tag: String { name.split(separator: ".").first.map(String.init) ?? "server" }

    /// Every problem that this operation can respond with.
    var possibleProblems: [Problem.Kind] {
        var kinds: [Problem.Kind] = [.invalidRequest, .internalError, .unavailable]
        if writes { kinds.append(.storageFull) }
        if access != .anyone { kinds += [.unauthenticated, .forbidden] }
        if body != nil { kinds += [.payloadTooLarge, .unsupportedMediaType] }
        if limit != .none { kinds.append(.rateLimited) }
        if feature != nil { kinds.append(.featureDisabled) }
        return kinds + problems.filter { !kinds.contains($0) }
    }
}
