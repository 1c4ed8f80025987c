package import Languages
package import Model

/// Which messages of a conversation are summarised.
package struct SummaryScope: Hashable, Sendable {
    /// Messages of one summary, the newest.
    package static let maxMessages = 500

    package var from: Int64?
    package var to: Int64?
    /// Only of this thread, by the number of its root, and the root itself.
    package var thread: Int64?
    /// Only what the user has not read.
    package var isUnread = false
    /// Only what was said in this call, as its recordings were transcribed.
    package var call: CallID?

    package init() {}
}

/// The messages of a summary, as its reader sees them.
package struct SummarisedMessages: Sendable {
    package var found: MemberConversation
    /// Those without words too, such as deleted ones.
    package var all: [Message]
    /// Those that have words, in the order of their numbers.
    package var messages: [Message]
    package var range: ClosedRange<Int64>?
    /// Whether `all` has everything that the reader sees in a range of numbers, and not only a thread or what was said
    /// in a call.
    package var isOfNumbers: Bool

    package init(found: MemberConversation, all: [Message], isOfNumbers: Bool) {
        self.found = found
        self.all = all
        self.isOfNumbers = isOfNumbers
        messages = all.filter { $0.deletedAt == nil && $0.words != nil }
        if let low = messages.first?.number, let high = messages.last?.number { range = low...max(low, high) }
    }
}

/// What a summary is made of.
package struct SummarySources: Sendable {
    package var sources: [ExtractiveSummary.Source]
    package var range: ClosedRange<Int64>?
    /// Messages that have words.
    package var count: Int
}

extension ConversationCommands {
    /// The messages that the user sees.
    ///
    /// - Throws: `not_found` of a conversation or thread that the user does not see; `invalid_request` of a range.
    package func summarised(
        of id: ConversationID, _ scope: SummaryScope, by user: UserID, in store: some MessagingStore
    ) throws -> SummarisedMessages {
        if let from = scope.from, from < 1 { throw Problem.invalid("from", "Numbers of messages begin at 1.") }
        if let to = scope.to, to < scope.from ?? 1 {
            throw Problem.invalid("to", "The last number is not before the first.")
        }
        let found = try get(id, by: user, in: store)
        var reader = PageReader(found: found, user: user, store: store)
        var root: Message?
        if let thread = scope.thread {
            root = try reader.message(thread)?.message
            guard root != nil else { throw Problem.notFound("message", field: "thread") }
            reader.thread = thread
        }
        var first = scope.from ?? 1
        if scope.isUnread { first = max(first, try readMark(of: user, in: id, store) + 1) }
        let last = min(scope.to ?? .max, found.conversation.lastNumber)
        guard first <= last else { return SummarisedMessages(found: found, all: [], isOfNumbers: false) }
        var messages = try reader.page(earlier: SummaryScope.maxMessages, upTo: last, later: 0, after: first - 1)
            .messages.map(\.message)
        if let root, root.number >= first { messages.insert(root, at: 0) }
        return SummarisedMessages(found: found, all: messages, isOfNumbers: root == nil)
    }

    /// The messages that the user sees, with their vectors. Of those without one there is nothing to say: their authors
    /// do not allow it, or they are not embedded yet.
    package func summarySources(
        of id: ConversationID, _ scope: SummaryScope, by user: UserID, _ model: VectorModel,
        in store: some VectorStore
    ) throws -> SummarySources {
        let summarised = try summarised(of: id, scope, by: user, in: store)
        guard let range = summarised.range else { return SummarySources(sources: [], range: nil, count: 0) }
        var levels = MessageLevels(summarised.found.conversation, rules: intelligence, in: store)
        let vectors = try store.firstVectors(in: id, by: model, range)
        let sources = try summarised.messages.compactMap { message -> ExtractiveSummary.Source? in
            guard let vector = vectors[message.number], vector.of == message.textVersion,
                try levels.level(of: message).allowsEmbedding(byHosted: intelligence.isEmbedderHosted)
            else { return nil }
            return ExtractiveSummary.Source(message: message, vector: vector.vector)
        }
        return SummarySources(sources: sources, range: range, count: summarised.messages.count)
    }

    /// What was said in a call, as if it were messages of those who said it, numbered from 1.
    ///
    /// - Parameters:
    ///   - number: of the message of the call.
    ///   - speech: in order.
    /// - Throws: `not_found` if the user does not see the call's message.
    package func summarised(
        _ speech: [(speaker: UserID, at: Timestamp, text: String)], ofCall number: Int64, in id: ConversationID,
        by user: UserID, store: some MessagingStore
    ) throws -> SummarisedMessages {
        let found = try get(id, by: user, in: store)
        guard let call = try PageReader(found: found, user: user, store: store).message(number), call.deletedAt == nil
        else { throw Problem.notFound("call", field: "call") }
        let messages = try zip(Int64(1)..., speech).map { index, one in
            var message = Message(
                conversation: id, number: index, clientID: call.clientID, author: one.speaker, sentAt: one.at,
                text: one.text, ranges: RangeFinder.ranges(in: one.text).ranges, version: 1, textVersion: 1)
            message.language = try language(ofSpeech: one.text, in: nil, by: one.speaker, store: store)
            return message
        }
        return SummarisedMessages(found: found, all: messages, isOfNumbers: false)
    }

    /// Of those, the ones of which vectors may be made.
    package func embeddable(
        _ summarised: SummarisedMessages, in store: some MessagingStore
    ) throws -> [Message] {
        var levels = MessageLevels(summarised.found.conversation, rules: intelligence, in: store)
        return try summarised.messages.filter { message in
            try levels.level(of: message).allowsEmbedding(byHosted: intelligence.isEmbedderHosted)
        }
    }
}

// What a user should see first.
extension ConversationCommands {
    private func readMark(of user: UserID, in id: ConversationID, _ store: some MessagingStore) throws -> Int64 {
        try store.marks(of: user, in: id)?.marks.read ?? 0
    }

    /// The newest unread messages of others in the conversations that were active last, with their vectors where they
    /// have some: in the order of the conversations, and of the numbers.
    ///
    /// - Parameter hosted: only what a language model may be shown: whether it is a hosted one. Nil for all.
    package func unreadSources(
        of user: UserID, _ model: VectorModel, shownToHostedModel hosted: Bool? = nil,
        in store: some SearchStore & VectorStore
    ) throws -> [UnreadMessage] {
        let (conversations, messages) = (50, 50)
        var active: [MemberConversation] = try store.searchedConversations(of: user).map(\.found)
        active.removeAll { $0.member.state != .member && ($0.conversation.kind != .direct || hosted != nil) }
        active.sort { $1.conversation.lastSentAt < $0.conversation.lastSentAt }
        var unread: [UnreadMessage] = []
        for found in active.prefix(conversations) {
            let (id, last) = (found.conversation.id, found.conversation.lastNumber)
            let read = try readMark(of: user, in: id, store)
            guard read < last else { continue }
            let page = try PageReader(found: found, user: user, store: store).page(
                earlier: messages, upTo: last, later: 0, after: read)
            let blocked = try store.blockedAuthors(of: user, in: id)
            let others = page.messages.filter {
                $0.author != user && !blocked.contains($0.author) && $0.deletedAt == nil && $0.words != nil
            }
            guard let low = others.first?.number, let high = others.last?.number else { continue }
            var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
            let vectors = try store.firstVectors(in: id, by: model, low...high)
            for message in others {
                var vector = vectors[message.number].flatMap { $0.of == message.textVersion ? $0.vector : nil }
                let level = try levels.level(of: message.message)
                if let hosted, !level.allowsModel(isHosted: hosted) { continue }
                if !level.allowsEmbedding(byHosted: intelligence.isEmbedderHosted) { vector = nil }
                unread.append(
                    UnreadMessage(message: message, isDirect: found.conversation.kind == .direct, vector: vector))
            }
        }
        return unread
    }
}

package struct UnreadMessage: Sendable {
    package var message: SeenMessage
    /// Whether the message was written to this user alone.
    package var isDirect: Bool
    package var vector: EmbeddingVector?
}

/// Why a message is shown before others.
package enum PriorityReason: String, Hashable, Sendable, CaseIterable {
    case urgent, mention, request, question, direct

    fileprivate var weight: Int {
        switch self {
        case .urgent: 8
        case .mention, .request: 4
        case .question: 2
        case .direct: 1
        }
    }
}

package struct PriorityMessage: Hashable, Sendable {
    package var message: SeenMessage
    package var reasons: [PriorityReason]

    /// The most important first, then the newest; without those that nothing speaks for.
    package static func ranked(
        _ unread: [UnreadMessage], for user: UserID, _ classifier: IntentClassifier, limit: Int
    ) -> [PriorityMessage] {
        let all: [PriorityMessage] = unread.compactMap { (one: UnreadMessage) -> PriorityMessage? in
            var reasons: [PriorityReason] = []
            switch one.vector.flatMap({ classifier.intent(of: $0) }) {
            case .urgent: reasons.append(.urgent)
            case .request: reasons.append(.request)
            case .question, .promise, .decision, .talk, nil:
                if one.message.isQuestion { reasons.append(.question) }
            }
            if one.message.ranges.contains(where: { $0.kind == .mention && ($0.user == nil || $0.user == user) }) {
                reasons.append(.mention)
            }
            // It is not enough that nobody else was asked.
            if one.isDirect, !reasons.isEmpty { reasons.append(.direct) }
            return reasons.isEmpty ? nil : PriorityMessage(message: one.message, reasons: reasons)
        }
        func weight(_ one: PriorityMessage) -> Int { one.reasons.reduce(0) { $0 + $1.weight } }
        let ranked = all.sorted { one, other in
            let (left, right) = (weight(one), weight(other))
            if left != right { return left > right }
            if one.message.sentAt != other.message.sentAt { return one.message.sentAt > other.message.sentAt }
            return one.message.number > other.message.number
        }
        return Array(ranked.prefix(limit))
    }
}
