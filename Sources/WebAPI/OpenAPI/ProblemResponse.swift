import Model

/// The response with one status, for the kinds of problems that have it. A component of the OpenAPI description, since
/// most operations have the same.
struct ProblemResponse: Hashable {
    let status: Int
    /// In the order of the operation's problems.
    let kinds: [Problem.Kind]

    /// The responses for these kinds, one for each status.
    static func all(of kinds: [Problem.Kind]) -> [Self] {
        // In the order of the declaration, so that the same kinds are the same component.
        let ordered = Problem.Kind.allCases.filter(kinds.contains)
        return Dictionary(grouping: ordered, by: \.status).map { Self(status: $0, kinds: $1) }
            .sorted { $0.status < $1.status }
    }

    /// Such as `ConflictOrCallEnded`.
    var name: String {
        kinds.map { kind in
            kind.rawValue.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        }.joined(separator: "Or")
    }

    var json: JSON {
        let content = JSON.object([("schema", Schema.named("Problem").json)])
        return .object([
            ("description", .text(kinds.map { "`\($0.rawValue)`: \($0.title)." }.joined(separator: " "))),
            ("headers", OpenAPIDocument.headers(of: status)),
            ("content", .object([("application/problem+json", content)])),
        ])
    }
}
