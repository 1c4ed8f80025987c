import HTTPTypes
import Languages
import Messaging
import Model
import Services
import Storage

/// Operations of what is the user's own: stars, marks, memberships, and clearing. Nobody else sees it, but for what marks
/// show.
enum OwnOperations {
    static func all(_ service: ConversationService) -> [Operation] {
        [
            star(service, true), star(service, false), starred(service), mark(service), clear(service),
            delete(service), change(service),
        ]
    }

    private static let conversation = ConversationOperations.conversation

    private static func star(_ service: ConversationService, _ isStarred: Bool) -> Operation {
        Operation(
            name: isStarred ? "messages.star" : "messages.unstar", method: isStarred ? .put : .delete,
            path: "/v1/conversations/{conversation}/messages/{number}/star",
            summary: isStarred
                ? "Star a message for the user themselves. Starring twice changes nothing."
                : "Remove the star of a message. Removing it twice changes nothing.",
            parameters: [conversation, MessageOperations.number], responses: [.ok(.named("OwnResult"))],
            problems: isStarred
                ? [.notFound, .forbidden, .conflict, .predecessorMissing] : [.notFound, .predecessorMissing]
        ) { request in
            let named = try request.message()
            return .own(
                try await service.write(named) { store, commands, number in
                    try commands.star(
                        number, in: named.conversation, isStarred: isStarred, by: named.user, store: store)
                })
        }
    }

    private static func starred(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.starred", method: .get, path: "/v1/starred",
            summary:
                "The messages that the user has starred in all conversations and still sees, the newest star "
                + "first. A page may have fewer than `limit`.",
            parameters: [
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("StarredPage"))]
        ) { request in
            let user = try request.requirePrincipal().user
            let limit = try request.integer("limit", in: 1...100, default: 50)
            let position = try request.parameters["cursor"].map { try StarredPosition(cursor: $0) }
            let body = try await service.read { store, commands in
                let page = try commands.starred(by: user, after: position, limit: limit, in: store)
                var writer = JSONWriter(capacity: 4096)
                writer.object { writer in
                    writer.name("messages")
                    writer.array(page.messages) { $1.write(to: &$0) }
                    writer.member("nextCursor", page.next?.cursor)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private struct Marks: Decodable {
        var read: MessageTarget?
        var delivered: MessageTarget?
    }

    private static func mark(_ service: ConversationService) -> Operation {
        Operation(
            name: "conversations.mark", method: .post, path: "/v1/conversations/{conversation}/marks",
            summary:
                "Mark how far the user has read and received a conversation. Marks only rise, and not beyond "
                + "the newest message that the user sees. Reading ends `markedUnread`.",
            parameters: [conversation],
            body: .object([
                .optional("read", MessageOperations.mark, "The last message that was read, with those before it."),
                .optional("delivered", MessageOperations.mark, "The last message that was received."),
            ]),
            responses: [.ok(.named("Marks"))], problems: [.notFound, .forbidden, .predecessorMissing]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(Marks.self)
            guard body.read != nil || body.delivered != nil else {
                throw Problem.invalid("read", "read or delivered is missing.")
            }
            for (name, value) in [("read", body.read), ("delivered", body.delivered)] {
                guard case .number(let number)? = value, number < 0 else { continue }
                throw Problem.invalid(name, "\(name) must be a whole number from 0.")
            }
            let marks = try await service.mark(read: body.read, delivered: body.delivered, in: id, by: user)
            var writer = JSONWriter(capacity: 64)
            writer.object { writer in
                writer.member("read", marks.marks.read)
                writer.member("delivered", marks.marks.received)
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static let upTo = Operation.Parameter.query(
        "upTo", .integer(0...Int64.max),
        "The last message that is removed, such as the last one that the user has seen; absent for all.")

    private static func upTo(of request: OperationRequest) throws -> Int64? {
        try request.parameters["upTo"].map { _ in try request.number("upTo", from: 0) }
    }

    private static func clear(_ service: ConversationService) -> Operation {
        Operation(
            name: "conversations.clear", method: .post, path: "/v1/conversations/{conversation}/clear",
            summary:
                "Remove all messages of a conversation for the user themselves, for ever. If the user has left "
                + "the group, the group is gone for them.",
            parameters: [conversation, upTo], problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let number = try upTo(of: request)
            try await service.write { try $1.clear(id, upTo: number, by: user, in: $0) }
            return .noContent
        }
    }

    private static func delete(_ service: ConversationService) -> Operation {
        Operation(
            name: "conversations.delete", method: .delete, path: "/v1/conversations/{conversation}",
            summary:
                "Delete a conversation for the user themselves: it is cleared, and leaves the inbox until "
                + "there is something new in it.",
            parameters: [
                conversation, upTo, .query("for", .choice(["me"]), isRequired: true, "For whom it is deleted: `me`."),
            ],
            problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            guard request.parameters["for"] == "me" else { throw Problem.invalid("for", "for must be me.") }
            let number = try upTo(of: request)
            try await service.write { try $1.deleteForOneself(id, upTo: number, by: user, in: $0) }
            return .noContent
        }
    }

    private static func change(_ service: ConversationService) -> Operation {
        Operation(
            name: "members.updateMe", method: .patch, path: "/v1/conversations/{conversation}/members/me",
            summary:
                "Change the user's own settings of a conversation, which nobody else sees. Members that are "
                + "absent stay unchanged. A draft whose revision is not higher than that of the stored one is "
                + "ignored: the response has the stored one.",
            parameters: [conversation],
            body: .object([
                .optional("muted", .either([.named("Mute"), .null]), "Null ends it."),
                .optional(
                    "pinned", .boolean, "At most \(ConversationLimits().pinnedConversations) conversations are pinned."),
                .optional("archived", .boolean), .optional("markedUnread", .boolean),
                .optional("receipts", .either([.boolean, .null]), "With null, the setting of the profile applies."),
                .optional("draft", .named("SavedDraft")),
                .optional(
                    "translation", .either([.named("TranslationSettings"), .null]),
                    "With null, the setting of the profile applies."),
                .optional(
                    "hints", .either([Schemas.hintMode, .null]),
                    "When messages are explained. With null, the setting of the profile applies."),
                .optional(
                    "intelligence", .either([Schemas.intelligence, .null]),
                    "What machines may do with what the user writes here. With null, the setting of the "
                        + "profile applies."),
            ]),
            responses: [.ok(.named("MembershipResult"))],
            problems: [.notFound, .forbidden, .conflict, .predecessorMissing], keepsText: true
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let asked = try request.decode(MembershipRequest.self)
            // What is wrong is told before the transaction, in which client ids get their numbers.
            _ = try asked.change { if case .number(let number) = $0 { number } else { 1 } }
            let body = try await service.write { store, commands in
                let change = try asked.change {
                    try commands.number(of: $0, in: id, field: "draft.replyTo", by: user, store: store)
                }
                _ = try commands.change(id, membership: change, by: user, in: store)
                let found = try commands.get(id, by: user, in: store)
                let own = try commands.ownPart(of: user, in: id, store: store)
                var writer = JSONWriter(capacity: 512)
                writer.object { writer in
                    writer.name("membership")
                    found.writeMembership(own, to: &writer)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }
}

/// The body of a change of one's own membership: null is something else than absent.
private struct MembershipRequest: Decodable {
    struct Mute: Decodable {
        var until: Timestamp?
        var mentions: Bool
    }

    struct Draft: Decodable {
        var text: String
        var replyTo: MessageTarget?
        var revision: Int64
    }

    private enum Keys: CodingKey {
        case muted, pinned, archived, markedUnread, receipts, draft, translation, hints, intelligence
    }

    let muted: Mute??
    let pinned: Bool?
    let archived: Bool?
    let markedUnread: Bool?
    let receipts: Bool??
    let draft: Draft?
    let translation: TranslationSettings??
    let hints: TranslationMode??
    let intelligence: IntelligenceLevel??

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        muted = container.contains(.muted) ? .some(try container.decodeIfPresent(Mute.self, forKey: .muted)) : nil
        pinned = try container.decodeIfPresent(Bool.self, forKey: .pinned)
        archived = try container.decodeIfPresent(Bool.self, forKey: .archived)
        markedUnread = try container.decodeIfPresent(Bool.self, forKey: .markedUnread)
        receipts =
            container.contains(.receipts) ? .some(try container.decodeIfPresent(Bool.self, forKey: .receipts)) : nil
        draft = try container.decodeIfPresent(Draft.self, forKey: .draft)
        translation =
            container.contains(.translation)
            ? .some(try container.decodeIfPresent(TranslationSettings.self, forKey: .translation)) : nil
        hints =
            container.contains(.hints)
            ? .some(try container.decodeIfPresent(TranslationMode.self, forKey: .hints)) : nil
        intelligence =
            container.contains(.intelligence)
            ? .some(try container.decodeIfPresent(IntelligenceLevel.self, forKey: .intelligence)) : nil
    }

    /// - Parameter number: of the message that the draft replies to.
    func change(_ number: (MessageTarget) throws -> Int64) throws -> MembershipChange {
        MembershipChange(
            mute: muted.map { $0.map { Membership.Mute(until: $0.until, allowsMentions: $0.mentions) } },
            isPinned: pinned, isArchived: archived, isMarkedUnread: markedUnread, receipts: receipts,
            draft: try draft.map {
                try Messaging.Draft(text: $0.text, replyTo: $0.replyTo.map(number), revision: $0.revision)
            }, translation: translation, intelligence: intelligence, hints: hints)
    }
}

extension OperationResponse {
    static func own(_ own: OwnMessage) -> Self {
        var writer = JSONWriter(capacity: 128)
        writer.object { writer in
            writer.name("own")
            own.write(to: &writer)
        }
        return Self(status: 200, body: writer.bytes)
    }
}

extension StarredPosition {
    fileprivate init(cursor: String) throws {
        let parts = cursor.split(separator: ".").map(String.init)
        guard parts.count == 3, let time = Int64(parts[0]), let id = ConversationID(parts[1]),
            let number = Int64(parts[2])
        else { throw Problem.invalid("cursor", "cursor must be the nextCursor of a page.") }
        self.init(starredAt: Timestamp(milliseconds: time), conversation: id, number: number)
    }

    fileprivate var cursor: String { "\(starredAt.milliseconds).\(conversation).\(number)" }
}
