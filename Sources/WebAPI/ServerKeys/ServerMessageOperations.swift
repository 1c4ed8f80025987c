import Accounts
import HTTPTypes
import Messaging
import Model
package import Services
import Storage

/// What an app's own back end writes in conversations, in the name of their members, and reads in them.
package enum ServerMessageOperations {
    package static func all(_ service: ConversationService, _ audit: AuditLog) -> [Operation] {
        [send(service, audit), messages(service)]
    }

    private struct Post: Decodable {
        var clientID: ClientID
        var author: String
        var text: String
        var replyTo: MessageTarget?
        var sendAt: Timestamp?

        var message: SendMessage {
            var message = SendMessage(clientID: clientID, text: text, replyTo: replyTo)
            message.sendAt = sendAt
            return message
        }
    }

    private static func send(_ service: ConversationService, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.messages.send", method: .post,
            path: "/v1/server/conversations/{conversation}/messages",
            summary: "Write in the name of a member, who has to be allowed to.",
            access: .serverKey(.conversationsWrite), isRealtime: false,
            parameters: [ConversationOperations.conversation],
            body: .object([
                .required("clientID", .identifier, "A UUID; a message sent again with it is stored once, for ever."),
                .required("author", ServerUserOperations.reference, "The member who writes."),
                .required("text", .text(minimum: 1, maximum: MessageText.maxBytes)),
                .optional("replyTo", MessageOperations.target, "The message that it replies to."),
                .optional(
                    "sendAt", .time,
                    "10 seconds to a year from now: it is sent then, if the author is still allowed to, and is theirs to change "
                        + "and delete until then."),
            ]),
            responses: [
                .created(.named("MessageResult"), "It is stored."),
                .accepted(.named("ScheduledResult"), "It is sent at `sendAt`."),
                .ok(.named("MessageResult"), "It was stored before."),
            ],
            problems: [.notFound, .forbidden, .conflict, .clientIDReused, .predecessorMissing], limit: .serverKeys
        ) { request in
            let key = try request.requireKey()
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(Post.self)
            let author = try UserReference(body.author, field: "author")
            let post = body.message
            // Checked before the transaction, in which the author is looked up.
            _ = try MessageText(body.text)
            if let sendAt = body.sendAt {
                return try await schedule(post, at: sendAt, to: id, by: author, key, service, audit)
            }
            let entry = key.audit("server.messages.send", id.text)
            let sent = try await service.write { store, commands in
                let user = try store.user(author, field: "author").id
                let message = try service.outgoing(post, to: id, by: user)(store, commands)
                let sent = try commands.send(message, to: id, by: user, in: store)
                if !sent.isDuplicate { try store.insert(entry) }
                return sent
            }
            if !sent.isDuplicate { audit.log(entry) }
            return MessageOperations.response(
                sent.message, status: sent.isDuplicate ? 200 : 201, isDuplicate: sent.isDuplicate)
        }
    }

    private static func schedule(
        _ post: SendMessage, at sendAt: Timestamp, to id: ConversationID, by author: UserReference,
        _ key: KeyPrincipal, _ service: ConversationService, _ audit: AuditLog
    ) async throws -> OperationResponse {
        let entry = key.audit("server.messages.schedule", id.text)
        let (outcome, isNew) = try await service.write { store, commands in
            let user = try store.user(author, field: "author").id
            let message = try service.outgoing(post, to: id, by: user)(store, commands)
            let outcome = try commands.schedule(message, at: sendAt, to: id, by: user, in: store)
            guard case .waits(_, isDuplicate: false) = outcome else { return (outcome, false) }
            try store.insert(entry)
            return (outcome, true)
        }
        if isNew { audit.log(entry) }
        return ScheduledOperations.response(outcome, status: 202)
    }

    private static func messages(_ service: ConversationService) -> Operation {
        Operation(
            name: "server.messages.list", method: .get,
            path: "/v1/server/conversations/{conversation}/messages",
            summary: "Messages in the order of their numbers. What a block withholds is not among them.",
            access: .serverKey(.conversationsRead), isRealtime: false,
            parameters: [ConversationOperations.conversation] + MessageOperations.page,
            responses: [.ok(.named("MessagePage"))], problems: [.notFound], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let id = try request.identifier("conversation", of: ConversationID.self)
            return try await MessageOperations.page(request, service) { anchor, limit, store, commands in
                (try commands.serverPage(anchor, of: id, limit: limit, in: store), nil)
            }
        }
    }
}
