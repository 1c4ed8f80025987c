import HTTPTypes
import Model
import Notifications
import Services

/// What operators see of the services that wake devices, and trying them.
enum OperatorPushOperations {
    static func all(_ pushes: OperatedPushes) -> [Operation] { [get(pushes), check(pushes)] }

    static let schemas: [(String, Schema)] = [
        (
            "PushKindHealth",
            .object([
                .required("kind", .choice(PushKind.allCases.map(\.rawValue))),
                .required("configured", .boolean, "Whether this server pushes by it."),
                .required("registrations", .integer(0...Int64.max), "Of all users and devices."),
                .required("waiting", .integer(0...Int64.max), "Pushes that no service has taken yet."),
                .required("oldestSeconds", .integer(0...Int64.max), "The age of the oldest of them."),
                .optional(
                    "failure",
                    .object([
                        .required("reason", .text(), "Without anything of the device."),
                        .required("since", .time, "When the first failed after the last that did not."),
                    ]), "Of the last attempt since the start of the server; absent if it did not fail."),
            ])
        )
    ]

    private struct Health: Encodable {
        var kinds: [KindHealth]
    }

    private struct KindHealth: Encodable {
        var kind: PushKind
        var configured: Bool
        var registrations: Int
        var waiting: Int
        var oldestSeconds: Int64
        var failure: PushHealth.Failure?
    }

    private static func get(_ pushes: OperatedPushes) -> Operation {
        Operation(
            name: "admin.push.get", method: .get, path: "/admin/v1/push",
            summary: "How the services are by which devices that sleep are told, all that this server knows.",
            access: .operator, isRealtime: false,
            responses: [.ok(.object([.required("kinds", .list(.named("PushKindHealth")))]))], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let kinds = try await pushes.health().kinds.map { kind in
                KindHealth(
                    kind: kind.kind, configured: pushes.kinds.contains(kind.kind), registrations: kind.registrations,
                    waiting: kind.waiting, oldestSeconds: Int64(kind.oldestSeconds), failure: kind.failure)
            }
            return try .json(Health(kinds: kinds))
        }
    }

    private struct Checked: Encodable {
        var problem: String?
    }

    private static func check(_ pushes: OperatedPushes) -> Operation {
        let services = PushServiceCheck.kinds.map(\.rawValue)
        return Operation(
            name: "admin.push.check", method: .post, path: "/admin/v1/push/{service}/check",
            summary:
                "Have a push service check a request that reaches no device, as `switchboard check` does. One is checked at a "
                + "time, and each \(PushServiceChecker.checksPerMinute) times a minute.",
            access: .operator, isRealtime: false,
            parameters: [.path("service", .choice(services), "It has to be configured.")],
            responses: [
                .ok(.object([.optional("problem", .text(), "Why it would take no pushes; absent if it would.")]))
            ], problems: [.conflict, .unavailable], limit: .serverKeys, isReadOnly: true
        ) { request in
            _ = try request.requireKey()
            let name = request.parameters["service"] ?? ""
            guard let kind = PushKind(rawValue: name), services.contains(name) else {
                throw Problem.invalid("service", "Expected one of \(services.joined(separator: ", ")).")
            }
            guard pushes.kinds.contains(kind), let result = try await pushes.checker.run(kind) else {
                throw Problem(.conflict, "\(name) is not configured: see `push` in the settings.", field: "service")
            }
            return try .json(Checked(problem: result.problem))
        }
    }
}
