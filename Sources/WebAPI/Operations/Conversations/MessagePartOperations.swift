import Foundation
import HTTPTypes
import Messaging
import Model
import Services
import Storage

/// Operations of what hangs on messages and is seen by all: reactions, pins and receipts.
enum MessagePartOperations {
    static func all(_ service: ConversationService) -> [Operation] {
        [
            react(service), removeReaction(service), reactions(service), pin(service), unpin(service),
            receipts(service),
        ]
    }

    private static let conversation = ConversationOperations.conversation
    private static let number = MessageOperations.number
    private static let emoji = Operation.Parameter.path(
        "emoji", .text(minimum: 1, maximum: ReactionEmoji.maxBytes),
        "One emoji, percent-encoded in a path. It is stored fully qualified, however the request writes it.")
    private static let path = "/v1/conversations/{conversation}/messages/{number}"
    private static let limits = ConversationLimits()

    private static func react(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.react", method: .put, path: "\(path)/reactions/{emoji}",
            summary:
                "React to a message. A message has reactions of at most \(limits.reactionKinds) emoji, "
                + "\(limits.reactionsOfUser) of them from one user. Reacting twice changes nothing, and a "
                + "reaction never makes an edit a conflict.",
            parameters: [conversation, number, emoji], responses: [.ok(.named("MessageResult"))],
            problems: [.notFound, .forbidden, .conflict, .predecessorMissing], limit: .messages
        ) { request in
            let named = try request.message()
            let (user, id) = (named.user, named.conversation)
            let emoji = try request.emoji()
            return MessageOperations.response(
                try await service.write(named) { try $1.react(with: emoji, to: $2, in: id, by: user, store: $0) })
        }
    }

    private static func removeReaction(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.removeReaction", method: .delete, path: "\(path)/reactions/{emoji}",
            summary: "Take a reaction back. Taking it back twice changes nothing.",
            parameters: [conversation, number, emoji], responses: [.ok(.named("MessageResult"))],
            problems: [.notFound, .forbidden, .predecessorMissing], limit: .messages
        ) { request in
            let named = try request.message()
            let (user, id) = (named.user, named.conversation)
            let emoji = try request.emoji()
            return MessageOperations.response(
                try await service.write(named) { try $1.removeReaction(emoji, to: $2, in: id, by: user, store: $0) })
        }
    }

    private static func reactions(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.reactions", method: .get, path: "\(path)/reactions",
            summary: "Who has reacted to a message, in the order in which they did.",
            parameters: [
                conversation, number, .query("emoji", .text(), "Only reactions with this emoji."),
                .query("limit", .integer(1...100), "How many at most; the default is 100."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("ReactionPage"))], problems: [.notFound, .predecessorMissing]
        ) { request in
            let named = try request.message()
            let (user, id) = (named.user, named.conversation)
            let emoji = try request.parameters["emoji"].map { _ in try request.emoji() }
            let limit = try request.integer("limit", in: 1...100, default: 100)
            let after = try request.parameters["cursor"].map { _ in try request.number("cursor") } ?? 0
            let body = try await service.read(named) { store, commands, number in
                let page = try commands.reactions(
                    to: number, in: id, emoji: emoji, after: after, limit: limit, by: user, store: store)
                let people = try store.people(page.reactions.map(\.user))
                var writer = JSONWriter(capacity: 1024)
                writer.object { writer in
                    writer.name("reactions")
                    writer.array(page.reactions) { $1.write(to: &$0) }
                    writer.write(people: people)
                    writer.member("nextCursor", page.next.map { String($0) })
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private static func pin(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.pin", method: .put, path: "\(path)/pin",
            summary:
                "Pin a message for everybody. Users who may write may pin, at most \(limits.pins) messages. "
                + "Pinning twice changes nothing.",
            parameters: [conversation, number], responses: [.ok(.named("ConversationResult"))],
            problems: [.notFound, .forbidden, .conflict, .predecessorMissing], limit: .messages
        ) { request in
            let named = try request.message()
            let (user, id) = (named.user, named.conversation)
            return OperationResponse(
                status: 200,
                body: try await service.write(named) { store, commands, number in
                    try commands.pin(number, in: id, by: user, store: store).document(for: user, in: store)
                })
        }
    }

    private static func unpin(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.unpin", method: .delete, path: "\(path)/pin",
            summary: "Unpin a message for everybody. Unpinning twice changes nothing.",
            parameters: [conversation, number], responses: [.ok(.named("ConversationResult"))],
            problems: [.notFound, .forbidden, .predecessorMissing], limit: .messages
        ) { request in
            let named = try request.message()
            let (user, id) = (named.user, named.conversation)
            return OperationResponse(
                status: 200,
                body: try await service.write(named) { store, commands, number in
                    try commands.unpin(number, in: id, by: user, store: store).document(for: user, in: store)
                })
        }
    }

    private static func receipts(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.receipts", method: .get, path: "\(path)/receipts",
            summary:
                "Which other users have read and received a message, as far as they show it, by user id. A "
                + "page may have fewer than `limit`. Times are kept for the newest \(limits.timedReceipts) "
                + "messages for 90 days. In conversations of more than \(limits.markedMembers) members it has "
                + "only users who have read it. If a user turns read receipts off, they do not see others' "
                + "either.",
            parameters: [
                conversation, number, .query("limit", .integer(1...100), "How many at most; the default is 100."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("ReceiptPage"))], problems: [.notFound, .forbidden, .predecessorMissing]
        ) { request in
            let named = try request.message()
            let (user, id) = (named.user, named.conversation)
            let limit = try request.integer("limit", in: 1...100, default: 100)
            let cursor = try request.parameters["cursor"].map { _ in try request.identifier("cursor", of: UserID.self) }
            let body = try await service.read(named) { store, commands, number in
                let page = try commands.receipts(
                    of: number, in: id, after: cursor, limit: limit, by: user, store: store)
                let people = try store.people(page.receipts.map(\.user))
                var writer = JSONWriter(capacity: 1024)
                writer.object { writer in
                    writer.name("receipts")
                    writer.array(page.receipts) { $1.write(to: &$0) }
                    writer.write(people: people)
                    writer.member("nextCursor", page.next)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }
}

extension OperationRequest {
    /// The user, and the message that the request names.
    func message() throws -> NamedMessage {
        NamedMessage(
            user: try requirePrincipal().user, conversation: try identifier("conversation"),
            target: try target("number"))
    }

    fileprivate func emoji() throws -> ReactionEmoji {
        guard let text = parameters["emoji"] else { throw Problem.invalid("emoji", "emoji is missing.") }
        // Paths are not decoded by the router; what is decoded already has no percent sign.
        return try ReactionEmoji(text.removingPercentEncoding ?? text)
    }
}
