import Calls
import HTTPTypes
import Languages
import Messaging
import Model
package import Services
import Storage
import Voice

extension FileTranscript: TranscriptDocument {}
extension RecordingTranscript: TranscriptDocument {}

/// Transcripts of voice messages, and of recordings of calls.
package enum TranscriptOperations {
    package static func all(
        _ messages: ConversationService, _ voice: VoiceService, _ recordings: RecordingTranscriptService
    ) -> [Operation] {
        requests(messages, voice).all + requests(recordings).all
    }

    package static func documents(
        _ messages: ConversationService, _ voice: VoiceService, _ recordings: RecordingTranscriptService
    ) -> [DocumentOperation] {
        [requests(messages, voice).saving, requests(recordings).saving]
    }

    private struct TranslationBody: Decodable {
        var language: String
        var from: Int?
        var before: Int?
    }

    package static func translate(_ translator: TranscriptTranslator) -> Operation {
        Operation(
            name: "recordings.translateTranscript", method: .post,
            path: "/v1/recordings/{recording}/transcript/translations",
            summary:
                "What was said in a recording in another language, up to \(TranscriptTranslator.segmentsAtOnce) segments at a time. "
                + "It is made for who asks, within their budget, of what its speakers and the conversation allow, and is not stored. "
                + "It takes up to half a minute; what has `failed` by then is tried again by asking again.",
            parameters: [.path("recording", .identifier, "The recording's id.")],
            body: .object([
                .required("language", .text(minimum: 2, maximum: LanguageTag.maxLength), "Into which."),
                .optional(
                    "from", .integer(0...Int64(Int32.max)),
                    "The index of the first segment in the transcript, such as `next` of what came before; absent for 0."
                ),
                .optional(
                    "before", .integer(1...Int64(Int32.max)),
                    "The index of the first segment that is not wanted, such as one that is there already; absent for all."
                ),
            ]),
            responses: [.ok(.named("TranscriptTranslations"))],
            problems: [.notFound, .conflict, .providerNotConfigured], limit: .translations
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let body = try request.decode(TranslationBody.self)
            guard let language = try LanguageTag(body.language).asTarget else {
                throw Problem.invalid("language", "This is not the tag of a language, such as en or pt-BR.")
            }
            let page = try await translator.translations(
                of: id, from: body.from ?? 0, before: body.before ?? .max, into: language, by: principal)
            var writer = JSONWriter(capacity: 4096)
            writer.object { writer in
                writer.member("language", language.string)
                writer.name("translations")
                writer.array(page.segments) { $1.write(to: &$0) }
                if let next = page.next { writer.member("next", Int64(next)) }
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    static let schemas: [(String, Schema)] = [
        (
            "TranscriptTranslations",
            .object([
                .required("language", .text(), "Into which it is translated."),
                .required("translations", .list(.named("SegmentTranslation")), "In the order of the segments."),
                .optional("next", .integer(), "The index of the next segment; absent after the last that is wanted."),
            ])
        ),
        (
            "SegmentTranslation",
            .object([
                .required("segment", .integer(), "Its index in the transcript."),
                .required("track", .integer(), "As in the segment."),
                .required("start", .integer(), "As in the segment."),
                .optional("from", .text(), "The language that was spoken; absent if nobody knows it."),
                .required(
                    "status", .choice([MessageTranslation.Status.done, .failed, .unavailable].map(\.rawValue)),
                    "`done`: it has `text`, `engine` and `kind`; `failed`: asking again tries again; `unavailable`: it is not made."
                ),
                .optional("reason", .choice(MessageTranslation.Reason.allCases.map(\.rawValue)), "Why there is none."),
                .optional("text", .text()), .optional("engine", .text(), "What made it."),
                .optional("kind", .choice(TranslationKind.allCases.map(\.rawValue)), "As of `Translation`."),
            ])
        ),
    ]

    private struct MessageName: Sendable {
        let conversation: ConversationID
        let number: Int64
    }

    private static func requests(
        _ service: ConversationService, _ voice: VoiceService
    ) -> TranscriptRequests<MessageName, FileTranscript> {
        let read = { @Sendable (name: MessageName, principal: Principal) in
            try await service.read { store, commands in
                try commands.transcript(of: name.number, in: name.conversation, by: principal.user, store: store)
            }
        }
        return TranscriptRequests(
            texts: .init(
                tag: "messages", path: "/v1/conversations/{conversation}/messages/{number}/transcript",
                parameters: [
                    ConversationOperations.conversation,
                    .path("number", .integer(1...Int64.max), "The message's number."),
                ], schema: "Transcript",
                reading: "The transcript of a voice message, with its segments.",
                asking:
                    "Transcribe a voice message, or retry after a failure. The message has the result, with another "
                    + "`textVersion`.",
                saving: "The transcript of a voice message as plain text, SRT or WebVTT.",
                problems: [.notFound, .forbidden, .conflict]),
            identify: { parameters in
                guard let number = parameters["number"].flatMap({ Int64($0) }), number > 0 else {
                    throw Problem.invalid("number", "number must be a whole number from 1.")
                }
                return MessageName(conversation: try identifier("conversation", parameters), number: number)
            },
            read: read,
            ask: { name, principal in
                try await service.store.write { store in
                    _ = try service.commands.voiceFile(
                        name.number, in: name.conversation, by: principal.user, store: store)
                    guard voice.transcribes else {
                        throw Problem(.providerNotConfigured, "This server has no transcription provider.")
                    }
                    return try service.commands.requestTranscript(
                        of: name.number, in: name.conversation, by: principal.user, store: store)
                }
            },
            file: { name, principal in
                let transcript = try await read(name, principal)
                return (transcript, { voice.text(of: transcript, as: $0) })
            })
    }

    private static func identifier<Entity>(
        _ name: String, _ parameters: [String: String]
    ) throws -> Identifier<Entity> {
        guard let id = parameters[name].flatMap({ Identifier<Entity>($0) }) else {
            throw Problem.invalid(name, "\(name) must be a UUID.")
        }
        return id
    }

    private static func requests(
        _ service: RecordingTranscriptService
    ) -> TranscriptRequests<RecordingID, RecordingTranscript> {
        TranscriptRequests(
            texts: .init(
                tag: "recordings", path: "/v1/recordings/{recording}/transcript",
                parameters: [.path("recording", .identifier, "The recording's id.")],
                schema: "RecordingTranscript",
                reading: "The transcript of a recording, with its speakers, as far as it is transcribed.",
                asking:
                    "Transcribe a recording, or retry the tracks that failed. `recording.transcribed` in the streams "
                    + "of all users that it belongs to reports the result.",
                saving: "The transcript of a recording, with its speakers, as plain text, SRT or WebVTT.",
                problems: [.notFound, .conflict]),
            identify: { try identifier("recording", $0) },
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
