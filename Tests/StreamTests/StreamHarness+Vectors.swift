import Languages
import Messaging
import Model
import Storage
import TestSupport

// Vectors, by which messages are found by their meaning. A worker writes them when a command says so.
extension StreamHarness {
    /// A hosted service makes them, so that most levels forbid it.
    static let embedder = "embedder"
    private static let candidatesKept = 40

    /// Begins the work of the next messages of a conversation.
    func embed(_ command: StreamCommand, in id: ConversationID) async throws {
        guard let batch = try await nextBatch(of: id) else { return }
        if command.value < 8 {
            try await complete(batch)
        } else {
            batches.update { $0.append(batch) }
        }
    }

    /// A service responds to texts that it was given some time ago.
    func completeEmbedding(_ value: Int) async throws {
        let batch = batches.update { $0.isEmpty ? nil : $0.remove(at: value % $0.count) }
        if let batch { try await complete(batch) }
    }

    private func nextBatch(of id: ConversationID) async throws -> EmbeddingBatch? {
        let (commands, model) = (commands, model)
        return try await store.read { try commands.embeddingBatch(of: id, by: model, in: $0) }
    }

    private func complete(_ batch: EmbeddingBatch) async throws {
        let (commands, model) = (commands, model)
        var vectors: [Int64: [EmbeddingVector]] = [:]
        for passage in batch.passages {
            vectors[passage.number] = passage.texts.compactMap { _ in EmbeddingVector([Float](repeating: 1, count: 8)) }
        }
        _ = try await store.write { [vectors] in try commands.write(vectors, of: batch, by: model, in: $0) }
        let made = try await store.read { store in
            try batch.passages.flatMap { passage in
                try store.storedVectors(in: batch.conversation, passage.number...passage.number).map { stored in
                    MeaningCandidate(
                        conversation: batch.conversation, number: stored.number, of: stored.of, similarity: 1)
                }
            }
        }
        candidates.update { candidates in
            candidates.removeAll { made.contains($0) }
            candidates = Array((made.reversed() + candidates).prefix(Self.candidatesKept))
        }
    }

    /// What happens by itself after levels have changed.
    func compareVectors() async throws {
        let (commands, model) = (commands, model)
        while let next = try await store.read({ try $0.nextVectorCheck() }) {
            _ = try await store.write { store in
                let repair = try commands.repairVectors(
                    of: next.conversation, by: model, after: next.after, limit: 8, in: store)
                try store.setVectorCheck(of: next.conversation, after: repair.next)
            }
        }
    }

    /// When all work is done, every message has a vector of which one may be made.
    func missingVectors() async throws -> [String] {
        while !batches.value.isEmpty { try await completeEmbedding(0) }
        for id in conversations {
            while let batch = try await nextBatch(of: id) { try await complete(batch) }
        }
        let conversations = conversations
        return try await store.read { store in
            try conversations.flatMap { id -> [String] in
                guard let conversation = try store.conversation(id), conversation.lastNumber > 0 else { return [] }
                let vectors = try store.storedVectors(in: id, 1...conversation.lastNumber)
                return try store.messages(toIndexIn: id, after: 0, limit: .max).filter { message in
                    guard message.text != nil, message.deletedAt == nil,
                        message.expiresAt.map({ $0 > store.now }) ?? true,
                        !message.isWithheld, !message.isTextWithheld
                    else { return false }
                    return try ExpectedLevel.level(of: message, conversation, store) == .full
                        && !vectors.contains { ($0.number, $0.of) == (message.number, message.textVersion) }
                }.map { "no vector of \($0.number) in \(id)" }
            }
        }
    }
}
