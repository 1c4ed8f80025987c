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
                    "`model`: a language model has written the items; `extractive`: they are sentences of the messages."
                ),
                .optional(
                    "reason", .choice(MessageSummary.Reason.allCases.map(\.rawValue)),
                    "Of an extractive summary: why the language model did not write it, if there is one."),
                .required(
                    "engine", .text(),
                    "The name of the model that wrote it, or of the one that compares meanings."),
                .optional(
                    "from", .integer(),
                    "The first number of the messages that it is about; absent if there are no words."),
                .optional("to", .integer(), "The last number."),
                .required(
                    "count", .integer(),
                    "How many messages with words there are between these numbers; of a call, how many statements."),
                .required(
                    "items", .list(.named("SummaryItem")), "Points first, then decisions, actions and questions."),
            ])
        ),
        (
            "SummaryItem",
            .object([
                .required(
                    "kind", .choice(MessageSummary.Item.Kind.allCases.map(\.rawValue)),
                    "`point`: a main point; `action`: something that somebody should do; `decision`; "
                        + "`question`: an open question."),
                .required("text", .text()),
                .optional("owner", .identifier, "Of an action: the user who should do it, if a message says so."),
                .optional(
                    "due", .text(),
                    "Of an action: when it should be done, if a message says so: a day such as `2026-12-24`, "
                        + "or a time such as `2026-12-24T17:00`, as its author means it. `tomorrow` is counted from "
                        + "the day of the message in UTC."
                ),
                .required("messages", .list(.integer()), "The numbers of the messages that it is based on."),
                .optional(
                    "said",
                    .object([
                        .required("recording", .identifier),
                        .required("start", .integer(), "In milliseconds from the start of the recording."),
                    ]), "Of a call: where in a recording it was said."),
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
                "Sums up what is worth knowing of the newest \(SummaryScope.maxMessages) messages, of those "
                + "between two numbers, of a thread, of a call, or of the messages that the user has not read. "
                + "Each item names the messages that it is based on, all of which the user may see. A language "
                + "model writes the summary in the language in which the user reads. Without a model, it "
                + "consists of sentences of the messages.",
            parameters: [ConversationOperations.conversation],
            body: .object([
                .optional("from", .integer(1...Int64.max), "The first number."),
                .optional("to", .integer(1...Int64.max), "The last number."),
                .optional("thread", .integer(1...Int64.max), "Only the thread of this message."),
                .optional("unread", .boolean, "If true, only messages that the user has not read."),
                .optional(
                    "call", .identifier,
                    "Only what was said in this call of the conversation, as far as it was recorded while the "
                        + "user was in it, and was transcribed. It cannot be combined with other parameters."),
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
                "The unread messages that the user should see first, of the conversations that were active "
                + "last: urgent messages, and those that mention the user, ask for something or are questions. "
                + "`direct` says that the message was written to the user alone.",
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
