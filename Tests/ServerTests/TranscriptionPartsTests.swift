import Foundation
import Logging
import Model
import Testing
import Transcription

@testable import Server

@Suite("Transcription from the configuration")
struct TranscriptionPartsTests {
    private let speaker = TranscriptionPayer(.make(at: Timestamp(milliseconds: 1_800_000_000_000)), for: .dictation)

    private func parts(_ arguments: String...) throws -> TranscriptionParts {
        let flags = arguments.map { "--transcription-" + $0 }
        return try TranscriptionParts(
            ServerConfiguration(file: nil, arguments: flags), accounting: nil,
            logger: Logger(label: "transcription"))
    }

    @Test("no provider by default") func none() throws {
        #expect(try parts().queue == nil)
    }

    @Test(
        "errors name the setting",
        arguments: [
            (["provider=openai"], "transcription.url"), (["provider=openai", "url=localhost"], "transcription.url"),
            (["provider=openai", "url=http://h/v1", "model="], "transcription.model"),
            (["provider=openai", "url=http://h/v1", "api-key=a b"], "transcription.apiKey"),
            (["provider=webhook", "url=https://h/"], "transcription.webhookSecret"),
            (["provider=webhook", "webhook-secret=0123456789abcdef", "url=ftp://h/"], "transcription.url"),
            (["provider=webhook", "webhook-secret=0123456789abcdef", "url=https://u@h/"], "transcription.url"),
            (["language=english!"], "transcription.language"), (["language=-"], "transcription.language"),
        ])
    func errors(arguments: [String], key: String) {
        do {
            let flags = arguments.map { "--transcription-" + $0 }
            _ = try TranscriptionParts(
                ServerConfiguration(file: nil, arguments: flags), accounting: nil,
                logger: Logger(label: "transcription"))
            Issue.record("no error")
        } catch {
            #expect("\(error)".hasPrefix(key), "\(error)")
        }
    }

    @Test("a program is asked, in the language and within the time that are configured") func command() async throws {
        let queue = try #require(
            try parts(
                "provider=command", "command=sh", "command=-c", "command=echo {language}; wc -c", "language=pt-BR"
            ).queue)
        let transcript = try await queue.transcribe(SpeechAudio([1, 2, 3]), for: speaker)
        #expect(transcript.text == "pt-BR 6")
        #expect(transcript.language == "pt-BR")
        let slow = try #require(
            try parts("provider=command", "command=sleep", "command=1000", "timeout-seconds=1").queue)
        await #expect(throws: TranscriptionFailure.timedOut) {
            try await slow.transcribe(SpeechAudio([1]), for: speaker, within: .milliseconds(1_500))
        }
    }

    @Test("a program that is missing is a clear failure when it is used") func missing() async throws {
        let queue = try #require(try parts("provider=command", "command=nonexistent-ear").queue)
        await #expect(throws: TranscriptionFailure.programMissing("nonexistent-ear")) {
            try await queue.transcribe(SpeechAudio([1]), for: speaker)
        }
    }

    @Test("services are asked where they are configured, webhooks not at private addresses") func services()
        async throws
    {
        let hook = try #require(
            try parts("provider=webhook", "webhook-secret=0123456789abcdef", "url=http://127.0.0.1:1/").queue)
        await #expect(throws: TranscriptionFailure.addressNotAllowed("127.0.0.1")) {
            try await hook.transcribe(SpeechAudio([1]), for: speaker)
        }
        #expect(try parts("provider=openai", "url=http://127.0.0.1:1/v1").queue != nil)
    }
}
