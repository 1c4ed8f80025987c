import Accounts
import Friends
import HTTPTypes
import Model
import Services

/// The reports of users, as operators read and resolve them.
enum OperatorReportOperations {
    private struct Page: Encodable {
        var reports: [ReportRecord]
        var nextCursor: ReportID?
    }

    private struct Resolution: Decodable { var outcome: ReportResolution.Outcome }
    private struct Resolved: Encodable { var report: ReportRecord }

    private static let outcomes = ReportResolution.Outcome.allCases.map(\.rawValue)

    static func all(_ friends: FriendCommands, _ audit: AuditLog) -> [Operation] {
        [
            Operation(
                name: "admin.reports.list", method: .get, path: "/admin/v1/reports",
                summary: "What users reported about others, the newest first.", access: .operator, isRealtime: false,
                parameters: [
                    .query("state", .choice(["open", "resolved"]), "Only these; all if it is absent."),
                    .query("limit", .integer(1...100), "How many at most; the default is 50."),
                    .query("cursor", .text(), "The `nextCursor` of the previous page."),
                ], responses: [.ok(.named("ReportPage"))], limit: .serverKeys
            ) { request in
                _ = try request.requireKey()
                let limit = try request.integer("limit", in: 1...100, default: 50)
                let cursor = try request.parameters["cursor"].map { _ in
                    try request.identifier("cursor", of: ReportID.self)
                }
                let isOpen = try request.choice("state", among: ["open", "resolved"]) { $0 == "open" }
                let found = try await friends.reports(before: cursor, isOpen: isOpen, limit: limit + 1)
                let page = Array(found.prefix(limit))
                return try .json(Page(reports: page, nextCursor: found.count > limit ? page.last?.id : nil))
            },
            Operation(
                name: "admin.reports.resolve", method: .post, path: "/admin/v1/reports/{report}/resolve",
                summary:
                    "Note that a report was dismissed, or acted on. Doing it twice changes nothing, and another outcome "
                    + "replaces the first.",
                access: .operator, isRealtime: false, parameters: [.path("report", .identifier, "The report's id.")],
                body: .object([.required("outcome", .choice(outcomes))]),
                responses: [.ok(.object([.required("report", .named("Report"))]))], problems: [.notFound],
                limit: .serverKeys
            ) { request in
                let key = try request.requireKey()
                let id = try request.identifier("report", of: ReportID.self)
                let outcome = try request.decode(Resolution.self).outcome
                let resolved = try await friends.resolve(id, as: outcome, by: key)
                if let entry = resolved.entry { audit.log(entry) }
                return try .json(Resolved(report: resolved.report))
            },
        ]
    }

    static let schemas: [(String, Schema)] = [
        (
            "Report",
            .object([
                .required("id", .identifier), .required("reporter", .identifier),
                .required("user", .identifier, "Whom it is about."),
                .required("reason", .choice(ReportRecord.Reason.allCases.map(\.rawValue))),
                .optional("text", .text(), "Absent if there is none, and if the reporter was deleted."),
                .required("createdAt", .time),
                .optional("conversation", .identifier, "Of the message that was reported, if one was."),
                .required(
                    "messages",
                    .list(
                        .object([
                            .required("number", .integer()), .required("sentAt", .time),
                            .required("text", .text(), "At most 2 KiB."),
                        ])),
                    "Copies, as the reporter saw them: the last one was reported, and before it is what the user wrote "
                        + "there. They stay when the messages do not; empty if the user was deleted."),
                .optional(
                    "resolution",
                    .object([
                        .required("outcome", .choice(outcomes)), .required("at", .time),
                        .required("by", .text(), "As the audit log names them."),
                    ]), "Absent while it is open."),
            ])
        ),
        (
            "ReportPage",
            .object([.required("reports", .list(.named("Report"))), .optional("nextCursor", .text())])
        ),
    ]
}
