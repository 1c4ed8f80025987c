package import Model

/// For whom an answer is, which says what it may be made of.
package enum AssistantAudience: String, Hashable, Sendable, CaseIterable, Codable {
    /// For the one who asks: of what they see.
    case me
    /// To be shown in the conversation: of what all its members see.
    case conversation
}

/// What may be looked at for a question. The server fixes it when the question comes, and a model can only look at less.
package struct AssistantScope: Hashable, Sendable {
    /// Nil for all conversations of the user.
    package var conversation: ConversationID?
    package var audience: AssistantAudience

    package init(conversation: ConversationID? = nil, audience: AssistantAudience = .me) {
        self.conversation = conversation
        self.audience = audience
    }
}

/// A message that a sentence rests on.
package struct AnswerCitation: Hashable, Sendable {
    package var conversation: ConversationID
    package var number: Int64
    /// The `textVersion` that was read.
    package var of: Int64

    package init(conversation: ConversationID, number: Int64, of: Int64) {
        self.conversation = conversation
        self.number = number
        self.of = of
    }
}

/// A part of an answer: plain text on one line.
package struct AnswerSentence: Hashable, Sendable {
    /// Of an answer.
    package static let maxCount = 60
    /// In Unicode scalars; what is beyond is cut.
    package static let maxLength = 1_000

    package var text: String
    /// None if it rests on no message that the model was shown.
    package var citations: [AnswerCitation]
    /// Whether it begins a line of its own.
    package var startsLine: Bool
    /// What it rested on has changed or gone: there is no text.
    package var isWithdrawn = false

    package init(_ text: String, citations: [AnswerCitation] = [], startsLine: Bool = false) {
        self.text = text
        self.citations = citations
        self.startsLine = startsLine
    }

    package mutating func withdraw() {
        text = ""
        isWithdrawn = true
    }
}

/// A question and what became of it.
package struct AssistantRun: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable, CaseIterable {
        case running, done, failed, cancelled
    }

    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The model did not respond, or nothing of what it wrote can be used.
        case providerFailed = "provider_failed"
        /// What hosted services may be given is used up.
        case budgetExhausted = "budget_exhausted"
        case timeout
        /// The server ended meanwhile.
        case interrupted
        /// Nobody listened any more.
        case noListener = "no_listener"
        /// Its user cancelled it.
        case cancelled
    }

    package let id: AssistantRunID
    package let thread: AssistantThreadID
    package let user: UserID
    package let question: String
    package let scope: AssistantScope
    package let askedAt: Timestamp
    package var status = Status.running
    package var reason: Reason?
    package var sentences: [AnswerSentence] = []
    /// Those that were used, in their order.
    package var tools: [AssistantTool] = []
    /// As users are shown it.
    package var model: String
    /// Whether messages left the server for it.
    package var isHosted: Bool
    /// Calls of the model, and the characters that it was given.
    package var calls = 0
    package var characters: Int64 = 0
    package var endedAt: Timestamp?

    package init(
        id: AssistantRunID, thread: AssistantThreadID, user: UserID, question: String, scope: AssistantScope,
        askedAt: Timestamp, model: String, isHosted: Bool
    ) {
        self.id = id
        self.thread = thread
        self.user = user
        self.question = question
        self.scope = scope
        self.askedAt = askedAt
        self.model = model
        self.isHosted = isHosted
    }
}

/// Questions that know of each other.
package struct AssistantThread: Hashable, Sendable {
    /// Of a user; the one that was used longest ago goes for a new one.
    package static let maxCount = 100
    package static let maxRuns = 50
    /// Of a user, in all threads: about 10 MB of texts.
    package static let maxRunsOfUser = 1_000
    /// In characters.
    package static let titleLength = 80

    package let id: AssistantThreadID
    package let user: UserID
    /// The beginning of the first question.
    package var title: String
    package let createdAt: Timestamp
    package var updatedAt: Timestamp
    package var runs = 0

    package init(id: AssistantThreadID, user: UserID, title: String, createdAt: Timestamp) {
        self.id = id
        self.user = user
        self.title = title
        self.createdAt = createdAt
        updatedAt = createdAt
    }
}

extension AssistantRun {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("thread", thread)
            writer.member("question", question)
            writer.member("conversation", scope.conversation)
            writer.member("for", scope.audience.rawValue)
            writer.member("status", status.rawValue)
            writer.member("reason", reason?.rawValue)
            writer.name("sentences")
            writer.array(sentences) { $1.write(to: &$0) }
            writer.name("tools")
            writer.array(tools) { writer, tool in writer.object { $0.member("name", tool.rawValue) } }
            writer.member("model", model)
            writer.name("cost")
            writer.object { writer in
                writer.member("calls", Int64(calls))
                writer.member("characters", characters)
            }
            writer.member("askedAt", askedAt)
            writer.member("endedAt", endedAt)
        }
    }

    package var json: String {
        var writer = JSONWriter(capacity: 1024)
        write(to: &writer)
        return writer.text
    }
}

extension AnswerSentence {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("text", text)
            writer.name("citations")
            writer.array(citations) { writer, citation in
                writer.object { writer in
                    writer.member("conversation", citation.conversation)
                    writer.member("number", citation.number)
                    writer.member("of", citation.of)
                }
            }
            if startsLine { writer.member("startsLine", true) }
            if isWithdrawn { writer.member("withdrawn", true) }
        }
    }
}

extension AssistantThread {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("title", title)
            writer.member("createdAt", createdAt)
            writer.member("updatedAt", updatedAt)
            writer.member("runs", Int64(runs))
        }
    }
}
