package import Languages
internal import Model

/// The classifier of an engine, which is made when it is first needed.
package actor IntentSource {
    private static let timeout = Duration.seconds(30)

    package nonisolated let engine: any EmbeddingEngine
    /// All who ask meanwhile wait for the same.
    private var making: Task<IntentClassifier, any Error>?

    package init(_ engine: any EmbeddingEngine) { self.engine = engine }

    /// - Throws: `provider_failed`. Who asks after that tries again.
    func classifier() async throws -> IntentClassifier {
        let task = making ?? Task { [engine] in try await Self.make(by: engine) }
        making = task
        do {
            return try await task.value
        } catch {
            if making == task { making = nil }
            throw error
        }
    }

    private static func make(by engine: any EmbeddingEngine) async throws -> IntentClassifier {
        var vectors: [MessageIntent: [EmbeddingVector]] = [:]
        do throws(EmbeddingFailure) {
            for intent in MessageIntent.allCases {
                let examples = intent.examples
                for start in stride(from: 0, to: examples.count, by: EmbeddingRequest.maxTexts) {
                    let part = examples[start..<min(start + EmbeddingRequest.maxTexts, examples.count)]
                    let request = EmbeddingRequest(Array(part), .passage)
                    let embedded = try await engine.embed(request, deadline: .now + timeout)
                    vectors[intent, default: []] += embedded.compactMap(\.self)
                }
            }
        } catch {
            throw Problem(.providerFailed, "What understands texts did not respond: try again.")
        }
        guard let classifier = IntentClassifier(vectors) else {
            throw Problem(.providerFailed, "What understands texts cannot be used.")
        }
        return classifier
    }
}
