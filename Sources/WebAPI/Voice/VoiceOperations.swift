import HTTPTypes
import Messaging
import Model
package import Services
import Storage
import Voice

/// Operations of the sound of voice messages before it is sent. Audio is only transferred over HTTP.
package enum VoiceOperations {
    private static let types = ["audio/ogg", "audio/webm"]
    private static let path = "/v1/voice-files"
    static let responseSchema = Schema.named("VoiceFileResult")

    package static func all(_ service: VoiceService) -> [Operation] { [discard(service)] }

    /// - Parameters:
    ///   - recorder: records messages through the media gateway.
    ///   - issuer: of the ICE servers for recording; nil without a relay.
    package static func documents(
        _ service: VoiceService, _ recorder: VoiceRecorder, _ issuer: ICEServerIssuer?
    ) -> [DocumentOperation] {
        [upload(service, recorder, issuer)]
    }

    private static func upload(
        _ service: VoiceService, _ recorder: VoiceRecorder, _ issuer: ICEServerIssuer?
    ) -> DocumentOperation {
        let rules = service.commands.rules
        return DocumentOperation(
            name: "voice.upload", method: .post, path: path,
            summary:
                "Upload the sound of a voice message: a file with Opus, of at most \(rules.secondsLimit) seconds and "
                + "\(rules.byteLimit) bytes. `messages.send` sends it, within \(rules.unsentSeconds / 3600) hours. Or start "
                + "recording one with an offer that sends audio, as WHIP does (RFC 9725).",
            tag: "voice",
            parameters: [
                .query(
                    "clientID", .identifier,
                    "A UUID from the client, required with a file; a request repeated with it is executed once.")
            ],
            bodyTypes: types + [WHIPOperations.sdp], bodySchema: .bytes, bodyLimit: rules.byteLimit,
            bodyLimits: [WHIPOperations.sdp: RouteTable.maximumBody],
            outcomes: [
                .init(
                    status: 201, description: "The file is kept, or an offer was answered and recording has begun.",
                    contentType: "application/json", schema: responseSchema,
                    alternative: (WHIPOperations.sdp, .bytes),
                    headers: [
                        ("Location", "The recording's URL, if an offer was answered."),
                        ("ETag", "Identifies its ICE session."),
                        ("Accept-Patch", "The media type that PATCH accepts."),
                    ]),
                .init(
                    status: 200, description: "It was kept before.", contentType: "application/json",
                    schema: responseSchema),
            ],
            problems: [.notFound, .conflict, .clientIDReused, .quotaExceeded], limit: .voiceMessages
        ) { request in
            if request.mediaType == WHIPOperations.sdp {
                return try await VoiceRecordingOperations.open(recorder, issuer, request)
            }
            let principal = try request.requirePrincipal()
            let clientID = try request.identifier("clientID", of: ClientID.self)
            let made = try await service.keep(clientID, by: principal, receiving: request.receive)
            let response = response(for: made, rules)
            return .init(status: response.status, body: .bytes(response.body), contentType: "application/json")
        }
    }

    private static func discard(_ service: VoiceService) -> Operation {
        Operation(
            name: "voice.discard", method: .delete, path: path + "/{file}",
            summary: "Discard a voice file that is not sent. Discarding twice changes nothing.",
            parameters: [.path("file", .identifier, "The file's id.")], problems: [.conflict]
        ) { request in
            let principal = try request.requirePrincipal()
            try await service.discard(try request.identifier("file"), by: principal)
            return .noContent
        }
    }

    /// The response to the author of a file.
    static func response(for made: MadeVoiceFile, _ rules: VoiceRules) -> OperationResponse {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.name("file")
            writer.object { writer in
                writer.member("id", made.file.id)
                writer.member("createdAt", made.file.createdAt)
                writer.member("expiresAt", made.file.createdAt.adding(seconds: rules.unsentSeconds))
                made.file.audio.writeMembers(to: &writer)
            }
            if made.isDuplicate { writer.member("duplicate", true) }
        }
        return OperationResponse(status: made.isDuplicate ? 200 : 201, body: writer.bytes)
    }
}

/// Operations of voice messages that were sent.
package enum VoiceMessageOperations {
    package static func all(_ service: ConversationService, _ links: MediaLinks) -> [Operation] {
        [audio(service, links), listen(service)]
    }

    private static let message = [ConversationOperations.conversation, MessageOperations.number]

    private static func audio(_ service: ConversationService, _ links: MediaLinks) -> Operation {
        Operation(
            name: "messages.audio", method: .get, path: "/v1/conversations/{conversation}/messages/{number}/audio",
            summary:
                "A link to the audio of a voice message: Ogg with Opus, for this user. It works for a while, and as long as "
                + "the user sees the message.",
            parameters: message, responses: [.ok(.object([.required("audio", .named("MediaLink"))]))],
            problems: [.notFound, .conflict, .predecessorMissing]
        ) { request in
            let (principal, named) = (try request.requirePrincipal(), try request.message())
            let link = try await service.read(named) { store, commands, number in
                let file = try commands.voiceFile(number, in: named.conversation, by: named.user, store: store)
                return links.link(to: file, for: principal, at: store.now)
            }
            return try .json(AudioResponse(audio: link))
        }
    }

    private static func listen(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.listen", method: .put,
            path: "/v1/conversations/{conversation}/messages/{number}/listened",
            summary:
                "Note that the user has listened to a voice message, for their own devices alone. Noting it twice changes "
                + "nothing.",
            parameters: message, responses: [.ok(.named("OwnResult"))],
            problems: [.notFound, .conflict, .predecessorMissing]
        ) { request in
            let named = try request.message()
            return .own(
                try await service.write(named) { store, commands, number in
                    try commands.listen(number, in: named.conversation, by: named.user, store: store)
                })
        }
    }

    private struct AudioResponse: Encodable {
        let audio: MediaLink
    }
}
