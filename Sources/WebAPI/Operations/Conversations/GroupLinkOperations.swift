import HTTPTypes
import Messaging
import Model
import Services
import Storage

/// Operations of the links by which people join groups.
enum GroupLinkOperations {
    static func all(_ service: ConversationService) -> [Operation] {
        [create(service), list(service), remove(service), join(service)]
    }

    private static let conversation = ConversationOperations.conversation
    private static let limits = ConversationLimits()

    private struct NewLink: Decodable {
        var expiresAt: Timestamp?
        var maxUses: Int?
    }

    private static func create(_ service: ConversationService) -> Operation {
        Operation(
            name: "links.create", method: .post, path: "/v1/conversations/{conversation}/links",
            summary:
                "Make a link by which people join a group without an invitation. Users who may add people may "
                + "do it. When they leave, or may no longer add people, the links that they have made end. The "
                + "token cannot be read again. A group has at most \(limits.links) links, of which "
                + "\(limits.linksOfMember) may be of one member.",
            parameters: [conversation],
            body: .object([
                .optional(
                    "expiresAt", .time,
                    "When it stops working: at least \(limits.leastLinkSeconds) seconds and at most "
                        + "\(limits.mostLinkSeconds / 86_400) days ahead; \(limits.linkSeconds / 86_400) days if "
                        + "absent."
                ),
                .optional(
                    "maxUses", .integer(1...Int64(limits.members)),
                    "How many people may join by it; absent for any number."),
            ]),
            responses: [
                .created(
                    .object([
                        .required("link", .named("GroupLink")),
                        .required("token", .text(), "For `POST /v1/links/{token}`: 43 characters."),
                    ]))
            ],
            problems: [.notFound, .forbidden, .conflict], limit: .conversations,
            feature: .always(.inviteLinks)
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(NewLink.self)
            let made = try await service.makeLink(
                to: id, expiresAt: body.expiresAt, maxUses: body.maxUses, by: user)
            var writer = JSONWriter(capacity: 512)
            writer.object { writer in
                writer.name("link")
                made.link.write(to: &writer)
                writer.member("token", made.token)
            }
            return OperationResponse(status: 201, body: writer.bytes)
        }
    }

    private static func list(_ service: ConversationService) -> Operation {
        Operation(
            name: "links.list", method: .get, path: "/v1/conversations/{conversation}/links",
            summary:
                "The links of a group that have not expired, without their tokens. Administrators get all of "
                + "them; other members who may add people get their own.",
            parameters: [conversation],
            responses: [.ok(.object([.required("links", .list(.named("GroupLink")))]))],
            problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let links = try await service.read { try $1.links(of: id, by: user, in: $0) }
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("links")
                writer.array(links) { $1.write(to: &$0) }
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func remove(_ service: ConversationService) -> Operation {
        Operation(
            name: "links.remove", method: .delete, path: "/v1/conversations/{conversation}/links/{link}",
            summary:
                "Remove a link, so that it stops working. Members remove their own links, administrators any. "
                + "Removing twice changes nothing.",
            parameters: [conversation, .path("link", .identifier, "The link's id.")],
            problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let link = try request.identifier("link", of: GroupLinkID.self)
            try await service.write { try $1.removeLink(link, of: id, by: user, in: $0) }
            return .noContent
        }
    }

    private static func join(_ service: ConversationService) -> Operation {
        Operation(
            name: "links.join", method: .post, path: "/v1/links/{token}",
            summary:
                "Join a group by its link. Joining twice changes nothing. A user who was removed from the "
                + "group cannot return by a link that was made before that.",
            parameters: [.path("token", .text(minimum: 1, maximum: 128), "The link's token.")],
            responses: [
                .created(.named("ConversationResult"), "The user has joined."),
                .ok(.named("ConversationResult"), "The user was in it."),
            ],
            problems: [.notFound, .forbidden, .conflict], limit: .searches, feature: .always(.inviteLinks)
        ) { request in
            let user = try request.requirePrincipal().user
            guard let token = request.parameters["token"] else { throw Problem.notFound("link", field: "token") }
            let joined = try await service.join(byLink: token, by: user) { found, store in
                try found.document(for: user, in: store)
            }
            return OperationResponse(status: joined.isNew ? 201 : 200, body: joined.shown)
        }
    }

    static let schemas: [(String, Schema)] = [
        (
            "GroupLink",
            .object([
                .required("id", .identifier), .required("maker", .identifier, "The user who made it."),
                .required("createdAt", .time), .required("expiresAt", .time),
                .optional("maxUses", .integer(), "How many people may join by it; absent for any number."),
                .required("uses", .integer(), "How many have joined by it."),
            ])
        )
    ]
}
