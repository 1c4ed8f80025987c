package import Languages
package import Model

/// A vector of a part of a message's text, as it is stored.
package struct MessageVector: Hashable, Sendable {
    package var number: Int64
    package var chunk: Int64
    /// The `textVersion` that it was made from.
    package var of: Int64
    package var vector: EmbeddingVector

    package init(number: Int64, chunk: Int64, of: Int64, vector: EmbeddingVector) {
        self.number = number
        self.chunk = chunk
        self.of = of
        self.vector = vector
    }
}

/// A row of a vector, which may be damaged.
package struct StoredVector: Hashable, Sendable {
    package var number: Int64
    package var chunk: Int64
    /// The key of the model.
    package var model: Int64
    package var of: Int64
    /// Those of an `EmbeddingVector`, if it is one.
    package var bytes: [UInt8]

    package init(number: Int64, chunk: Int64, model: Int64, of: Int64, bytes: [UInt8]) {
        self.number = number
        self.chunk = chunk
        self.model = model
        self.of = of
        self.bytes = bytes
    }
}

/// How far the messages of a conversation have vectors, and what of it is to be done again.
package struct VectorProgress: Hashable, Sendable {
    /// The messages up to this number were embedded, as far as they could be.
    package var embeddedTo: Int64
    /// Those among them whose texts have changed since then, or that a repair found without a vector.
    package var again: [Int64]

    package init(embeddedTo: Int64 = 0, again: [Int64] = []) {
        self.embeddedTo = embeddedTo
        self.again = again
    }
}

/// A model by which vectors were made, by its key in the store.
package struct VectorModel: Hashable, Sendable {
    package var key: Int64
    package var name: String

    package init(key: Int64, name: String) {
        self.key = key
        self.name = name
    }
}

/// The storage of vectors. None has a text.
package protocol VectorStore: MessagingStore {
    /// - Parameter limit: how many messages are to be done again.
    func vectorProgress(of conversation: ConversationID, by model: VectorModel, limit: Int) throws -> VectorProgress
    func setEmbedded(to number: Int64, of conversation: ConversationID, by model: VectorModel) throws
    /// Messages of a conversation that must be embedded again; each is removed when it is done.
    func embedAgain(_ numbers: [Int64], in conversation: ConversationID) throws
    func embeddedAgain(_ numbers: [Int64], in conversation: ConversationID) throws
    /// Replaces all vectors of a message.
    func setVectors(
        _ vectors: [MessageVector], of number: Int64, in conversation: ConversationID, by model: VectorModel) throws
    /// Of each message of a range the first vector, with the `textVersion` that it was made from.
    func firstVectors(
        in conversation: ConversationID, by model: VectorModel, _ numbers: ClosedRange<Int64>
    ) throws -> [Int64: (of: Int64, vector: EmbeddingVector)]
    func removeVectors(of number: Int64, in conversation: ConversationID) throws
    /// The numbers after `number` of which there are vectors, in order, also by other models and of messages that are
    /// gone.
    func numbersWithVectors(in conversation: ConversationID, after number: Int64, limit: Int) throws -> [Int64]
    func storedVectors(in conversation: ConversationID, _ numbers: ClosedRange<Int64>) throws -> [StoredVector]
    /// How many bytes the newest vectors have, the newest first.
    func newestVectorSizes(in conversation: ConversationID, by model: VectorModel, limit: Int) throws -> [Int]
    /// Of a conversation that is gone nothing waits to be embedded.
    func forgetEmbedding(of conversation: ConversationID) throws
    /// The oldest messages after `number`, withheld ones too.
    func messages(toIndexIn conversation: ConversationID, after number: Int64, limit: Int) throws -> [Message]
}
