import Accounts
package import Friends
import HTTPTypes
import Messaging
import Model
package import Services

/// Operations of contact links, and of reports to the operator.
package enum ContactOperations {
    package static func all(_ friends: FriendCommands, _ conversations: ConversationService) -> [Operation] {
        [makeLink(friends), removeLink(friends), link(friends, conversations), report(friends)]
    }

    private struct MadeLink: Encodable { var token: String }

    private static func makeLink(_ friends: FriendCommands) -> Operation {
        Operation(
            name: "me.makeLink", method: .post, path: "/v1/me/link",
            summary:
                "Make a link by which others find the user, whatever `reach` is. An earlier link stops "
                + "working. The token cannot be read again.",
            responses: [
                .created(.object([.required("token", .text(), "For `GET /v1/links/{token}`: 43 characters.")]))
            ], feature: .always(.inviteLinks)
        ) { request in
            try .json(MadeLink(token: try await friends.makeLink(of: request.requirePrincipal())), status: 201)
        }
    }

    private static func removeLink(_ friends: FriendCommands) -> Operation {
        Operation(
            name: "me.removeLink", method: .delete, path: "/v1/me/link",
            summary: "Remove the user's link: it stops working."
        ) { request in
            try await friends.removeLink(of: request.requirePrincipal())
            return .noContent
        }
    }

    private struct Link: Encodable {
        var kind = "contact"
        var user: UserProfile
    }

    private struct GroupDocument: Encodable {
        var kind = "group"
        var name: String?
        var members: Int
    }

    private static func link(_ friends: FriendCommands, _ conversations: ConversationService) -> Operation {
        Operation(
            name: "links.get", method: .get, path: "/v1/links/{token}",
            summary:
                "Look at a link: a contact link has the profile of its owner, a link of a group has its name "
                + "and its number of members.",
            parameters: [.path("token", .text(minimum: 1, maximum: 128), "The link's token.")],
            responses: [.ok(.named("Link"))], problems: [.notFound], limit: .searches,
            feature: .always(.inviteLinks)
        ) { request in
            guard let token = request.parameters["token"] else { throw Problem.notFound("link", field: "token") }
            let principal = try request.requirePrincipal()
            if let group = try await conversations.linkedGroup(token, for: principal.user) {
                return try .json(GroupDocument(name: group.name, members: group.memberCount))
            }
            return try .json(Link(user: try await friends.contact(token, for: principal)))
        }
    }

    private struct Reported: Encodable { var duplicate: Bool? }

    private static func report(_ friends: FriendCommands) -> Operation {
        Operation(
            name: "reports.create", method: .post, path: "/v1/reports",
            summary: "Report a user to the operator, who reads the report. At most \(FriendRules.reportsPerDay) a day.",
            body: .object([
                .required("clientID", .identifier, "A UUID; a request repeated with it is executed once."),
                .required("user", .identifier),
                .required("reason", .choice(ReportRecord.Reason.allCases.map(\.rawValue))),
                .optional("text", .text(maximum: FriendRules.reportCharacters)),
                .optional(
                    "conversation", .identifier,
                    "With `number`: a message by the user that the reporter sees. The operator gets a copy of "
                        + "it, and of up to \(ReportedMessage.maxCount - 1) messages that the user wrote before it."),
                .optional("number", .integer(1...Int64.max)),
            ]),
            responses: [
                .created(.named("ReportResult"), "It is stored."), .ok(.named("ReportResult"), "It was stored before."),
            ],
            problems: [.notFound, .forbidden, .clientIDReused]
        ) { request in
            let isDuplicate = try await friends.report(
                request.decode(FriendCommands.Report.self), by: request.requirePrincipal())
            return try .json(Reported(duplicate: isDuplicate ? true : nil), status: isDuplicate ? 200 : 201)
        }
    }

    package static let schemas: [(String, Schema)] = [
        (
            "Link",
            .object([
                .required("kind", .text(), "`contact` or `group`. Clients ignore kinds they do not know."),
                .optional("user", .named("User"), "The owner of a contact link."),
                .optional("name", .text(), "The name of the group, if it has one."),
                .optional("members", .integer(), "The number of members of the group."),
            ])
        ),
        (
            "ReportResult",
            .object([.optional("duplicate", .boolean, "The request was already executed.")])
        ),
    ]
}
