import HTTPTypes
import Messaging
import Model
import Services
import Storage

/// Operations of messages that are sent at their time. `messages.send` schedules them.
enum ScheduledOperations {
    static func all(_ service: ConversationService) -> [Operation] {
        [list(service), change(service), remove(service)]
    }

    private static let conversation = ConversationOperations.conversation
    private static let clientID = Operation.Parameter.path(
        "clientID", .identifier, "The client id with which the message was scheduled.")

    static let schemas: [(String, Schema)] = [
        (
            "ScheduledMessage",
            .object([
                .required("conversation", .identifier),
                .required("clientID", .identifier, "The message will be sent with it."), .required("text", .text()),
                .optional("replyTo", .integer()), .optional("thread", .integer()),
                .required("sendAt", .time), .required("createdAt", .time),
                .optional(
                    "failure",
                    .object([
                        .required("type", .text(), "The type of the problem."), .required("detail", .text()),
                    ]),
                    "Why it was not sent at its time. It is kept until it is deleted or gets another time."),
                .required("counter", .integer(), "Of two copies, the one with the higher counter is newer."),
            ])
        ),
        (
            "ScheduledResult",
            .object([
                .optional("scheduled", .named("ScheduledMessage")),
                .optional("message", .named("Message"), "Instead of `scheduled`, if it was sent."),
                .optional("duplicate", .boolean, "The request was already executed."),
            ])
        ),
        ("ScheduledList", .object([.required("scheduled", .list(.named("ScheduledMessage")), "By time.")])),
    ]

    private static func list(_ service: ConversationService) -> Operation {
        Operation(
            name: "scheduled.list", method: .get, path: "/v1/conversations/{conversation}/scheduled",
            summary: "The user's own messages that will be sent later, by time. Nobody else sees them.",
            parameters: [conversation], responses: [.ok(.named("ScheduledList"))], problems: [.notFound, .forbidden]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let all = try await service.read { try $1.scheduled(in: id, by: user, store: $0) }
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("scheduled")
                writer.array(all) { $1.write(to: &$0) }
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    /// Null is something else than absent.
    private struct Change: Decodable {
        private enum Keys: CodingKey { case text, sendAt }

        let text: String?
        let sendAt: Timestamp??

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            text = try container.decodeIfPresent(String.self, forKey: .text)
            sendAt =
                container.contains(.sendAt)
                ? .some(try container.decodeIfPresent(Timestamp.self, forKey: .sendAt)) : nil
        }
    }

    private static func change(_ service: ConversationService) -> Operation {
        Operation(
            name: "scheduled.update", method: .patch, path: "/v1/conversations/{conversation}/scheduled/{clientID}",
            summary:
                "Change the text or the time of a message that will be sent later, or send it now. Members "
                + "that are absent stay unchanged. A message that could not be sent is tried again at its new "
                + "time.",
            parameters: [conversation, clientID],
            body: .object([
                .optional("text", .text(minimum: 1, maximum: MessageText.maxBytes)),
                .optional(
                    "sendAt", .either([.time, .null]), "10 seconds to a year from now; with null it is sent at once."),
            ]),
            responses: [.ok(.named("ScheduledResult"))], problems: [.notFound, .forbidden, .conflict],
            limit: .messages
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let clientID = try request.identifier("clientID", of: ClientID.self)
            let body = try request.decode(Change.self)
            let change = ScheduledChange(text: try body.text.map { try MessageText($0) }, sendAt: body.sendAt)
            let outcome = try await service.write {
                try $1.change(scheduled: clientID, in: id, change, by: user, store: $0)
            }
            return response(outcome, status: 200)
        }
    }

    private static func remove(_ service: ConversationService) -> Operation {
        Operation(
            name: "scheduled.delete", method: .delete,
            path: "/v1/conversations/{conversation}/scheduled/{clientID}",
            summary:
                "Delete a message that will be sent later. Deleting twice changes nothing. If it was sent "
                + "already, this is a conflict.",
            parameters: [conversation, clientID], problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let clientID = try request.identifier("clientID", of: ClientID.self)
            try await service.write { try $1.unschedule(clientID, in: id, by: user, store: $0) }
            return .noContent
        }
    }

    /// - Parameter status: of one that waits.
    static func response(_ outcome: ScheduledOutcome, status: Int) -> OperationResponse {
        switch outcome {
        case .sent(let message): return MessageOperations.response(message, isDuplicate: status == 202)
        case .waits(let scheduled, let isDuplicate):
            var writer = JSONWriter(capacity: 512)
            writer.object { writer in
                writer.name("scheduled")
                scheduled.write(to: &writer)
                if isDuplicate { writer.member("duplicate", true) }
            }
            return OperationResponse(status: status, body: writer.bytes)
        }
    }
}
