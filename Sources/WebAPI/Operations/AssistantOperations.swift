import Assistant
import HTTPTypes
import Model
package import Services

/// Questions of users about their own messages. All that they ask and are answered is their own.
package enum AssistantOperations {
    package static func all(_ service: AssistantService, digest: @escaping @Sendable (String) -> [UInt8]) -> [Operation]
    {
        [
            ask(service, digest), batch(service, digest), threads(service), thread(service), run(service),
            cancel(service), eraseThread(service), eraseRun(service),
        ]
    }

    static let schemas: [(String, Schema)] = [
        (
            "AnswerSentence",
            .object([
                .required("text", .text(), "Plain text on one line; empty if it was withdrawn."),
                .required(
                    "citations",
                    .list(
                        .object([
                            .required("conversation", .identifier), .required("number", .integer()),
                            .required("of", .integer(), "The `textVersion` that was read."),
                        ])),
                    "The messages that it is based on, all of which the user may see. Without any, nothing "
                        + "shows that the sentence is true."
                ),
                .optional("startsLine", .boolean, "True if it begins a new line."),
                .optional(
                    "withdrawn", .boolean,
                    "True if a message that it was based on has changed or is gone, or if the user may no "
                        + "longer see it: then there is no text."),
            ])
        ),
        (
            "AssistantRun",
            .object([
                .required("id", .identifier), .required("thread", .identifier),
                .required("question", .text()),
                .optional("conversation", .identifier, "The only conversation that was looked at; absent for all."),
                .required("for", .choice(AssistantAudience.allCases.map(\.rawValue)), audience),
                .required("status", .choice(AssistantRun.Status.allCases.map(\.rawValue))),
                .optional(
                    "reason", .choice(AssistantRun.Reason.allCases.map(\.rawValue)),
                    "Why there is no answer. `no_listener`: nobody listened for 15 seconds; `interrupted`: the "
                        + "server stopped before the answer was complete."),
                .required("sentences", .list(.named("AnswerSentence"), maximum: AnswerSentence.maxCount)),
                .required(
                    "tools",
                    .list(.object([.required("name", .choice(AssistantTool.allCases.map(\.rawValue)))])),
                    "The tools that the model used, in that order."),
                .required("model", .text(), "The name of the language model."),
                .required(
                    "cost",
                    .object([
                        .required("calls", .integer(), "How often the model was asked."),
                        .required("characters", .integer(), "How many characters the model got."),
                    ])),
                .required("askedAt", .time), .optional("endedAt", .time),
            ])
        ),
        (
            "AssistantThread",
            .object([
                .required("id", .identifier), .required("title", .text(), "The beginning of the first question."),
                .required("createdAt", .time), .required("updatedAt", .time),
                .required("runs", .integer(), "The number of its questions."),
            ])
        ),
        ("AssistantRunResult", .object([.required("run", .named("AssistantRun"))])),
    ]

    private static let audience =
        "`me`: based on everything that the user sees; `conversation`: based only on what all members of the "
        + "conversation see, so that it can be shown there."
    private static let question = Schema.text(minimum: 1, maximum: AssistantQuestion.maxLength)
    private static let shared: [Schema.Member] = [
        .required("clientID", .identifier, "A UUID; a request repeated with it is executed once."),
        .optional(
            "thread", .identifier,
            "The thread to continue: the model knows its last questions and answers. Its `conversation` and "
                + "`for` stay the same; you can leave them out."),
        .optional(
            "conversation", .identifier,
            "The only conversation that the model looks at; absent for all of the user's."),
        .optional("for", .choice(AssistantAudience.allCases.map(\.rawValue)), audience + " `me` if absent."),
    ]
    private static let problems: [Problem.Kind] = [
        .notFound, .conflict, .clientIDReused, .providerNotConfigured, .consentRequired, .budgetExhausted,
    ]

    private struct Body: Decodable {
        var clientID: ClientID
        var question: String?
        var questions: [String]?
        var thread: AssistantThreadID?
        var conversation: ConversationID?
        var `for`: AssistantAudience?

        func question(
            _ questions: [String], digest: (String) -> [UInt8], field: (Int) -> String
        ) throws -> AssistantQuestion {
            // Who names neither goes on as the thread is.
            let isNamed = thread == nil || conversation != nil || `for` != nil
            let scope = isNamed ? AssistantScope(conversation: conversation, audience: `for` ?? .me) : nil
            let request = [
                thread?.text ?? "", conversation?.text ?? "", scope?.audience.rawValue ?? "", "\(questions.count)",
            ].joined(separator: " ")
            return try AssistantQuestion(
                clientID: clientID, questions: questions, field: field, thread: thread, scope: scope,
                digest: digest("assistant " + request + "\n" + questions.joined(separator: "\u{0}")))
        }
    }

    private static func ask(
        _ service: AssistantService, _ digest: @escaping @Sendable (String) -> [UInt8]
    ) -> Operation {
        var accepted = Operation.Success.accepted(
            .named("AssistantRunResult"),
            "The answer is being written: listen to `run:{run}`, or ask for the run again. Clients that accept "
                + "`text/event-stream` get it in the response, with the same events: `run` with the question, then "
                + "`text`, `tool` and `done`.")
        accepted.events = .text()
        return Operation(
            name: "assistant.ask", method: .post, path: "/v1/assistant",
            summary:
                "Asks a question about the user's messages, which a language model answers. The model looks "
                + "them up with the user's rights, by tools that only read, and every sentence names the "
                + "messages that it is based on. If nobody listens to an answer for 15 seconds, it is cancelled.",
            body: .object([.required("question", question)] + shared), responses: [accepted], problems: problems,
            limit: .assistant
        ) { request in
            let principal = try request.requirePrincipal()
            let user = principal.user
            let body = try request.decode(Body.self)
            guard let text = body.question else { throw Problem.invalid("question", "question is missing.") }
            let question = try body.question([text], digest: digest) { _ in "question" }
            guard let run = try await service.ask(question, by: user).first else {
                throw Problem.notFound("run", field: "clientID")
            }
            var response = result(run, status: 202)
            if request.wantsEvents {
                let first = ServerSentEvent(name: "run", json: json(run))
                response.events = AsyncStream { continuation in
                    continuation.yield(first)
                    let task = Task {
                        if let events = service.events(of: run.id, for: principal) {
                            for await event in events {
                                continuation.yield(ServerSentEvent(name: event.name, json: event.json))
                            }
                        } else if let ended = try? await service.run(run.id, of: user).run {
                            continuation.yield(ServerSentEvent(name: "done", json: done(ended)))
                        }
                        continuation.finish()
                    }
                    continuation.onTermination = { _ in task.cancel() }
                }
            }
            return response
        }
    }

    private static func batch(
        _ service: AssistantService, _ digest: @escaping @Sendable (String) -> [UInt8]
    ) -> Operation {
        Operation(
            name: "assistant.batch", method: .post, path: "/v1/assistant/batch",
            summary:
                "Asks up to \(AssistantQuestion.maxBatch) questions in one thread. The model answers each "
                + "without knowing the others, two at a time.",
            body: .object(
                [.required("questions", .list(question, minimum: 1, maximum: AssistantQuestion.maxBatch))] + shared),
            responses: [
                .accepted(.object([.required("runs", .list(.named("AssistantRun")), "In the order of the questions.")]))
            ], problems: problems, limit: .assistant
        ) { request in
            let user = try request.requirePrincipal().user
            let body = try request.decode(Body.self)
            guard let texts = body.questions, (1...AssistantQuestion.maxBatch).contains(texts.count) else {
                throw Problem.invalid(
                    "questions", "questions has 1 to \(AssistantQuestion.maxBatch) questions.")
            }
            let runs = try await service.ask(
                try body.question(texts, digest: digest) { "questions[\($0)]" }, by: user)
            var writer = JSONWriter(capacity: 2_048)
            writer.object { writer in
                writer.name("runs")
                writer.array(runs) { $1.write(to: &$0) }
            }
            return OperationResponse(status: 202, body: writer.bytes)
        }
    }

    private static func threads(_ service: AssistantService) -> Operation {
        Operation(
            name: "assistant.threads", method: .get, path: "/v1/assistant/threads",
            summary:
                "The user's threads, the last used first. There are at most \(AssistantThread.maxCount), with "
                + "\(AssistantThread.maxRunsOfUser) questions: new threads replace those that were used longest "
                + "ago.",
            parameters: [
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [
                .ok(
                    .object([.required("threads", .list(.named("AssistantThread"))), .optional("nextCursor", .text())]))
            ]
        ) { request in
            let user = try request.requirePrincipal().user
            let limit = try request.integer("limit", in: 1...100, default: 50)
            let cursor = try request.parameters["cursor"].map { text throws in
                let parts = text.split(separator: ".", maxSplits: 1).map { String($0) }
                guard parts.count == 2, let time = Int64(parts[0]), let id = AssistantThreadID(parts[1]) else {
                    throw Problem.invalid("cursor", "cursor must be the nextCursor of a page.")
                }
                return ThreadCursor(updatedAt: Timestamp(milliseconds: time), id: id)
            }
            let threads = try await service.threads(of: user, after: cursor, limit: limit + 1)
            var writer = JSONWriter(capacity: 2_048)
            writer.object { writer in
                writer.name("threads")
                writer.array(threads.prefix(limit)) { $1.write(to: &$0) }
                if threads.count > limit {
                    let last = threads[limit - 1]
                    writer.member("nextCursor", "\(last.updatedAt.milliseconds).\(last.id.text)")
                }
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static let threadParameter = Operation.Parameter.path("thread", .identifier, "The thread's id.")
    private static let runParameter = Operation.Parameter.path("run", .identifier, "The run's id.")

    private static func thread(_ service: AssistantService) -> Operation {
        Operation(
            name: "assistant.thread", method: .get, path: "/v1/assistant/threads/{thread}",
            summary: "A thread with its questions and answers, the oldest first.", parameters: [threadParameter],
            responses: [
                .ok(
                    .object([
                        .required("thread", .named("AssistantThread")),
                        .required("runs", .list(.named("AssistantRun"), maximum: AssistantThread.maxRuns)),
                    ]))
            ], problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("thread", of: AssistantThreadID.self)
            let (thread, runs) = try await service.thread(id, of: user)
            var writer = JSONWriter(capacity: 4_096)
            writer.object { writer in
                writer.name("thread")
                thread.write(to: &writer)
                writer.name("runs")
                writer.array(runs) { $1.write(to: &$0) }
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func run(_ service: AssistantService) -> Operation {
        Operation(
            name: "assistant.run", method: .get, path: "/v1/assistant/runs/{run}",
            summary:
                "A question with its answer. As long as a client asks for it, the model goes on with the "
                + "answer.", parameters: [runParameter],
            responses: [.ok(.named("AssistantRunResult"))], problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("run", of: AssistantRunID.self)
            return result(try await service.run(id, of: user).run, status: 200)
        }
    }

    private static func cancel(_ service: AssistantService) -> Operation {
        Operation(
            name: "assistant.cancel", method: .post, path: "/v1/assistant/runs/{run}/cancel",
            summary: "Ends an answer that is being written. An answer that has ended stays as it is.",
            parameters: [runParameter], responses: [.ok(.named("AssistantRunResult"))], problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("run", of: AssistantRunID.self)
            return result(try await service.cancel(id, of: user), status: 200)
        }
    }

    private static func eraseThread(_ service: AssistantService) -> Operation {
        Operation(
            name: "assistant.eraseThread", method: .delete, path: "/v1/assistant/threads/{thread}",
            summary: "Erases a thread with all of its questions and answers, for ever.",
            parameters: [threadParameter], problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            try await service.eraseThread(
                try request.identifier("thread", of: AssistantThreadID.self), of: user)
            return .noContent
        }
    }

    private static func eraseRun(_ service: AssistantService) -> Operation {
        Operation(
            name: "assistant.eraseRun", method: .delete, path: "/v1/assistant/runs/{run}",
            summary: "Erases a question with its answer, for ever. The thread is erased with its last question.",
            parameters: [runParameter], problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            try await service.eraseRun(try request.identifier("run", of: AssistantRunID.self), of: user)
            return .noContent
        }
    }

    private static func result(_ run: AssistantRun, status: Int) -> OperationResponse {
        OperationResponse(status: status, body: Array(json(run).utf8))
    }

    private static func json(_ run: AssistantRun) -> String {
        var writer = JSONWriter(capacity: 1_024)
        writer.object { writer in
            writer.name("run")
            run.write(to: &writer)
        }
        return writer.text
    }

    private static func done(_ run: AssistantRun) -> String {
        var writer = JSONWriter(capacity: 1_024)
        writer.object { writer in
            writer.member("type", "done")
            writer.name("run")
            run.write(to: &writer)
        }
        return writer.text
    }
}
