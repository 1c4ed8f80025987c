import HTTPTypes
import Messaging
import Model
import Services
import Storage

/// Operations of the members of conversations.
enum ConversationMemberOperations {
    static func all(_ service: ConversationService) -> [Operation] {
        [
            add(service), list(service), changeRole(service), remove(service), leave(service), accept(service),
            decline(service), handOver(service),
        ]
    }

    private static let conversation = ConversationOperations.conversation
    private static let user = Operation.Parameter.path("user", .identifier, "The member's user id.")

    private struct Addition: Decodable { var members: [UserID] }

    private static func add(_ service: ConversationService) -> Operation {
        Operation(
            name: "members.add", method: .post, path: "/v1/conversations/{conversation}/members",
            summary:
                "Add people to a group: friends are members at once, other people are invited. For people who "
                + "are members already, or invited, nothing changes.",
            parameters: [conversation],
            body: .object([.required("members", .list(.identifier, minimum: 1, maximum: 100), "User ids.")]),
            responses: [.ok(.named("ConversationResult"))], problems: [.notFound, .forbidden, .conflict],
            limit: .conversations
        ) { request in
            let members = try request.decode(Addition.self).members
            return try await change(request, service) { id, user, store, commands in
                try commands.add(members, to: id, by: user, in: store)
            }
        }
    }

    private static func list(_ service: ConversationService) -> Operation {
        Operation(
            name: "members.list", method: .get, path: "/v1/conversations/{conversation}/members",
            summary:
                "The members in the order of their ids. It includes those who have left, so that clients can "
                + "correct the list that they hold.",
            parameters: [
                conversation, .query("limit", .integer(1...100), "How many at most; the default is 100."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("MemberPage"))], problems: [.notFound, .forbidden]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let limit = try request.integer("limit", in: 1...100, default: 100)
            let cursor = try request.parameters["cursor"].map { _ in try request.identifier("cursor", of: UserID.self) }
            let body = try await service.read { store, commands in
                let page = try commands.members(of: id, after: cursor, limit: limit, by: user, in: store)
                let people = try store.people(page.members.map(\.user))
                var writer = JSONWriter(capacity: 1024)
                writer.object { writer in
                    writer.name("members")
                    writer.array(page.members) { $1.write(to: &$0) }
                    writer.write(people: people)
                    writer.member("nextCursor", page.next)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private struct RoleChange: Decodable {
        var role: MemberRole
        var version: Int64?
    }

    private static func changeRole(_ service: ConversationService) -> Operation {
        Operation(
            name: "members.update", method: .patch, path: "/v1/conversations/{conversation}/members/{user}",
            summary: "Make a member of a group an administrator, or an administrator a member.",
            parameters: [conversation, user],
            body: .object([
                .required("role", .choice([MemberRole.member, .admin].map(\.rawValue))),
                .optional(
                    "version", .integer(),
                    "The version of the member on which the decision is based: if the member has changed "
                        + "since, this is a conflict."),
            ]),
            responses: [.ok(.named("MemberResult"))], problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let other = try request.identifier("user", of: UserID.self)
            let body = try request.decode(RoleChange.self)
            let shown = try await service.write { store, commands in
                let member = try commands.change(
                    role: body.role, of: other, in: id, basedOn: body.version, by: user, store: store)
                var writer = JSONWriter(capacity: 256)
                writer.object { writer in
                    writer.name("member")
                    member.write(to: &writer)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: shown)
        }
    }

    private static func remove(_ service: ConversationService) -> Operation {
        Operation(
            name: "members.remove", method: .delete, path: "/v1/conversations/{conversation}/members/{user}",
            summary:
                "Remove somebody from a group: they keep what they have seen and get nothing more. They cannot "
                + "come back by links from before. Use this also to keep out somebody who has left; they are not "
                + "told. Removing twice changes nothing.",
            parameters: [conversation, user], problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let other = try request.identifier("user", of: UserID.self)
            try await service.write { store, commands in
                try commands.remove(other, from: id, by: user, in: store)
            }
            return .noContent
        }
    }

    private static func leave(_ service: ConversationService) -> Operation {
        Operation(
            name: "members.leave", method: .delete, path: "/v1/conversations/{conversation}/members/me",
            summary:
                "Leave a group. When the owner leaves, the administrator who joined first becomes the owner, "
                + "or else the member who joined first. Leaving twice changes nothing.",
            parameters: [conversation], problems: [.notFound, .conflict]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            try await service.write { try $1.leave(id, by: user, in: $0) }
            return .noContent
        }
    }

    private static func accept(_ service: ConversationService) -> Operation {
        Operation(
            name: "members.accept", method: .post, path: "/v1/conversations/{conversation}/members/me/accept",
            summary:
                "Accept the invitation to a group, or somebody's request to write. Accepting twice changes nothing.",
            parameters: [conversation], responses: [.ok(.named("ConversationResult"))],
            problems: [.notFound, .forbidden]
        ) { request in
            try await change(request, service) { id, user, store, commands in
                try commands.accept(id, by: user, in: store)
            }
        }
    }

    private static func decline(_ service: ConversationService) -> Operation {
        Operation(
            name: "members.decline", method: .post, path: "/v1/conversations/{conversation}/members/me/decline",
            summary: "Decline the invitation to a group. Nobody is notified. Declining twice changes nothing.",
            parameters: [conversation], problems: [.notFound, .conflict]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            try await service.write { try $1.decline(id, by: user, in: $0) }
            return .noContent
        }
    }

    private struct NextOwner: Decodable { var user: UserID }

    private static func handOver(_ service: ConversationService) -> Operation {
        Operation(
            name: "conversations.handOver", method: .post, path: "/v1/conversations/{conversation}/owner",
            summary: "Make another member the owner of a group. The former owner becomes an administrator.",
            parameters: [conversation],
            body: .object([.required("user", .identifier, "The next owner.")]),
            responses: [.ok(.named("ConversationResult"))], problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let other = try request.decode(NextOwner.self).user
            return try await change(request, service) { id, user, store, commands in
                try commands.handOver(id, to: other, by: user, in: store)
            }
        }
    }

    private static func change(
        _ request: OperationRequest, _ service: ConversationService,
        _ command:
            @escaping @Sendable (ConversationID, UserID, StoreTransaction, ConversationCommands) throws ->
            MemberConversation
    ) async throws -> OperationResponse {
        let user = try request.requirePrincipal().user
        let id = try request.identifier("conversation", of: ConversationID.self)
        return OperationResponse(
            status: 200,
            body: try await service.write { store, commands in
                try command(id, user, store, commands).document(for: user, in: store)
            })
    }
}

extension MemberRole: Decodable {}
