import Accounts
import HTTPTypes
import Messaging
import Model
package import Services
import Storage

/// What an app's own back end does with conversations: creates them, adds and removes members.
package enum ServerConversationOperations {
    package static func all(_ service: ConversationService, _ audit: AuditLog) -> [Operation] {
        [
            create(service, audit), update(service, audit), get(service), members(service), add(service, audit),
            remove(service, audit),
        ]
    }

    package static let schemas: [(String, Schema)] = [
        (
            "ServerConversationResult",
            .object([
                .required("conversation", .named("Conversation")),
                .optional("duplicate", .boolean, "The request was already executed, or the conversation existed."),
            ])
        ),
        (
            "ServerMemberPage",
            .object([.required("members", .list(.named("ConversationMember"))), .optional("nextCursor", .text())])
        ),
    ]

    private static let conversation = ConversationOperations.conversation
    private static let result = Schema.named("ServerConversationResult")
    private static let references = Schema.list(ServerUserOperations.reference, minimum: 1, maximum: 100)

    private struct Creation: Decodable {
        var clientID: ClientID
        var kind: ConversationKind
        var members: [String]
        var name: String?
        var disappearAfter: Int64?
    }

    private static func create(_ service: ConversationService, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.conversations.create", method: .post, path: "/v1/server/conversations",
            summary:
                "Create a conversation, whose members are in it at once. Of a group the first is the owner; that of two people "
                + "is returned if it exists.",
            access: .serverKey(.conversationsWrite), isRealtime: false,
            body: .object([
                .required("clientID", .identifier, "A UUID; a request repeated with it is executed once."),
                .required("kind", .choice(["direct", "group"])), .required("members", references),
                .optional("name", Schemas.displayName, "Of a group."),
                .optional(
                    "disappearAfter", .integer(Disappearing.bounds),
                    "Seconds after which its messages disappear. A conversation that exists keeps what it has."),
            ]),
            responses: [.created(result, "It is new."), .ok(result, "It existed.")],
            problems: [.notFound, .conflict, .forbidden, .clientIDReused], limit: .serverKeys
        ) { request in
            let key = try request.requireKey()
            let body = try request.decode(Creation.self)
            let people = try references(body.members)
            let name = try body.name.map { try AccountRules.displayName($0, field: "name") }
            let made = try await service.createByServer(
                body.kind, people, name: name, disappearAfter: body.disappearAfter, clientID: body.clientID,
                actor: key.actor
            ) { conversation, store in
                let entry = key.audit("server.conversations.create", conversation.id.text)
                try store.insert(entry)
                return entry
            }
            if let entry = made.entry { audit.log(entry) }
            return response(made.conversation, status: made.entry == nil ? 200 : 201, isDuplicate: made.entry == nil)
        }
    }

    private static func get(_ service: ConversationService) -> Operation {
        Operation(
            name: "server.conversations.get", method: .get, path: "/v1/server/conversations/{conversation}",
            summary: "One conversation.", access: .serverKey(.conversationsRead), isRealtime: false,
            parameters: [conversation], responses: [.ok(result)], problems: [.notFound], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let id = try request.identifier("conversation", of: ConversationID.self)
            return response(try await service.read { try $1.serverConversation(id, in: $0) })
        }
    }

    private static func members(_ service: ConversationService) -> Operation {
        Operation(
            name: "server.members.list", method: .get, path: "/v1/server/conversations/{conversation}/members",
            summary: "The members in the order of their ids, who left too.", access: .serverKey(.conversationsRead),
            isRealtime: false,
            parameters: [
                conversation, .query("limit", .integer(1...100), "How many at most; the default is 100."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("ServerMemberPage"))], problems: [.notFound], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let id = try request.identifier("conversation", of: ConversationID.self)
            let limit = try request.integer("limit", in: 1...100, default: 100)
            let cursor = try request.parameters["cursor"].map { _ in try request.identifier("cursor", of: UserID.self) }
            let body = try await service.read { store, commands in
                let kind = try commands.serverConversation(id, in: store).kind
                let members = try store.members(of: id, after: cursor, limit: limit + 1)
                var writer = JSONWriter(capacity: 1024)
                writer.object { writer in
                    writer.name("members")
                    // Whether somebody has declined is told to nobody.
                    writer.array(members.prefix(limit)) { $1.shown(in: kind).write(to: &$0) }
                    writer.member("nextCursor", members.count > limit ? members[limit - 1].user : nil)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private struct Addition: Decodable { var members: [String] }

    private static func add(_ service: ConversationService, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.members.add", method: .post, path: "/v1/server/conversations/{conversation}/members",
            summary: "Add users to a group, who are in it at once.", access: .serverKey(.conversationsWrite),
            isRealtime: false, parameters: [conversation], body: .object([.required("members", references)]),
            responses: [.ok(result)], problems: [.notFound, .forbidden, .conflict], limit: .serverKeys
        ) { request in
            let key = try request.requireKey()
            let id = try request.identifier("conversation", of: ConversationID.self)
            let people = try references(request.decode(Addition.self).members)
            let entry = key.audit("server.members.add", id.text)
            let changed = try await service.write { store, commands in
                let users = try people.enumerated().map { try store.user($1, field: "members[\($0)]").id }
                let changed = try commands.addByServer(users, to: id, in: store)
                try store.insert(entry)
                return changed
            }
            audit.log(entry)
            return response(changed)
        }
    }

    private static func remove(_ service: ConversationService, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.members.remove", method: .delete,
            path: "/v1/server/conversations/{conversation}/members/{user}",
            summary:
                "Remove a user from a group. Links from before do not lead them back, nor who has left. Removing twice changes "
                + "nothing.",
            access: .serverKey(.conversationsWrite), isRealtime: false,
            parameters: [
                conversation,
                .path("user", ServerUserOperations.reference, "The user's id, or `ext:` and the app's own id."),
            ],
            problems: [.notFound, .conflict], limit: .serverKeys
        ) { request in
            let key = try request.requireKey()
            let id = try request.identifier("conversation", of: ConversationID.self)
            let user = try UserReference(request.parameters["user"] ?? "", field: "user")
            let entry = key.audit("server.members.remove", id.text)
            try await service.write { store, commands in
                try commands.removeByServer(store.user(user, field: "user").id, from: id, in: store)
                try store.insert(entry)
            }
            audit.log(entry)
            return .noContent
        }
    }

    /// Null is something else than absent.
    private struct Change: Decodable {
        private enum Keys: CodingKey { case disappearAfter }

        let disappearAfter: Int64?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            guard container.contains(.disappearAfter) else {
                throw Problem.invalid("disappearAfter", "Give disappearAfter: seconds, or null.")
            }
            disappearAfter = try container.decodeIfPresent(Int64.self, forKey: .disappearAfter)
        }
    }

    private static func update(_ service: ConversationService, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.conversations.update", method: .patch, path: "/v1/server/conversations/{conversation}",
            summary: "Change after how long messages disappear that are sent from now on.",
            access: .serverKey(.conversationsWrite), isRealtime: false, parameters: [conversation],
            body: .object([
                .required(
                    "disappearAfter", .named("DisappearAfter"), "Seconds; with null they stay.")
            ]),
            responses: [.ok(result)], problems: [.notFound], limit: .serverKeys
        ) { request in
            let key = try request.requireKey()
            let id = try request.identifier("conversation", of: ConversationID.self)
            let seconds = try request.decode(Change.self).disappearAfter
            let entry = key.audit("server.conversations.update", id.text)
            let changed = try await service.write { store, commands in
                let changed = try commands.changeByServer(id, disappearAfter: seconds, in: store)
                try store.insert(entry)
                return changed
            }
            audit.log(entry)
            return response(changed)
        }
    }

    private static func references(_ members: [String]) throws -> [UserReference] {
        guard members.count <= 100 else { throw Problem.invalid("members", "At most 100 people at once.") }
        return try members.enumerated().map { try UserReference($1, field: "members[\($0)]") }
    }

    private static func response(
        _ conversation: Conversation, status: Int = 200, isDuplicate: Bool = false
    ) -> OperationResponse {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.name("conversation")
            conversation.write(to: &writer)
            if isDuplicate { writer.member("duplicate", true) }
        }
        return OperationResponse(status: status, body: writer.bytes)
    }
}
