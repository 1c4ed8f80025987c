import Languages
import Model
import TestSupport
import Testing

@testable import Storage

/// The rows of phrases: a translation is there when three people wrote the original, and while it is used.
@Suite("Phrases in the database") struct PhraseStorageTests {
    private func remember(_ hash: String, by authors: [String], into language: String = "uk", _ store: Store)
        async throws
    {
        let language = try #require(LanguageTag(wellFormed: language))
        _ = try await store.write { store in
            for author in authors { try store.remember(phrase: hash, into: language, as: "text", by: author) }
        }
    }

    private func text(_ hash: String, _ store: Store) async throws -> String? {
        try await store.read { try $0.phrase(hash) }
    }

    @Test("three people are enough, however often two of them wrote it")
    func authors() async throws {
        let scratch = try await ScratchStore()
        let store = scratch.store
        try await remember("one", by: ["a", "b", "a", "b"], store)
        #expect(try await text("one", store) == nil)
        try await remember("one", by: ["c"], store)
        #expect(try await text("one", store) == "text")
    }

    @Test("with an author goes their digest, and the translation if two are left")
    func erasure() async throws {
        let scratch = try await ScratchStore()
        let store = scratch.store
        try await remember("one", by: ["a", "b", "c"], store)
        try await remember("four", by: ["a", "b", "c", "d"], store)
        try await remember("own", by: ["a"], store)
        #expect(try await store.write { try $0.removePhrases(by: "a", limit: 100) }.value == 3)
        #expect(try await text("one", store) == nil)
        #expect(try await text("four", store) == "text")
        let left = try await scratch.database.read { sql in
            try sql.query("SELECT hash, COUNT(*) FROM phrase_authors GROUP BY hash ORDER BY hash").map {
                "\(try $0.text(0)) \(try $0.integer(1))"
            }
        }
        #expect(left == ["four 3", "one 2"])
        let phrases = try await scratch.database.read { try $0.query("SELECT hash FROM phrases").count }
        #expect(phrases == 2)
    }

    @Test("what is not used for 90 days is gone, and what is too many goes from the oldest")
    func age() async throws {
        let scratch = try await ScratchStore()
        let (store, time) = (scratch.store, scratch.clock)
        try await remember("one", by: ["a", "b", "c"], store)
        time.advance(seconds: 80 * 86_400)
        try await remember("two", by: ["a", "b", "c"], store)
        _ = try await store.write { try $0.usePhrase("one") }
        time.advance(seconds: 89 * 86_400)
        #expect(try await text("one", store) == "text")
        time.advance(seconds: 86_400)
        #expect(try await text("one", store) == nil)
        // The authors of long ago do not count.
        try await remember("one", by: ["d"], store)
        #expect(try await text("one", store) == nil)
        #expect(try await store.write { try $0.removeOldPhrases(limit: 10) }.value == 1)
        time.advance(seconds: 1)
        try await remember("three", by: ["a", "b", "c"], store)
        #expect(try await store.write { try $0.removeOldPhrases(beyond: 1, limit: 10) }.value == 1)
        #expect(try await text("three", store) == "text")
    }

    @Test("an operator erases those into one language, or all")
    func languages() async throws {
        let scratch = try await ScratchStore()
        let store = scratch.store
        try await remember("one", by: ["a", "b", "c"], into: "uk", store)
        try await remember("two", by: ["a", "b", "c"], into: "de", store)
        let german = LanguageTag(wellFormed: "de")
        #expect(try await store.write { try $0.removePhrases(into: german, limit: 10) }.value == 1)
        #expect(try await text("one", store) == "text")
        #expect(try await store.write { try $0.removePhrases(into: nil, limit: 10) }.value == 1)
        #expect(try await text("one", store) == nil)
    }
}
