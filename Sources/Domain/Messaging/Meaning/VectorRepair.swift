import Languages
package import Model

/// What a repair has found in one conversation.
package struct VectorRepair: Hashable, Sendable {
    /// Messages whose vectors were of another text, damaged or incomplete, or of a message that may have none: they are
    /// gone.
    package var removed = 0
    /// Messages without vectors that may have some: they are made again.
    package var missing = 0
    /// Whether messages that have vectors still have some by another model.
    package var hasOthers = false
    /// The number after which to go on; nil if that was all.
    package var next: Int64?
}

extension ConversationCommands {
    /// Compares vectors with messages, a part at a time.
    ///
    /// - Parameter limit: of messages.
    package func repairVectors(
        of id: ConversationID, by model: VectorModel, after number: Int64, limit: Int, in store: some VectorStore
    ) throws -> VectorRepair {
        let messages = try store.messages(toIndexIn: id, after: number, limit: limit)
        let withVectors = try store.numbersWithVectors(in: id, after: number, limit: limit)
        var repair = VectorRepair()
        // Beyond the last of a full page there may be more of its kind.
        repair.next = [messages.map(\.number), withVectors].compactMap { $0.count == limit ? $0.last : nil }.min()
        let end = repair.next ?? .max
        let passages = try passages(of: messages.filter { $0.number <= end }, in: id, store)
        let numbers = withVectors.filter { $0 <= end }
        let stored =
            numbers.isEmpty
            ? [:]
            : Dictionary(
                grouping: try store.storedVectors(in: id, numbers[0]...numbers[numbers.count - 1]), by: \.number)
        let comparison = VectorComparison(
            model: model, embeddedTo: try store.vectorProgress(of: id, by: model, limit: 0).embeddedTo,
            byteCount: VectorComparison.byteCount(of: try store.newestVectorSizes(in: id, by: model, limit: 9)))
        var missing: [Int64] = []
        for number in Set(stored.keys).union(passages.keys).sorted() {
            let result = comparison.compare(stored[number] ?? [], with: passages[number], number)
            if result.isWrong {
                try store.removeVectors(of: number, in: id)
                repair.removed += 1
            }
            if result.isMissing { missing.append(number) }
            repair.hasOthers = repair.hasOthers || result.hasOthers
        }
        try store.embedAgain(missing, in: id)
        repair.missing = missing.count
        if repair.next == nil, try store.conversation(id) == nil { try store.forgetEmbedding(of: id) }
        return repair
    }

    /// What of the messages is embedded; nothing of a conversation that is gone.
    private func passages(
        of messages: [Message], in id: ConversationID, _ store: some VectorStore
    ) throws -> [Int64: EmbeddingBatch.Passage] {
        guard let conversation = try store.conversation(id) else { return [:] }
        var levels = MessageLevels(conversation, rules: intelligence, in: store)
        var passages: [Int64: EmbeddingBatch.Passage] = [:]
        for message in messages { passages[message.number] = try passage(of: message, &levels, in: store) }
        return passages
    }
}

/// Decides which of the stored vectors of a message are right.
struct VectorComparison {
    let model: VectorModel
    /// Of the model. Beyond it messages still wait, and those that have older vectors keep them.
    let embeddedTo: Int64
    /// Of a right vector; nil if there are none in the conversation.
    let byteCount: Int?

    /// How large most of the newest vectors are: with all of another size a model has changed under its name, with one
    /// of another size that one is damaged.
    ///
    /// - Parameter newest: the newest first.
    static func byteCount(of newest: [Int]) -> Int? {
        let counts = Dictionary(newest.map { ($0, 1) }, uniquingKeysWith: +)
        return newest.first { counts[$0] == counts.values.max() }
    }

    func compare(
        _ stored: [StoredVector], with passage: EmbeddingBatch.Passage?, _ number: Int64
    ) -> (isWrong: Bool, isMissing: Bool, hasOthers: Bool) {
        let own = stored.filter { $0.model == model.key }
        let isOutdated = stored.contains { $0.of != passage?.of }
        let isWrong = isOutdated || !own.isEmpty && !isComplete(own, of: passage?.texts.count ?? 0)
        let isReached = number <= embeddedTo
        return (
            isWrong, isMissing: passage != nil && isReached && (isWrong || own.isEmpty),
            hasOthers: isReached && own.count < stored.count
        )
    }

    private func isComplete(_ vectors: [StoredVector], of count: Int) -> Bool {
        vectors.map(\.chunk).sorted() == Array(0..<Int64(count)) && vectors.allSatisfy(isVector)
    }

    /// Rounding leaves the length of one near to one.
    private func isVector(_ stored: StoredVector) -> Bool {
        guard stored.bytes.count == byteCount, let vector = EmbeddingVector(bytes: stored.bytes),
            let square = vector.similarity(to: vector)
        else { return false }
        return (0.5...2).contains(square)
    }
}
