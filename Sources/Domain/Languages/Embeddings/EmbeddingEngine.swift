/// Turns texts into vectors, so that texts of similar meaning have similar vectors, in whatever languages they are. It
/// validates what it is given back, and ends at the deadline or when its task is cancelled.
package protocol EmbeddingEngine: Sendable {
    /// The model, as vectors are stored under it: at most 64 characters. Vectors of two models cannot be compared.
    var model: String { get }
    /// Whether texts leave what the operator runs.
    var isHosted: Bool { get }
    /// Whether the service counts tokens.
    var usesTokens: Bool { get }

    /// - Parameter texts: 1 to `EmbeddingRequest.maxTexts`, each of at most `EmbeddingRequest.maxLength` characters.
    /// - Returns: a vector for each text, in their order, all of as many dimensions; nil for a text that ended it twice and
    ///   is not given to it again.
    func embed(
        _ request: EmbeddingRequest, deadline: ContinuousClock.Instant
    ) async throws(EmbeddingFailure) -> [EmbeddingVector?]
}

extension EmbeddingEngine {
    package var usesTokens: Bool { false }

    /// Of a request that is not sent yet.
    package func estimate(of texts: [String]) -> TokenUsage {
        usesTokens ? TokenUsage(input: Int64(texts.reduce(0) { $0 + $1.utf8.count }) / 3) : TokenUsage()
    }
}

/// Texts to embed. They are all by one author in one conversation, or one query.
package struct EmbeddingRequest: Hashable, Sendable {
    package enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// What is searched for.
        case query
        /// What is found.
        case passage
    }

    package static let maxTexts = 16
    /// Of each text, in characters (Unicode scalars).
    package static let maxLength = 2_000

    package var texts: [String]
    package var purpose: Purpose

    package init(_ texts: [String], _ purpose: Purpose) {
        self.texts = texts
        self.purpose = purpose
    }
}

/// Why there are no vectors.
package enum EmbeddingFailure: Error, Hashable, Sendable {
    /// What came back is cut, of no shape, or of another number.
    case invalidResponse(String)
    /// The engine did not respond in time, cannot be reached or has ended.
    case unavailable(String)
    /// It refused, and accepts none before this time has passed.
    case limited(retryAfter: Duration?)
    /// It refused for good, such as for a wrong key.
    case refused(String)
    case cancelled
}

/// A vector of length one, in a byte for each dimension: of 384 dimensions the cosine of two differs by at most 0.001 from
/// that of the vectors that they were made from.
package struct EmbeddingVector: Hashable, Sendable {
    package static let dimensions = 8...4_096

    package let values: [Int8]
    /// By which the values are multiplied.
    package let scale: Float

    /// Nil if the values are no vector: of another number, not finite, or all zero.
    package init?(_ values: [Float]) {
        guard Self.dimensions.contains(values.count) else { return nil }
        let length = values.reduce(into: 0.0) { $0 += Double($1) * Double($1) }.squareRoot()
        guard length.isFinite, length > 1e-6 else { return nil }
        let largest = values.reduce(Float(0)) { max($0, abs($1)) }
        let step = largest / 127
        guard step.isNormal else { return nil }
        self.values = values.map { Int8(clamping: Int(($0 / step).rounded())) }
        scale = Float(Double(step) / length)
    }

    /// Nil if that is no vector.
    ///
    /// - Parameter bytes: as `bytes` has them.
    package init?(bytes: [UInt8]) {
        guard Self.dimensions.contains(bytes.count - 4) else { return nil }
        let pattern = bytes[..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let scale = Float(bitPattern: pattern)
        guard scale.isFinite, scale > 0 else { return nil }
        values = bytes[4...].map { Int8(bitPattern: $0) }
        self.scale = scale
    }

    /// The scale in four bytes, the lowest first, and a byte for each value.
    package var bytes: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: scale.bitPattern >> (8 * $0)) } + values.map { UInt8(bitPattern: $0) }
    }

    /// The cosine of the angle between them, at most 1; nil if they have not as many dimensions.
    package func similarity(to other: EmbeddingVector) -> Float? {
        guard values.count == other.values.count else { return nil }
        var sum: Int32 = 0
        for index in values.indices { sum &+= Int32(values[index]) &* Int32(other.values[index]) }
        return Float(sum) * scale * other.scale
    }
}
