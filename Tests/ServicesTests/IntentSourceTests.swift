import Languages
import Messaging
import Model
import Testing

@testable import Services

@Suite("Examples of intents") struct IntentSourceTests {
    private static let examples = MessageIntent.allCases.flatMap(\.examples)

    @Test("are learnt once for all who wait") func once() async throws {
        let engine = ScriptedEmbeddingEngine()
        let source = IntentSource(engine)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await source.classifier() } }
            try await group.waitForAll()
        }
        _ = try await source.classifier()
        #expect(engine.texts == Self.examples)
    }

    @Test("are learnt anew after a failure") func failure() async throws {
        let engine = ScriptedEmbeddingEngine()
        let source = IntentSource(engine)
        engine.isAway = true
        await #expect(throws: Problem.self) { _ = try await source.classifier() }
        engine.isAway = false
        _ = try await source.classifier()
        #expect(engine.texts == Self.examples)
    }
}
