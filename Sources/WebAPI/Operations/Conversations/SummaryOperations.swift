import Accounts
import HTTPTypes
import Languages
import Messaging
import Model
package import Services
import Storage

/// What is worth knowing of messages.
package enum SummaryOperations {
    package static func all(_ service: SummaryService) -> [Operation] { [create(service), priority(service)] }

    static let schemas: [(String, Schema)] = [
        (
            "Summary",
            .object([
                .required(
                    "kind", .choice(MessageSummary.Kind.allCases.map(\.rawValue)),
                    "`model`: a language model has written the items; `extractive`: they are what messages say themselves."
                ),
                .optional(
                    "reason", .choice(MessageSummary.Reason.allCases.map(\.rawValue)),
                    "Of an extractive one, why the language model that there is has not written it."),
                .required("engine", .text(), "The name of the model that wrote it, or that knows what texts mean."),
                .optional("from", .integer(), "The first number that it is about; absent if there are no words."),
                .optional("to", .integer(), "The last one."),
                .required(
                    "count", .integer(),
                    "How many messages with words there are between them; of a call, how many things were said."),
                .required(
                    "items", .list(.named("SummaryItem")), "Points first, then decisions, actions and questions."),
            ])
        ),
        (
            "SummaryItem",
            .object([
                .required(
                    "kind", .choice(MessageSummary.Item.Kind.allCases.map(\.rawValue)),
                    "`point`: what stands for the rest; `action`: somebody is to do something; `decision`; `question`: one that "
                        + "nobody has answered."),
                .required("text", .text()),
                .optional("owner", .identifier, "Of an action, who is to do it, where a message says so."),
                .optional(
                    "due", .text(),
                    "Of an action, by when, where a message says so: a day such as `2026-12-24`, or a time such as "
                        + "`2026-12-24T17:00`, as its author means it. `tomorrow` counts from the message's day in UTC."
                ),
                .required("messages", .list(.integer()), "The numbers of the messages that it rests on."),
                .optional(
                    "said",
                    .object([
                        .required("recording", .identifier),
                        .required("start", .integer(), "In milliseconds from the start of the recording."),
                    ]), "Of a call, where it was said."),
            ])
        ),
        (
            "PriorityPage",
            .object([
                .required(
                    "messages",
                    .list(
                        .object([
                            .required("message", .named("Message")),
                            .required("reasons", .list(.choice(PriorityReason.allCases.map(\.rawValue)))),
                        ])), "The most important first."),
                .required("people", .list(.named("User")), "The profiles of the authors."),
            ])
        ),
    ]

    private struct Body: Decodable {
        var from: Int64?
        var to: Int64?
        var thread: Int64?
        var unread: Bool?
        var call: CallID?
    }

    private static func create(_ service: SummaryService) -> Operation {
        Operation(
            name: "summaries.create", method: .post, path: "/v1/conversations/{conversation}/summaries",
            summary:
                "What is worth knowing of the newest \(SummaryScope.maxMessages) messages, or of those between two numbers, of a "
                + "thread, of a call, or that the user has not read. Each item names the messages that it rests on, all of which "
                + "the user sees. A language model writes it, in the language in which the user reads, and without one it is "
                + "what messages say themselves.",
            parameters: [ConversationOperations.conversation],
            body: .object([
                .optional("from", .integer(1...Int64.max), "The first number."),
                .optional("to", .integer(1...Int64.max), "The last number."),
                .optional("thread", .integer(1...Int64.max), "Only of the thread of this message."),
                .optional("unread", .boolean, "If true, only what the user has not read."),
                .optional(
                    "call", .identifier,
                    "Only what was said in this call of the conversation, as far as it was recorded while the user was there, and "
                        + "is transcribed. It goes with nothing else."),
            ]),
            responses: [.ok(.named("Summary"))],
            problems: [
                .notFound, .forbidden, .providerNotConfigured, .consentRequired, .budgetExhausted, .providerFailed,
            ], limit: .searches
        ) { request in
            let user = try request.requirePrincipal().user
            let body = try request.decode(Body.self)
            var scope = SummaryScope()
            (scope.from, scope.to, scope.thread) = (body.from, body.to, body.thread)
            scope.isUnread = body.unread ?? false
            scope.call = body.call
            if body.call != nil, body.from ?? body.to ?? body.thread != nil || scope.isUnread {
                throw Problem.invalid("call", "A call is summarised alone: without numbers, thread and unread.")
            }
            let summary = try await service.summary(
                of: try request.identifier("conversation", of: ConversationID.self), scope, by: user)
            var writer = JSONWriter(capacity: 2048)
            writer.object { writer in
                writer.member("kind", summary.kind.rawValue)
                writer.member("reason", summary.reason?.rawValue)
                writer.member("engine", summary.engine)
                writer.member("from", summary.range?.lowerBound)
                writer.member("to", summary.range?.upperBound)
                writer.member("count", Int64(summary.count))
                writer.name("items")
                writer.array(summary.items) { $1.write(to: &$0) }
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func priority(_ service: SummaryService) -> Operation {
        Operation(
            name: "priority.list", method: .get, path: "/v1/priority",
            summary:
                "The unread messages that the user should see first, of the conversations that were active last: `urgent` ones, "
                + "those that mention the user, ask for something or are questions; `direct` says that nobody else was written to.",
            parameters: [
                .query("limit", .integer(1...50), "How many at most; the default is 20.")
            ],
            responses: [.ok(.named("PriorityPage"))], problems: [.providerNotConfigured, .providerFailed],
            limit: .searches
        ) { request in
            let user = try request.requirePrincipal().user
            let limit = try request.integer("limit", in: 1...50, default: 20)
            let body = try await service.priority(of: user, limit: limit) { ranked, store in
                let people = try store.people(Set(ranked.map(\.message.author)).sorted { $0.text < $1.text })
                var writer = JSONWriter(capacity: 4096)
                writer.object { writer in
                    writer.name("messages")
                    writer.array(ranked) { writer, one in
                        writer.object { writer in
                            writer.name("message")
                            one.message.write(to: &writer)
                            writer.name("reasons")
                            writer.array(one.reasons) { $0.write($1.rawValue) }
                        }
                    }
                    writer.write(people: people)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }
}
