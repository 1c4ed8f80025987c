/// Why a write failed, as it is stored.
struct WriteFailure: Codable, Hashable, Sendable {
    var kind: Problem.Kind
    var title: String
    var status: Int
    var detail: String
    var field: String?

    init(_ problem: Problem) {
        kind = problem.kind
        title = problem.title
        status = problem.status
        detail = problem.detail
        field = problem.field
    }

    var problem: Problem {
        Problem(kind: kind, title: title, status: status, detail: detail, field: field)
    }

    static let expired = Self(
        Problem(
            kind: .expired, title: "Expired", status: 410,
            detail: "This waited for 30 days and was not sent. Send it again, or discard it."))
    static let predecessorMissing = Self(
        Problem(
            kind: .predecessorMissing, title: "Conflict", status: 409,
            detail: "The message that this replies to was not sent.", field: "replyTo"))
    static let soundMissing = Self(
        Problem(
            kind: .notFound, title: "Not found", status: 404,
            detail: "The sound of this message is not on this device any more. Discard it, and record it again.",
            field: "file"))
    static let conversationMissing = Self(
        Problem(
            kind: .predecessorMissing, title: "Conflict", status: 409,
            detail: "The conversation that this was written in was not created.", field: "conversation"))
}
