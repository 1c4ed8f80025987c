import Accounts
import Calls
import HTTPTypes
import Model
import Services
import Storage

/// What operators do with calls: list those that are live, and end them.
enum OperatorCallOperations {
    static func all(_ service: CallService, _ audit: AuditLog) -> [Operation] { [list(service), end(service, audit)] }

    private static func list(_ service: CallService) -> Operation {
        Operation(
            name: "admin.calls.list", method: .get, path: "/admin/v1/calls",
            summary: "Live calls, the newest first.", access: .operator, isRealtime: false,
            parameters: [
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ], responses: [.ok(.named("CallPage"))], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let limit = try request.integer("limit", in: 1...100, default: 50)
            let cursor = try request.parameters["cursor"].map { _ in try request.identifier("cursor", of: CallID.self) }
            let body = try await service.store.read { store in
                ServerCallOperations.page(
                    try store.liveCalls(before: cursor, limit: limit + 1), limit: limit, at: store.now)
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private static func end(_ service: CallService, _ audit: AuditLog) -> Operation {
        Operation(
            name: "admin.calls.end", method: .post, path: "/admin/v1/calls/{call}/end",
            summary: "End a call for everybody. Ending an ended call changes nothing.", access: .operator,
            isRealtime: false, parameters: [.path("call", .identifier, "The call's id.")],
            responses: [.ok(.named("ServerCallResult"))], problems: [.notFound], limit: .serverKeys
        ) { request in
            try await ServerCallOperations.end(request, "admin.calls.end", service, audit)
        }
    }
}
