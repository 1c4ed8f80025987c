package import Languages
package import Model

/// Texts of some messages of a conversation, made from one snapshot, whose vectors are to be written in another
/// transaction.
package struct EmbeddingBatch: Hashable, Sendable {
    package struct Passage: Hashable, Sendable {
        package var number: Int64
        /// The `textVersion`.
        package var of: Int64
        package var author: UserID
        /// Each becomes a vector.
        package var texts: [String]
    }

    package let conversation: ConversationID
    /// The messages after `from` up to `to` are looked at.
    package let from: Int64
    package let to: Int64
    /// Others that are, again.
    package let again: [Int64]
    /// Of those that have words and may be embedded.
    package let passages: [Passage]
    /// Whether there is more after it.
    package let hasMore: Bool
}

// Which messages are embedded.
extension ConversationCommands {
    /// Messages of one step.
    private static let step = 64
    /// Texts of one step, after which it ends.
    private static let textsOfStep = 128

    /// The next messages that have no vectors; nil if there are none.
    package func embeddingBatch(
        of id: ConversationID, by model: VectorModel, in store: some VectorStore
    ) throws -> EmbeddingBatch? {
        guard let conversation = try store.conversation(id) else { return nil }
        let progress = try store.vectorProgress(of: id, by: model, limit: Self.step)
        let again = try progress.again.compactMap { try store.message($0, in: id) }
        let new = try store.messages(toIndexIn: id, after: progress.embeddedTo, limit: Self.step)
        guard !progress.again.isEmpty || !new.isEmpty else { return nil }
        var levels = MessageLevels(conversation, rules: intelligence, in: store)
        var passages: [EmbeddingBatch.Passage] = []
        var (count, to) = (0, progress.embeddedTo)
        func add(_ message: Message) throws {
            guard let passage = try passage(of: message, &levels, in: store) else { return }
            passages.append(passage)
            count += passage.texts.count
        }
        for message in again where message.number <= progress.embeddedTo { try add(message) }
        var looked = 0
        for message in new where count < Self.textsOfStep {
            try add(message)
            to = message.number
            looked += 1
        }
        return EmbeddingBatch(
            conversation: id, from: progress.embeddedTo, to: to, again: progress.again, passages: passages,
            hasMore: looked < new.count || new.count == Self.step || progress.again.count == Self.step)
    }

    func passage<Store: VectorStore>(
        of message: Message, _ levels: inout MessageLevels<Store>, in store: Store
    ) throws -> EmbeddingBatch.Passage? {
        // Only its author sees a message that is withheld.
        guard !message.isWithheld, !message.isTextWithheld, let text = message.asOf(store.now).translatableText,
            try levels.level(of: message).allowsEmbedding(byHosted: intelligence.isEmbedderHosted),
            try store.isActive(message.author)
        else { return nil }
        let texts = text.passages()
        guard !texts.isEmpty else { return nil }
        return EmbeddingBatch.Passage(
            number: message.number, of: message.textVersion, author: message.author, texts: texts)
    }

    /// Writes the vectors of a batch, except those whose message has changed meanwhile or may no longer be embedded.
    ///
    /// - Parameter vectors: those of each message, by its number. Nil if there are none: then the message is not tried
    ///   again before a repair.
    /// - Returns: false if somebody else has written it, which changes nothing.
    @discardableResult
    package func write(
        _ vectors: [Int64: [EmbeddingVector]], of batch: EmbeddingBatch, by model: VectorModel,
        in store: some VectorStore
    ) throws -> Bool {
        guard let conversation = try store.conversation(batch.conversation) else { return false }
        let progress = try store.vectorProgress(of: batch.conversation, by: model, limit: 0)
        guard progress.embeddedTo == batch.from else { return false }
        var levels = MessageLevels(conversation, rules: intelligence, in: store)
        // Before vectors of changed texts are asked for again, so that a change in between is not lost.
        try store.embeddedAgain(batch.again, in: batch.conversation)
        if batch.to > batch.from { try store.setEmbedded(to: batch.to, of: batch.conversation, by: model) }
        let passages = Dictionary(batch.passages.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let new = batch.to > batch.from ? batch.from + 1..<batch.to + 1 : 0..<0
        // Also those that had no words then, or might not be embedded.
        for number in Set(batch.again).union(new).sorted() where number <= batch.to {
            let passage = passages[number]
            let current = try store.message(number, in: batch.conversation).flatMap { message in
                try self.passage(of: message, &levels, in: store)
            }
            guard current == passage else {
                if current != nil { try store.embedAgain([number], in: batch.conversation) }
                continue
            }
            guard let passage, let made = vectors[number] else { continue }
            let rows = zip(Int64(0)..., made).map {
                MessageVector(number: number, chunk: $0, of: passage.of, vector: $1)
            }
            try store.setVectors(rows, of: number, in: batch.conversation, by: model)
        }
        return true
    }
}
