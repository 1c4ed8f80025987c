package import Languages
internal import Model

/// The classifier of an engine, which is made when it is first needed.
package actor IntentSource {
    private static let timeout = Duration.seconds(30)

    package nonisolated let engine: any EmbeddingEngine
    private var made: IntentClassifier?

    package init(_ engine: any EmbeddingEngine) { self.engine = engine }

    func classifier() async throws -> IntentClassifier {
        if let made { return made }
        var vectors: [MessageIntent: [EmbeddingVector]] = [:]
        do throws(EmbeddingFailure) {
            for intent in MessageIntent.allCases {
                let examples = intent.examples
                for start in stride(from: 0, to: examples.count, by: EmbeddingRequest.maxTexts) {
                    let part = examples[start..<min(start + EmbeddingRequest.maxTexts, examples.count)]
                    let request = EmbeddingRequest(Array(part), .passage)
                    let embedded = try await engine.embed(request, deadline: .now + Self.timeout)
                    vectors[intent, default: []] += embedded.compactMap(\.self)
                }
            }
        } catch {
            throw Problem(.providerFailed, "What understands texts did not respond: try again.")
        }
        guard let classifier = IntentClassifier(vectors) else {
            throw Problem(.providerFailed, "What understands texts cannot be used.")
        }
        made = classifier
        return classifier
    }
}
