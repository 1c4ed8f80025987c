import Accounts
import HTTPTypes
import Model
import Services

/// What operators see of the server and do with it: state, figures, draining, settings, and the audit log.
enum OperatorServerOperations {
    static func all(_ server: OperatedServer, _ audit: AuditLog) -> [Operation] {
        [state(server), stats(server), drain(server, audit), settings(server), entries(audit)]
    }

    static let schemas: [(String, Schema)] = [
        (
            "ServerState",
            .object([
                .required("version", .text()), .required("startedAt", .time),
                .required("uptime", .integer(), "Seconds since the start."), .required("ready", .boolean),
                .optional("obstacle", .text(), "Why it is not ready, as `/readyz` says."),
                .required("draining", .boolean),
                .required("allocations", .integer(), "Allocations of the relay."),
                .required("roles", .list(.choice(["api", "relay", "gateway"])), "The roles of this process."),
            ])
        ),
        (
            "ConfiguredSetting",
            .object([
                .required("key", .text()), .required("meaning", .text()), .required("type", .text()),
                .required("value", .text(), "Without anything secret."), .required("defaultValue", .text()),
                .required("isDefault", .boolean), .required("isSecret", .boolean),
                .required("reloads", .boolean, "Whether a reload applies it."),
                .optional("source", .text(), "Where it was read: a line of the file, a flag, or a variable."),
            ])
        ),
        (
            "AuditEntry",
            .object([
                .required("at", .time), .required("actor", .text(), "`operator`, `key:<id>` or `unknown`."),
                .required("action", .text()), .optional("subject", .text()),
                .required("outcome", .text(), "`done`, or why it was refused."), .optional("address", .text()),
                .required("count", .integer(), "How often it happened within a minute."),
                .optional("request", Schemas.requestID),
            ])
        ),
    ]

    private static func state(_ server: OperatedServer) -> Operation {
        Operation(
            name: "admin.server.get", method: .get, path: "/admin/v1/server",
            summary: "Version, uptime, readiness and draining.", access: .operator, isRealtime: false,
            responses: [.ok(.named("ServerState"))], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            return try .json(server.state())
        }
    }

    private static func stats(_ server: OperatedServer) -> Operation {
        Operation(
            name: "admin.figures.get", method: .get, path: "/admin/figures",
            summary: "Figures of the moment, and totals since the start.", access: .operator, isRealtime: false,
            responses: [.ok(.anything)], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            return OperationResponse(status: 200, body: Array(server.stats().encoded.utf8))
        }
    }

    private struct DrainBody: Decodable { var on: Bool }

    private static func drain(_ server: OperatedServer, _ audit: AuditLog) -> Operation {
        Operation(
            name: "admin.drain.set", method: .put, path: "/admin/v1/drain",
            summary:
                "Start or stop draining: new allocations are refused and /readyz says no, while what is there goes on.",
            access: .operator, isRealtime: false, body: .object([.required("on", .boolean)]),
            responses: [.ok(.named("ServerState"))], limit: .serverKeys, isReadOnly: true
        ) { request in
            let key = try request.requireKey()
            let isOn = try request.decode(DrainBody.self).on
            server.setDraining(isOn)
            await audit.writeIfPossible(key.audit("admin.drain.\(isOn ? "start" : "stop")", nil))
            return try .json(server.state())
        }
    }

    private struct SettingList: Encodable { var settings: [ConfiguredSetting] }

    private static func settings(_ server: OperatedServer) -> Operation {
        Operation(
            name: "admin.settings.list", method: .get, path: "/admin/v1/settings",
            summary: "Every setting with its value in force, without secrets.", access: .operator, isRealtime: false,
            responses: [.ok(.object([.required("settings", .list(.named("ConfiguredSetting")))]))],
            limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            return try .json(SettingList(settings: server.settings()))
        }
    }

    private static func entries(_ audit: AuditLog) -> Operation {
        Operation(
            name: "admin.audit.list", method: .get, path: "/admin/v1/audit",
            summary: "The audit log, the newest entry first.", access: .operator, isRealtime: false,
            parameters: [
                .query("limit", .integer(1...200), "How many at most; the default is 50."),
                .query("cursor", .text(pattern: "^[0-9]{1,18}$"), "The `nextCursor` of the previous page."),
            ],
            responses: [
                .ok(.object([.required("entries", .list(.named("AuditEntry"))), .optional("nextCursor", .text())]))
            ], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let limit = try request.integer("limit", in: 1...200, default: 50)
            let cursor = try cursor(request.parameters["cursor"])
            let found = try await audit.entries(before: cursor, limit: limit + 1)
            let page = Array(found.prefix(limit))
            var writer = JSONWriter(capacity: 256 * (page.count + 1))
            writer.object { writer in
                writer.name("entries")
                writer.array(page) { $1.write(to: &$0) }
                writer.member("nextCursor", found.count > limit ? page.last?.id.map { String($0) } : nil)
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func cursor(_ text: String?) throws -> Int64? {
        guard let text else { return nil }
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw Problem.invalid("cursor", "This cursor does not belong to the audit log.")
        }
        return Int64(text)
    }
}
