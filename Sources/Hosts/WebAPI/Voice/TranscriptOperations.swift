import Calls
import Model
import Storage
import Voice

extension FileTranscript: WrittenDown {}
extension RecordingTranscript: WrittenDown {}

/// What was said in voice messages, and in recordings of calls.
package enum TranscriptOperations {
    package static func all(_ voice: VoiceService, _ recordings: RecordingTranscriptService) -> [Operation] {
        requests(voice).all + requests(recordings).all
    }

    package static func documents(
        _ voice: VoiceService, _ recordings: RecordingTranscriptService
    ) -> [DocumentOperation] {
        [requests(voice).saving, requests(recordings).saving]
    }

    private static func requests(_ service: VoiceService) -> TranscriptRequests<Entities.VoiceMessage, FileTranscript> {
        let read = { @Sendable (id: VoiceMessageID, principal: Principal) in
            try await service.store.read { try service.commands.transcript(of: id, by: principal, in: $0) }
        }
        return TranscriptRequests(
            words: .init(
                tag: "voice", path: "/v1/voice-messages/{message}/transcript", parameter: "message",
                parameterMeaning: "The voice message's id.", schema: "Transcript",
                reading: "What is said in a voice message.",
                asking:
                    "Have a voice message written down, or try that again after it failed. `voice.transcribed` in both users' streams tells what became of it.",
                saving: "What is said in a voice message as plain text, SRT or WebVTT.", problems: [.notFound]),
            read: read,
            ask: { try await service.askForTranscript(of: $0, by: $1) },
            file: { id, principal in
                let transcript = try await read(id, principal)
                return (transcript, { service.text(of: transcript, as: $0) })
            })
    }

    private static func requests(
        _ service: RecordingTranscriptService
    ) -> TranscriptRequests<Entities.Recording, RecordingTranscript> {
        TranscriptRequests(
            words: .init(
                tag: "recordings", path: "/v1/recordings/{recording}/transcript", parameter: "recording",
                parameterMeaning: "The recording's id.", schema: "RecordingTranscript",
                reading: "What was said in a recording, and by whom, as far as it is written down.",
                asking:
                    "Have a recording written down, or those of its tracks again of which that failed. `recording.transcribed` in the streams of all to whom it belongs tells what became of it.",
                saving: "What was said in a recording, and by whom, as plain text, SRT or WebVTT.",
                problems: [.notFound, .conflict]),
            read: { id, principal in
                try await service.store.read { try service.commands.transcript(of: id, by: principal, in: $0) }
            },
            ask: { try await service.ask(for: $0, by: $1) },
            file: { id, principal in
                let (transcript, names) = try await service.store.read {
                    try service.commands.namedTranscript(of: id, by: principal, in: $0)
                }
                return (transcript, { service.transcribing.text(of: transcript, names, as: $0) })
            })
    }
}
