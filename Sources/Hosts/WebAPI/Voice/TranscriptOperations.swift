import HTTPTypes
import Model
import Storage
import Voice

/// What was said in voice messages.
package enum TranscriptOperations {
    private static let path = "/v1/voice-messages/{message}/transcript"
    private static let parameter = Operation.Parameter.path("message", .identifier, "The voice message's id.")
    private static let answer = Schema.object([
        .required("transcript", .named("Transcript")), .optional("positions", Schemas.positions),
    ])

    package static func all(_ service: VoiceService) -> [Operation] { [get(service), ask(service)] }

    package static func documents(_ service: VoiceService) -> [DocumentOperation] { [file(service)] }

    private static func get(_ service: VoiceService) -> Operation {
        Operation(
            name: "voice.transcript", method: .get, path: path, summary: "What is said in a voice message.",
            parameters: [parameter], answers: [.ok(answer)], problems: [.notFound]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("message", of: VoiceMessageID.self)
            let transcript = try await service.store.read {
                try service.commands.transcript(of: id, by: principal, in: $0)
            }
            return try .json(Answer(transcript: transcript))
        }
    }

    private static func ask(_ service: VoiceService) -> Operation {
        Operation(
            name: "voice.transcribe", method: .post, path: path,
            summary:
                "Have a voice message written down, or try that again after it failed. `voice.transcribed` in both users' streams tells what became of it.",
            parameters: [parameter], body: .object([]),
            answers: [.ok(answer, "As it is now: pending, or complete if it was written down before.")],
            problems: [.notFound, .providerNotConfigured], limit: .voiceMessages
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("message", of: VoiceMessageID.self)
            let committed = try await service.askForTranscript(of: id, by: principal)
            return try .json(
                Answer(transcript: committed.value),
                positions: committed.positions.filter { $0.key == .user(principal.user) })
        }
    }

    private static func file(_ service: VoiceService) -> DocumentOperation {
        DocumentOperation(
            name: "voice.transcriptFile", method: .get, path: path + "/{format}",
            summary: "What is said in a voice message as plain text, SRT or WebVTT.", tag: "voice",
            parameters: [
                parameter, .path("format", .choice(TranscriptFormat.allCases.map(\.rawValue)), "The kind of file."),
            ],
            outcomes: [
                .init(
                    status: 200, meaning: "The file.", contentType: TranscriptFormat.text.contentType,
                    otherContentTypes: [TranscriptFormat.srt, .vtt].map(\.contentType))
            ], problems: [.notFound, .conflict]
        ) { request in
            let principal = try request.requirePrincipal()
            let id: VoiceMessageID = try request.identifier("message")
            guard let format = request.parameters["format"].flatMap(TranscriptFormat.init) else {
                throw Problem.invalid("format", "The format must be text, srt or vtt.")
            }
            let transcript = try await service.store.read {
                try service.commands.transcript(of: id, by: principal, in: $0)
            }
            guard transcript.status == .complete else {
                throw Problem(.conflict, transcript.failure?.detail ?? "It is not written down yet.")
            }
            return .init(
                status: 200, body: .bytes(Array(service.text(of: transcript, as: format).utf8)),
                contentType: format.contentType)
        }
    }

    private struct Answer: Encodable {
        let transcript: FileTranscript
    }
}
