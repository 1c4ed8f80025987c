package import Languages
package import Messaging
package import Model
package import Storage

/// Vectors of conversations in memory, for exact search: filled from the store by the first search of a conversation, and
/// followed from there. Those that were searched longest ago are dropped where there are too many.
package actor VectorIndex {
    /// Rows of one read, during which others find a connection.
    private static let page = 2_000

    private struct Held {
        var block: VectorBlock?
        /// How many vectors there were to read.
        var capacity = 0
        /// Of the last vector that was read.
        var counter: Int64 = 0
        var lastUse = 0
        /// Another one since vectors were removed, or all of them forgotten: what was read before is read again.
        var stamp: Int
        var byteCount = 0
    }

    private let store: Store
    private let maxBytes: Int
    private var conversations: [ConversationID: Held] = [:]
    private var uses = 0
    private var stamps = 0
    /// Searches that read a conversation: it is not dropped meanwhile, or they would begin anew.
    private var followers: [ConversationID: Int] = [:]

    /// In memory.
    package private(set) var byteCount = 0
    package var vectorCount: Int { conversations.values.reduce(0) { $0 + ($1.block?.count ?? 0) } }

    package init(store: Store, maxBytes: Int) {
        self.store = store
        self.maxBytes = maxBytes
    }

    /// The messages with the most similar vectors, the most similar first.
    package func search(
        _ query: EmbeddingVector, in scopes: [MeaningScope], by model: VectorModel, limit: Int
    ) async throws -> [MeaningCandidate] {
        var candidates: [MeaningCandidate] = []
        // Also where nothing is embedded: vectors that are made anew are there until others are.
        for scope in scopes {
            try Task.checkCancellation()
            try await follow(scope.conversation, by: model, dimensions: query.values.count)
            guard let block = conversations[scope.conversation]?.block else { continue }
            candidates += block.search(query, in: scope.ranges, limit: limit).map {
                MeaningCandidate(
                    conversation: scope.conversation, number: $0.number, of: $0.of, similarity: $0.similarity)
            }
            if candidates.count > 4 * limit { Self.keepBest(limit, &candidates) }
        }
        Self.keepBest(limit, &candidates)
        return candidates
    }

    private static func keepBest(_ limit: Int, _ candidates: inout [MeaningCandidate]) {
        candidates.sort {
            ($1.similarity, $0.conversation.text, $1.number) < ($0.similarity, $1.conversation.text, $0.number)
        }
        if candidates.count > limit { candidates.removeSubrange(limit...) }
    }

    /// The vectors of these messages are gone from the store.
    package func remove(_ numbers: [ConversationID: Set<Int64>]) {
        for (id, numbers) in numbers {
            guard var held = conversations.removeValue(forKey: id) else { continue }
            held.stamp = nextStamp()
            if var block = held.block {
                held.block = nil
                for number in numbers { block.remove(number) }
                held.block = block
            }
            note(held, of: id)
        }
    }

    /// Reads all of a conversation anew with its next search.
    package func forget(_ id: ConversationID) {
        guard let held = conversations.removeValue(forKey: id) else { return }
        byteCount -= held.byteCount
    }

    package func forgetAll() {
        conversations = [:]
        byteCount = 0
    }

    /// Reads what is new of a conversation.
    private func follow(_ id: ConversationID, by model: VectorModel, dimensions: Int) async throws {
        uses += 1
        followers[id, default: 0] += 1
        defer { followers[id] = followers[id].flatMap { $0 > 1 ? $0 - 1 : nil } }
        // A model has changed under its name.
        if let block = conversations[id]?.block, block.dimensions != dimensions { forget(id) }
        while true {
            try Task.checkCancellation()
            // Also one that was forgotten while the store was read.
            if conversations[id] == nil { try await begin(id, by: model, dimensions: dimensions) }
            // Without keeping what they belong to: a block that is held twice would be copied.
            guard let (counter, stamp) = conversations[id].map({ ($0.counter, $0.stamp) }) else { continue }
            let vectors = { @Sendable (store: StoreTransaction) in
                try store.vectors(in: id, by: model, madeAfter: counter, limit: Self.page)
            }
            // What is new is little, and there are many conversations to look at.
            let isKnown = conversations[id]?.block != nil
            let read = try await isKnown ? store.read(vectors) : store.longRead(vectors)
            // Others follow at the same time: what was read twice is the same.
            guard conversations[id]?.stamp == stamp, var held = conversations.removeValue(forKey: id) else {
                continue
            }
            held.lastUse = uses
            var block = held.block ?? VectorBlock(dimensions: dimensions, capacity: held.capacity)
            held.block = nil
            for vector in read.vectors {
                block.set(
                    vector.vector, of: VectorBlock.Entry(number: vector.number, chunk: vector.chunk, of: vector.of))
            }
            held.block = block
            held.counter = max(held.counter, read.counter)
            note(held, of: id)
            guard read.counter > counter else { break }
        }
        dropOldest(besides: id)
    }

    /// Of one that is too large for the memory the newest vectors are held.
    private func begin(_ id: ConversationID, by model: VectorModel, dimensions: Int) async throws {
        let most = max(1, maxBytes / VectorBlock.byteCount(dimensions: dimensions))
        let (counter, count) = try await store.longRead { store in
            (
                try store.vectorCounter(in: id, by: model, before: most),
                try store.vectorCount(in: id, by: model, atMost: most)
            )
        }
        guard conversations[id] == nil else { return }
        conversations[id] = Held(capacity: count, counter: counter, stamp: nextStamp())
    }

    private func nextStamp() -> Int {
        stamps += 1
        return stamps
    }

    /// Puts it back, with what it takes now.
    private func note(_ held: consuming Held, of id: ConversationID) {
        byteCount -= held.byteCount
        held.byteCount = held.block?.byteCount ?? 0
        byteCount += held.byteCount
        conversations[id] = held
    }

    private func dropOldest(besides id: ConversationID) {
        while byteCount > maxBytes {
            let others = conversations.filter { $0.key != id && $0.value.byteCount > 0 && followers[$0.key] == nil }
            guard let oldest = others.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
            forget(oldest.key)
        }
        // Empty ones cost a little too.
        if conversations.count > 10_000 {
            conversations = conversations.filter { $0.key == id || $0.value.byteCount > 0 }
        }
    }
}
