package import Languages
internal import Model

/// Makes a summary of what messages say themselves: those that ask, promise, decide or are questions, and of the others
/// those that are most like all and least like each other (maximal marginal relevance, Carbonell and Goldstein 1998).
package struct ExtractiveSummary: Sendable {
    package struct Source: Sendable {
        package var message: Message
        package var vector: EmbeddingVector

        package init(message: Message, vector: EmbeddingVector) {
            self.message = message
            self.vector = vector
        }
    }

    /// Of each kind.
    private static let mostItems = 6
    private static let mostPoints = 5
    /// One point for so many messages.
    private static let messagesOfPoint = 6
    /// The weight of relevance, against the similarity to items that are chosen already.
    private static let relevance: Float = 0.7
    /// Of an item, in characters.
    private static let maxLength = 280
    /// Shorter messages are no points: "ok", "see you".
    private static let wordsOfPoint = 4

    private let classifier: IntentClassifier

    package init(_ classifier: IntentClassifier) { self.classifier = classifier }

    /// - Parameter sources: as their reader sees them, in the order of their numbers.
    package func items(of sources: [Source]) -> [MessageSummary.Item] {
        var (decisions, actions, questions): ([Source], [(source: Source, intent: MessageIntent)], [Source]) = (
            [], [], []
        )
        var rest: [Source] = []
        let replies = Dictionary(grouping: sources.filter { $0.message.replyTo != nil }, by: \.message.replyTo)
        for (index, source) in sources.enumerated() {
            let intent = classifier.intent(of: source.vector)
            switch intent {
            case .request?, .promise?, .urgent?: actions.append((source, intent ?? .request))
            case .decision?: decisions.append(source)
            case .question?, .talk?, nil:
                let next = index + 1 < sources.count ? sources[index + 1] : nil
                if source.message.isQuestion, !isAnswered(source, by: replies[source.message.number] ?? [], or: next) {
                    questions.append(source)
                } else {
                    rest.append(source)
                }
            }
        }
        // The newest count. Owners and times are looked up only for these, since that takes longer than all the rest.
        return points(of: rest, beside: sources)
            + decisions.suffix(Self.mostItems).map { item(.decision, $0, owner: nil) }
            + actions.suffix(Self.mostItems).map { source, intent in
                item(.action, source, owner: owner(of: source, intent), due: due(of: source))
            }
            + questions.suffix(Self.mostItems).map { item(.question, $0, owner: nil) }
    }

    /// By a reply, or by the next user who writes.
    private func isAnswered(_ question: Source, by replies: [Source], or next: Source?) -> Bool {
        let author = question.message.author
        return replies.contains { $0.message.author != author } || next.map { $0.message.author != author } ?? false
    }

    /// The user who promises it, or the only one who is asked by name.
    private func owner(of source: Source, _ intent: MessageIntent) -> UserID? {
        if intent == .promise { return source.message.author }
        guard intent == .request else { return nil }
        let named = Set(source.message.ranges.filter { $0.kind == .mention }.map(\.user))
        guard named.count == 1, let one = named.first else { return nil }
        return one
    }

    private func due(of source: Source) -> DueDate? {
        guard let text = source.message.translatableText else { return nil }
        return DueDateRules.date(
            in: text.original, keeping: text.keptRanges, language: source.message.language?.code,
            sentAt: source.message.sentAt)
    }

    private func item(
        _ kind: MessageSummary.Item.Kind, _ source: Source, owner: UserID?, due: DueDate? = nil
    ) -> MessageSummary.Item {
        MessageSummary.Item(
            kind: kind, text: Self.excerpt(source.message.words ?? ""), owner: owner, due: due,
            messages: [source.message.number])
    }

    private func points(of rest: [Source], beside all: [Source]) -> [MessageSummary.Item] {
        let candidates = rest.filter {
            ($0.message.words ?? "").split(whereSeparator: \.isWhitespace).count >= Self.wordsOfPoint
        }
        guard let dimensions = all.first?.vector.values.count, !candidates.isEmpty else { return [] }
        var centre = [Float](repeating: 0, count: dimensions)
        for source in all where source.vector.values.count == dimensions {
            for (index, value) in source.vector.floats.enumerated() { centre[index] += value }
        }
        guard let middle = EmbeddingVector(centre) else { return [] }
        let wanted = min(Self.mostPoints, max(1, all.count / Self.messagesOfPoint))
        var chosen: [Source] = []
        var left = candidates
        while chosen.count < wanted, !left.isEmpty {
            func score(_ source: Source) -> Float {
                let like = source.vector.similarity(to: middle) ?? -1
                let known = chosen.compactMap { $0.vector.similarity(to: source.vector) }.max() ?? 0
                return Self.relevance * like - (1 - Self.relevance) * known
            }
            guard let best = left.indices.max(by: { score(left[$0]) < score(left[$1]) }) else { break }
            chosen.append(left.remove(at: best))
        }
        return chosen.sorted { $0.message.number < $1.message.number }.map { item(.point, $0, owner: nil) }
    }

    /// Its beginning, up to the end of a word.
    private static func excerpt(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard line.count > maxLength else { return line }
        let words = line.prefix(maxLength).split(separator: " ", omittingEmptySubsequences: false).dropLast()
        let start = words.joined(separator: " ")
        return (start.isEmpty ? String(line.prefix(maxLength)) : start) + "…"
    }
}

extension Message {
    /// That is surer than what a vector says.
    var isQuestion: Bool { words.map(MessageIntent.isQuestion) ?? false }
}
