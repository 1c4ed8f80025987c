import Accounts
package import Model

extension Problem {
    /// The problem as a document of RFC 9457, with the id of the current request.
    package var document: JSON {
        var fields: [(String, JSON)] = [
            ("type", .text(kind.rawValue)), ("title", .text(kind.title)), ("status", .integer(Int64(kind.status))),
            ("detail", .text(detail)),
        ]
        if let field { fields.append(("field", .text(field))) }
        if let retryAfter { fields.append(("retryAfter", .integer(retryAfter))) }
        if let request = request ?? RequestID.current { fields.append(("request", .text(request.text))) }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { fields.append((name, .raw(value))) }
        return .object(fields)
    }

    static let schema = Schema.object([
        .required("type", .choice(Problem.Kind.allCases.map(\.rawValue)), "Stable, for programs."),
        .required("title", .text(), "A short summary of the problem type."),
        .required("status", .integer(400...599)),
        .required("detail", .text(), "What happened in this case."),
        .optional("field", .text(), "The member of the request that caused the problem."),
        .optional("retryAfter", .integer(), "Milliseconds after which the request may be retried."),
        .optional(
            "reason", .choice(RefreshRefusal.reasons),
            "Of a refresh token that is refused: whether its session has expired, or was ended and how."),
        .optional("request", Schemas.requestID, "The request's id, as in `Switchboard-Request`."),
    ])
}
