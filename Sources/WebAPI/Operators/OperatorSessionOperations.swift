import Accounts
import HTTPTypes
import Model
import Services

/// Signing in to the operator's port, and out.
enum OperatorSessionOperations {
    static func all(_ sessions: OperatorSessions, _ keys: ServerKeyService) -> [Operation] {
        [create(sessions, keys), get(keys), end(sessions, keys.audit)]
    }

    private static let key = Schema.object([
        .required("id", .text()), .required("name", .text()), .required("scopes", .list(.text())),
        .optional("expiresAt", .time),
    ])

    private struct KeyDocument: Encodable {
        var id: String
        var name: String
        var scopes: [String]
        var expiresAt: Timestamp?

        init(_ key: KeyPrincipal, _ keys: ServerKeyService) {
            let record = keys.records.first { $0.id == key.id }
            id = key.id.text
            name = record?.name ?? ""
            scopes = key.scopes.map(\.rawValue).sorted()
            expiresAt = record?.expiresAt
        }
    }

    private struct Opened: Encodable {
        var token: String
        var expiresAt: Timestamp
        var key: KeyDocument
    }

    private struct Current: Encodable { var key: KeyDocument }

    private static func create(_ sessions: OperatorSessions, _ keys: ServerKeyService) -> Operation {
        Operation(
            name: "admin.sessions.create", method: .post, path: "/admin/v1/sessions",
            summary:
                "Sign in with a server key of the scope operator, for a token of 12 hours that ends with the key.",
            access: .operatorKey, isRealtime: false,
            responses: [
                .created(
                    .object([
                        .required("token", .text()), .required("expiresAt", .time), .required("key", key),
                    ]))
            ], limit: .serverKeys, isReadOnly: true
        ) { request in
            let key = try request.requireKey()
            let opened = sessions.open(by: key)
            await keys.audit.writeIfPossible(key.audit("admin.sessions.create", key.id.text))
            return try .json(
                Opened(token: opened.token, expiresAt: opened.expiresAt, key: KeyDocument(key, keys)), status: 201)
        }
    }

    private static func get(_ keys: ServerKeyService) -> Operation {
        Operation(
            name: "admin.sessions.get", method: .get, path: "/admin/v1/sessions/current",
            summary: "With which key this session was opened.", access: .operator, isRealtime: false,
            responses: [.ok(.object([.required("key", key)]))], limit: .serverKeys
        ) { request in
            try .json(Current(key: KeyDocument(request.requireKey(), keys)))
        }
    }

    private static func end(_ sessions: OperatorSessions, _ audit: AuditLog) -> Operation {
        Operation(
            name: "admin.sessions.end", method: .delete, path: "/admin/v1/sessions/current",
            summary: "Sign out.", access: .operator, isRealtime: false, limit: .serverKeys, isReadOnly: true
        ) { request in
            let key = try request.requireKey()
            if let token = request.operatorToken { sessions.end(token) }
            await audit.writeIfPossible(key.audit("admin.sessions.end", key.id.text))
            return .noContent
        }
    }
}
