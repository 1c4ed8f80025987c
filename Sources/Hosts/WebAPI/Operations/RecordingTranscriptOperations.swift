import Calls
import HTTPTypes
import Model
import Storage

/// What was said in recordings of calls.
package enum RecordingTranscriptOperations {
    private static let path = "/v1/recordings/{recording}/transcript"
    private static let parameter = Operation.Parameter.path("recording", .identifier, "The recording's id.")
    private static let answer = Schema.object([
        .required("transcript", .named("RecordingTranscript")), .optional("positions", Schemas.positions),
    ])

    package static func all(_ service: RecordingTranscriptService) -> [Operation] { [get(service), ask(service)] }

    package static func documents(_ service: RecordingTranscriptService) -> [DocumentOperation] { [file(service)] }

    private static func get(_ service: RecordingTranscriptService) -> Operation {
        Operation(
            name: "recordings.transcript", method: .get, path: path,
            summary: "What was said in a recording, and by whom, as far as it is written down.",
            parameters: [parameter], answers: [.ok(answer)], problems: [.notFound, .conflict]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let transcript = try await service.store.read {
                try service.commands.transcript(of: id, by: principal, in: $0)
            }
            return try .json(Answer(transcript: transcript))
        }
    }

    private static func ask(_ service: RecordingTranscriptService) -> Operation {
        Operation(
            name: "recordings.transcribe", method: .post, path: path,
            summary:
                "Have a recording written down, or those of its tracks again of which that failed. `recording.transcribed` in the streams of all who were in the call tells what became of it.",
            parameters: [parameter], body: .object([]),
            answers: [.ok(answer, "As it is now: pending, or complete if it was written down before.")],
            problems: [.notFound, .conflict, .providerNotConfigured], limit: .voiceMessages
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let committed = try await service.ask(for: id, by: principal)
            return try .json(
                Answer(transcript: committed.value),
                positions: committed.positions.filter { $0.key == .user(principal.user) })
        }
    }

    private static func file(_ service: RecordingTranscriptService) -> DocumentOperation {
        DocumentOperation(
            name: "recordings.transcriptFile", method: .get, path: path + "/{format}",
            summary: "What was said in a recording, and by whom, as plain text, SRT or WebVTT.", tag: "recordings",
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
            let id: RecordingID = try request.identifier("recording")
            guard let format = request.parameters["format"].flatMap(TranscriptFormat.init) else {
                throw Problem.invalid("format", "The format must be text, srt or vtt.")
            }
            let (transcript, names) = try await service.store.read {
                try service.commands.namedTranscript(of: id, by: principal, in: $0)
            }
            guard transcript.status == .complete else {
                throw Problem(.conflict, transcript.failure?.detail ?? "It is not written down yet.")
            }
            let text = service.transcribing.text(of: transcript, names, as: format)
            return .init(status: 200, body: .bytes(Array(text.utf8)), contentType: format.contentType)
        }
    }

    private struct Answer: Encodable {
        let transcript: RecordingTranscript
    }
}
