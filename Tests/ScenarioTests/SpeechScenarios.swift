import Foundation
import SwitchboardClient
import Testing

@testable import switchboard_load

/// Speech in the SDK that becomes text. A scripted program transcribes all of it as the same sentence; real Apertium translates.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SpeechScenarios {
    private static let transcript = "La casa de mi hermano es muy grande"
    private static let translated = "A casa de meu irmão é muito grande"

    /// A file of Opus with a tone between pauses, which the server takes for speech.
    private static let speech = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "ContainersTests/Fixtures/pauses.ogg")

    /// - Parameter language: in which is spoken, unless somebody says otherwise.
    private func server(_ language: String) async throws -> RealServer {
        try await RealServer { _ in
            """
            transcription: {provider: command, language: \(language), command: [sh, -c, "cat > /dev/null; echo '\(Self.transcript)'"]}
            """
        }
    }

    @Test func captionsAreReadInAnotherLanguage() async throws {
        let server = try await server("es")
        let speech = try SpokenClip([Array(Data(contentsOf: Self.speech))], pause: 1)
        let apps = try await App.group(["Ann", "Ben"], on: server, mode: "gateway", speech: speech)
        let (ann, ben) = (apps[0], apps[1])
        let captions = ben.call.captions
        let portuguese = await ben.call.captionTranslations(into: "pt")
        try await ann.call.caption()
        // A machine that is busy may fail with the first of them.
        let translation = try #require(
            await first(in: portuguese) { $0.user == ann.me.id && $0.status == .done })
        #expect(translation.text == Self.translated)
        #expect((translation.from, translation.language) == ("es", "pt"))
        #expect(translation.engine == "apertium" && translation.kind == .rules && translation.source == "microphone")
        // The caption itself is there, too.
        let caption = try #require(
            await first(in: captions) { $0.user == ann.me.id && $0.startedAt == translation.startedAt })
        #expect(caption.text == Self.transcript && caption.source == translation.source)

        // An endpoint has one other language: the sequence of the one before ends.
        let again = await ben.call.captionTranslations(into: "pt")
        let catalan = await ben.call.captionTranslations(into: "ca")
        #expect(await languages(of: again).isSubset(of: ["pt"]))
        #expect(await first(in: catalan) { $0.user == ann.me.id }?.language == "ca")
        // Leaving the call ends it, and whoever is not in a call has none.
        let last = await ben.call.captionTranslations(into: "ca")
        try await ben.call.leave()
        #expect(await languages(of: last).isSubset(of: ["ca"]))
        #expect(await languages(of: ben.call.captionTranslations(into: "pt")).isEmpty)
        for app in apps { await app.close() }
    }

    /// Read to its end.
    private func languages(of translations: AsyncStream<CaptionTranslation>) async -> Set<String> {
        await translations.reduce(into: []) { $0.insert($1.language) }
    }

    @Test func whatIsDictatedBecomesText() async throws {
        let server = try await server("en")
        let (ann, _) = try await server.person("Ann")
        let description = try await ann.serverDescription()
        #expect(
            description.transcribes && description.transcriber?.name == "sh" && description.transcriber?.hosted == false
        )
        let dictation = try await ann.dictate(Data(contentsOf: Self.speech), language: "es")
        #expect((dictation.text, dictation.language) == (Self.transcript, "es"))
        await ann.close()
    }
}
