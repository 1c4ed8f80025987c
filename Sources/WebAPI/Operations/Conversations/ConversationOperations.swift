import Accounts
import HTTPTypes
import Languages
import Messaging
import Model
package import Services
import Storage

/// Operations of conversations as wholes.
package enum ConversationOperations {
    package static func all(_ service: ConversationService) -> [Operation] {
        [create(service), list(service), get(service), change(service)]
            + MessagePartOperations.all(service) + OwnOperations.all(service)
            + ConversationMemberOperations.all(service) + MessageOperations.all(service)
            + ScheduledOperations.all(service) + InboxOperations.all(service) + GroupLinkOperations.all(service)
    }

    static let conversation = Operation.Parameter.path("conversation", .identifier, "The conversation's id.")

    private static func create(_ service: ConversationService) -> Operation {
        Operation(
            name: "conversations.create", method: .post, path: "/v1/conversations",
            summary:
                "Create a conversation. Every two people have one direct conversation, and every user has one "
                + "with themselves: if it exists, it is returned. Friends are members of a group at once; other "
                + "people are invited, and see nothing of it until they accept. If the other person is not a "
                + "friend, a direct conversation begins as a request.",
            body: .object([
                .required("clientID", .identifier, "A UUID; a request repeated with it is executed once."),
                .required("kind", .choice(ConversationKind.allCases.map(\.rawValue))),
                .optional(
                    "members", .list(.identifier, maximum: 100),
                    "The other members: one of a direct conversation, none of one with oneself."),
                .optional("name", Schemas.displayName, "Of a group."),
                .optional(
                    "disappearAfter", .integer(Disappearing.bounds),
                    "Seconds after which messages disappear; absent if they stay. If the conversation exists, "
                        + "this changes nothing."
                ),
            ]),
            responses: [
                .created(.named("ConversationResult"), "It is new."), .ok(.named("ConversationResult"), "It existed."),
            ],
            problems: [.notFound, .conflict, .forbidden, .clientIDReused], limit: .conversations,
            feature: .when(.groups) { try $0.decode(CreateConversation.self).kind == .group }
        ) { request in
            let user = try request.requirePrincipal().user
            let made = try await service.create(request.decode(CreateConversation.self), by: user) { found, store in
                try found.document(for: user, in: store)
            }
            return OperationResponse(status: made.isNew ? 201 : 200, body: made.shown)
        }
    }

    private static func list(_ service: ConversationService) -> Operation {
        Operation(
            name: "conversations.list", method: .get, path: "/v1/conversations",
            summary:
                "Every conversation that the user is or was in, in the order of their ids: for purposes that "
                + "need all of them.",
            parameters: [
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("ConversationPage"))]
        ) { request in
            let user = try request.requirePrincipal().user
            let limit = try request.integer("limit", in: 1...100, default: 50)
            let cursor = try request.parameters["cursor"].map { _ in
                try request.identifier("cursor", of: ConversationID.self)
            }
            let body = try await service.read { store, commands in
                let ids = try store.conversations(of: user, after: cursor, limit: limit + 1)
                // One that was cleared after leaving is not there any more.
                let shown = try ids.prefix(limit).compactMap { id -> MemberConversation? in
                    do { return try commands.get(id, by: user, in: store) } catch let problem as Problem
                        where problem.kind == .notFound
                    { return nil }
                }
                let own = try shown.map { try commands.ownPart(of: user, in: $0.conversation.id, store: store) }
                let people = try store.people(shown.flatMap { try store.shownPeople(of: $0, for: user) })
                var writer = JSONWriter(capacity: 1024)
                writer.object { writer in
                    writer.name("conversations")
                    writer.array(zip(shown, own)) { writer, one in writer.object { one.0.writeMembers(one.1, to: &$0) }
                    }
                    writer.write(people: people)
                    if ids.count > limit { writer.member("nextCursor", ids[limit - 1]) }
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private static func get(_ service: ConversationService) -> Operation {
        Operation(
            name: "conversations.get", method: .get, path: "/v1/conversations/{conversation}",
            summary: "One conversation. A user who has left it gets it as it was then.", parameters: [conversation],
            responses: [.ok(.named("ConversationResult"))], problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try await service.read { store, commands in
                try commands.get(id, by: user, in: store).document(for: user, in: store)
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private struct Change: Decodable {
        var name: String?
        var settings: Settings?
        /// Null is something else than absent.
        var disappearAfter: Int64??

        struct Settings: Decodable {
            var write: ConversationSettings.Who?
            var add: ConversationSettings.Who?
            var rename: ConversationSettings.Who?
            var keepDays: Int?
            var intelligence: IntelligenceLevel?
        }

        private enum Keys: CodingKey { case name, settings, disappearAfter }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            name = try container.decodeIfPresent(String.self, forKey: .name)
            settings = try container.decodeIfPresent(Settings.self, forKey: .settings)
            disappearAfter =
                container.contains(.disappearAfter)
                ? .some(try container.decodeIfPresent(Int64.self, forKey: .disappearAfter)) : nil
        }
    }

    private static func change(_ service: ConversationService) -> Operation {
        Operation(
            name: "conversations.update", method: .patch, path: "/v1/conversations/{conversation}",
            summary:
                "Rename a group, change who may do what in it, or set the time after which messages that are "
                + "sent from now on disappear; both people of a direct conversation may do that. Members that "
                + "are absent stay unchanged.",
            parameters: [conversation],
            body: .object([
                .optional("name", .text(maximum: 80), "An empty one removes the name."),
                .optional("settings", ConversationSchemas.settings(areRequired: false)),
                .optional(
                    "disappearAfter", .named("DisappearAfter"),
                    "Seconds after which messages that are sent from now on disappear; with null they stay."),
            ]),
            responses: [.ok(.named("ConversationResult"))], problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(Change.self)
            let name = try body.name.map { $0.isEmpty ? "" : try AccountRules.displayName($0, field: "name") }
            return OperationResponse(
                status: 200,
                body: try await service.write { store, commands in
                    var found = try commands.get(id, by: user, in: store)
                    if let name {
                        found = try commands.rename(id, to: name.isEmpty ? nil : name, by: user, in: store)
                    }
                    if let change = body.settings {
                        var settings = found.conversation.settings
                        settings.write = change.write ?? settings.write
                        settings.add = change.add ?? settings.add
                        settings.rename = change.rename ?? settings.rename
                        settings.keepDays = change.keepDays ?? settings.keepDays
                        settings.intelligence = change.intelligence ?? settings.intelligence
                        found = try commands.change(id, settings: settings, by: user, in: store)
                    }
                    if let seconds = body.disappearAfter {
                        found = try commands.change(id, disappearAfter: seconds, by: user, in: store)
                    }
                    return try found.document(for: user, in: store)
                })
        }
    }
}

extension ConversationSettings.Who: Decodable {}
