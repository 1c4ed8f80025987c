import Calls
import Model
package import Services
import Storage
import Voice

extension FileTranscript: TranscriptDocument {}
extension RecordingTranscript: TranscriptDocument {}

/// Transcripts of voice messages, and of recordings of calls.
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
            texts: .init(
                tag: "voice", path: "/v1/voice-messages/{message}/transcript", parameter: "message",
                parameterDescription: "The voice message's id.", schema: "Transcript",
                reading: "The transcript of a voice message.",
                asking:
                    "Transcribe a voice message, or retry after a failure. `voice.transcribed` in both users' streams "
                    + "reports the result.",
                saving: "The transcript of a voice message as plain text, SRT or WebVTT.", problems: [.notFound]),
            read: read,
            ask: { try await service.requestTranscript(of: $0, by: $1) },
            file: { id, principal in
                let transcript = try await read(id, principal)
                return (transcript, { service.text(of: transcript, as: $0) })
            })
    }

    private static func requests(
        _ service: RecordingTranscriptService
    ) -> TranscriptRequests<Entities.Recording, RecordingTranscript> {
        TranscriptRequests(
            texts: .init(
                tag: "recordings", path: "/v1/recordings/{recording}/transcript", parameter: "recording",
                parameterDescription: "The recording's id.", schema: "RecordingTranscript",
                reading: "The transcript of a recording, with its speakers, as far as it is transcribed.",
                asking:
                    "Transcribe a recording, or retry the tracks that failed. `recording.transcribed` in the streams "
                    + "of all users that it belongs to reports the result.",
                saving: "The transcript of a recording, with its speakers, as plain text, SRT or WebVTT.",
                problems: [.notFound, .conflict]),
            read: { id, principal in
                try await service.store.read { try service.commands.transcript(of: id, by: principal, in: $0) }
            },
            ask: { try await service.ask(for: $0, by: $1) },
            file: { id, principal in
                let (transcript, names) = try await service.store.read {
                    try service.commands.namedTranscript(of: id, by: principal, in: $0)
                }
                return (transcript, { service.transcripts.text(of: transcript, names, as: $0) })
            })
    }
}
