import Accounts
import HTTPTypes
import Model
import Services
import Storage

/// What operators do with server keys: list, create, rotate and revoke them. A key is in one response alone, and in its
/// repetition: that of the request that made it.
enum OperatorKeyOperations {
    static func all(_ keys: ServerKeyService) -> [Operation] { [list(keys), create(keys), rotate(keys), revoke(keys)] }

    static let schemas: [(String, Schema)] = [
        (
            "ServerKey",
            .object([
                .required("id", .text()), .required("name", .text()),
                .required("state", .choice(["active", "expired", "revoked"])),
                .required("scopes", .list(.choice(ServerKeyScope.allCases.map(\.rawValue)))),
                .required("addresses", .list(.text()), "Ranges from which it may be used; empty for all."),
                .required("createdAt", .time), .optional("expiresAt", .time), .optional("revokedAt", .time),
                .optional("lastUsedAt", .time, "Accurate to one minute."),
                .optional("previousUntil", .time, "Until when the key before the last rotation is accepted."),
            ])
        ),
        (
            "MadeServerKey",
            .object([
                .required("key", .named("ServerKey")),
                .required("text", .text(), "The key itself. It is not stored, and shown by this response alone."),
                .optional("duplicate", .boolean, "The request was already executed."),
            ])
        ),
    ]

    private static let key = Operation.Parameter.path(
        "key", .text(minimum: 16, maximum: 16), "The id of the key: 16 letters and digits.")
    private static let clientID = Schema.Member.required(
        "clientID", .identifier, "A UUID; a request repeated with it is executed once, and has the same result.")

    private struct Document: Encodable {
        var id: String
        var name: String
        var state: String
        var scopes: [String]
        var addresses: [String]
        var createdAt: Timestamp
        var expiresAt: Timestamp?
        var revokedAt: Timestamp?
        var lastUsedAt: Timestamp?
        var previousUntil: Timestamp?

        init(_ record: ServerKeyRecord, at now: Timestamp) {
            id = record.id.text
            name = record.name
            state = record.state(at: now).rawValue
            scopes = record.scopes.map(\.rawValue).sorted()
            addresses = record.addresses
            createdAt = record.createdAt
            expiresAt = record.expiresAt
            revokedAt = record.revokedAt
            lastUsedAt = record.lastUsedAt
            previousUntil = record.previous.flatMap { now < $0.until ? $0.until : nil }
        }
    }

    private struct KeyList: Encodable { var keys: [Document] }

    private static func list(_ keys: ServerKeyService) -> Operation {
        Operation(
            name: "admin.keys.list", method: .get, path: "/admin/v1/keys",
            summary: "All server keys, revoked ones too, the oldest first.", access: .operator, isRealtime: false,
            responses: [.ok(.object([.required("keys", .list(.named("ServerKey")))]))], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let (records, now) = try await keys.list()
            return try .json(KeyList(keys: records.map { Document($0, at: now) }))
        }
    }

    private struct CreateBody: Decodable {
        var clientID: ClientID
        var name: String
        var scopes: [String]
        var expires: String?
        var addresses: [String]?
    }

    private struct Made: Encodable {
        var key: Document
        var text: String
        var duplicate: Bool?

        init(_ made: MadeKey) {
            key = Document(made.record, at: Timestamp.systemClock())
            text = made.key.text
            duplicate = made.isDuplicate ? true : nil
        }
    }

    private static func create(_ keys: ServerKeyService) -> Operation {
        Operation(
            name: "admin.keys.create", method: .post, path: "/admin/v1/keys", summary: "Create a server key.",
            access: .operator, isRealtime: false,
            body: .object([
                clientID, .required("name", Schemas.displayName),
                .required(
                    "scopes", .list(.choice(ServerKeyScope.allCases.map(\.rawValue)), minimum: 1)),
                .optional(
                    "expires", .text(pattern: "^[0-9]{1,9}[smhd]$"),
                    "How long it is valid, such as `90d`; without it, until it is revoked."),
                .optional(
                    "addresses", .list(.text(maximum: 64), maximum: ServerKeyRules.maxAddresses),
                    "Ranges from which it may be used, such as `192.0.2.0/24`."),
            ]),
            responses: [
                .created(.named("MadeServerKey")), .ok(.named("MadeServerKey"), "It was created before."),
            ], problems: [.conflict, .clientIDReused], limit: .serverKeys
        ) { request in
            let administrator = try request.requireKey()
            let body = try request.decode(CreateBody.self)
            let made = try await keys.create(
                name: body.name, scopes: body.scopes, lifetime: body.expires, addresses: body.addresses ?? [],
                by: .operator(administrator, request: body.clientID))
            return try .json(Made(made), status: made.isDuplicate ? 200 : 201)
        }
    }

    private struct RotateBody: Decodable { var clientID: ClientID }

    private static func rotate(_ keys: ServerKeyService) -> Operation {
        Operation(
            name: "admin.keys.rotate", method: .post, path: "/admin/v1/keys/{key}/rotate",
            summary: "Give a key a new secret. The old one is accepted for another 24 hours.", access: .operator,
            isRealtime: false, parameters: [key], body: .object([clientID]),
            responses: [.ok(.named("MadeServerKey"))], problems: [.notFound, .conflict, .clientIDReused],
            limit: .serverKeys
        ) { request in
            let administrator = try request.requireKey()
            let body = try request.decode(RotateBody.self)
            let made = try await keys.rotate(
                request.parameters["key"] ?? "", by: .operator(administrator, request: body.clientID))
            return try .json(Made(made))
        }
    }

    private struct Revoked: Encodable { var key: Document }

    private static func revoke(_ keys: ServerKeyService) -> Operation {
        Operation(
            name: "admin.keys.revoke", method: .post, path: "/admin/v1/keys/{key}/revoke",
            summary: "Revoke a key at once, and the sessions of operators that were opened with it.",
            access: .operator, isRealtime: false, parameters: [key],
            responses: [.ok(.object([.required("key", .named("ServerKey"))]))], problems: [.notFound],
            limit: .serverKeys
        ) { request in
            let administrator = try request.requireKey()
            let record = try await keys.revoke(request.parameters["key"] ?? "", by: .operator(administrator))
            return try .json(Revoked(key: Document(record, at: Timestamp.systemClock())))
        }
    }
}
