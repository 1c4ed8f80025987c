import Accounts
import Friends
import HTTPTypes
import Model

/// The reports of users, as operators read them.
enum OperatorReportOperations {
    private struct Page: Encodable {
        var reports: [ReportRecord]
        var nextCursor: ReportID?
    }

    static func all(_ friends: FriendCommands) -> [Operation] {
        [
            Operation(
                name: "admin.reports.list", method: .get, path: "/admin/v1/reports",
                summary: "What users reported about others, the newest first.", access: .operator, isRealtime: false,
                parameters: [
                    .query("limit", .integer(1...100), "How many at most; the default is 50."),
                    .query("cursor", .text(), "The `nextCursor` of the previous page."),
                ], responses: [.ok(.named("ReportPage"))], limit: .serverKeys
            ) { request in
                _ = try request.requireKey()
                let limit = try request.integer("limit", in: 1...100, default: 50)
                let cursor = try request.parameters["cursor"].map { _ in
                    try request.identifier("cursor", of: ReportID.self)
                }
                let found = try await friends.reports(before: cursor, limit: limit + 1)
                let page = Array(found.prefix(limit))
                return try .json(Page(reports: page, nextCursor: found.count > limit ? page.last?.id : nil))
            }
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
            ])
        ),
        (
            "ReportPage",
            .object([.required("reports", .list(.named("Report"))), .optional("nextCursor", .text())])
        ),
    ]
}
