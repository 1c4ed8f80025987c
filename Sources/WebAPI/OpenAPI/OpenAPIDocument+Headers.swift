import Model

// The headers of responses.
extension OpenAPIDocument {
    private static let retryAfter = "Retry-After"
    private static let rateLimits = ["RateLimit", "RateLimit-Policy"]

    /// The headers of responses with this status, by reference.
    static func headers(of status: Int) -> JSON { .object(headerReferences(of: status)) }

    static func headerReferences(of status: Int) -> [(String, JSON)] {
        // The time of a 503 is not always known.
        let names = [RequestID.headerName] + rateLimits + ([429, 503].contains(status) ? [retryAfter] : [])
        return names.map { ($0, reference("headers", $0)) }
    }

    /// The components.
    static let headers: [(String, JSON)] = [
        header(
            RequestID.headerName, Schemas.requestID, isRequired: true,
            "The request's id: the trace id of a valid `traceparent` (W3C Trace Context), otherwise a random one. The "
                + "server's log has it too.", example: .text(SchemaExamples.requestID)),
        header(
            "RateLimit", .text(),
            "The requests `r` that remain of the policy that this one was counted against, and the seconds `t` after "
                + "which all are back (draft-ietf-httpapi-ratelimit-headers-10).", example: #""requests";r=599;t=1"#),
        header(
            "RateLimit-Policy", .text(), "That policy: its quota `q` within `w` seconds.",
            example: #""requests";q=600;w=60"#),
        header(
            retryAfter, .integer(1...Int64(Int32.max)), "Seconds after which the request may be repeated.", example: 1),
    ]

    private static func header(
        _ name: String, _ schema: Schema, isRequired: Bool = false, _ description: String, example: JSON
    ) -> (String, JSON) {
        let members: [(String, JSON)] = [
            ("description", .text(description)), ("required", .boolean(isRequired)), ("schema", schema.json),
            ("example", example),
        ]
        return (name, .object(members))
    }
}
