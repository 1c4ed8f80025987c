import HTTPTypes
import Model
package import Services
import Storage
import Voice

/// Operations of voice messages. Audio is only transferred over HTTP.
package enum VoiceOperations {
    private static let types = ["audio/ogg", "audio/webm"]
    private static let messageParameter = Operation.Parameter.path("message", .identifier, "The voice message's id.")
    static let responseSchema = Schema.named("VoiceMessageResult")

    package static func all(_ service: VoiceService) -> [Operation] { [list(service), get(service), remove(service)] }

    /// - Parameters:
    ///   - recorder: records messages through the media gateway.
    ///   - issuer: of the ICE servers for recording; nil without a relay.
    package static func documents(
        _ service: VoiceService, _ recorder: VoiceRecorder, _ issuer: ICEServerIssuer?
    ) -> [DocumentOperation] {
        [create(service, recorder, issuer)]
    }

    private static func create(
        _ service: VoiceService, _ recorder: VoiceRecorder, _ issuer: ICEServerIssuer?
    ) -> DocumentOperation {
        let rules = service.commands.rules
        return DocumentOperation(
            name: "voice.create", method: .post, path: "/v1/voice-messages",
            summary:
                "Send a voice message: a file with Opus, of at most \(rules.secondsLimit) seconds and "
                + "\(rules.byteLimit) bytes. Or start recording one with an offer that sends audio, as WHIP does "
                + "(RFC 9725).",
            tag: "voice",
            parameters: [
                .query("to", .identifier, isRequired: true, "The recipient."),
                .query(
                    "clientID", .identifier,
                    "A UUID from the client, required with a file; a request repeated with it is executed once."),
            ],
            bodyTypes: types + [WHIPOperations.sdp], bodySchema: .bytes, bodyLimit: rules.byteLimit,
            bodyLimits: [WHIPOperations.sdp: RouteTable.maximumBody],
            outcomes: [
                .init(
                    status: 201, description: "The message was sent, or an offer was answered and recording has begun.",
                    contentType: "application/json", schema: responseSchema,
                    alternative: (WHIPOperations.sdp, .bytes),
                    headers: [
                        ("Location", "The recording's URL, if an offer was answered."),
                        ("ETag", "Identifies its ICE session."),
                        ("Accept-Patch", "The media type that PATCH accepts."),
                    ]),
                .init(
                    status: 200, description: "It was sent before.", contentType: "application/json",
                    schema: responseSchema),
            ],
            problems: [.notFound, .conflict, .clientIDReused, .quotaExceeded], limit: .voiceMessages
        ) { request in
            if request.mediaType == WHIPOperations.sdp {
                return try await VoiceRecordingOperations.open(recorder, issuer, request)
            }
            let principal = try request.requirePrincipal()
            let envelope = VoiceEnvelope(
                to: try request.identifier("to"), clientID: try request.identifier("clientID"))
            let sent = try await service.send(envelope, by: principal, receiving: request.receive)
            let response = try await response(for: sent, service, principal)
            return .init(
                status: response.status, body: .bytes(response.bodyWithPositions), contentType: "application/json")
        }
    }

    /// The response to the sender of a message.
    static func response(
        for sent: SentVoice, _ service: VoiceService, _ principal: Principal
    ) async throws -> OperationResponse {
        let document = try await service.store.read {
            try service.documents([sent.message], for: principal, in: $0)
        }
        return try .json(
            Sent(message: document[0], duplicate: sent.isDuplicate ? true : nil),
            status: sent.isDuplicate ? 200 : 201, positions: sent.positions)
    }

    private static func list(_ service: VoiceService) -> Operation {
        Operation(
            name: "voice.list", method: .get, path: "/v1/voice-messages",
            summary: "The voice messages between the user and another, the newest first.",
            parameters: [
                .query("with", .identifier, isRequired: true, "The other user."),
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [
                .ok(
                    .object([
                        .required("messages", .list(.named("VoiceMessage"))), .optional("nextCursor", .text()),
                    ]))
            ]
        ) { request in
            let principal = try request.requirePrincipal()
            let other = try request.identifier("with", of: UserID.self)
            let limit = try request.integer("limit", in: 1...100, default: 50)
            let cursor = try request.parameters["cursor"].map { _ in
                try request.identifier("cursor", of: VoiceMessageID.self)
            }
            let page = try await service.store.read { store in
                let page = try service.commands.list(
                    with: other, before: cursor, limit: limit, by: principal, in: store)
                return Page(
                    messages: try service.documents(page.messages, for: principal, in: store),
                    nextCursor: page.next)
            }
            return try .json(page)
        }
    }

    private static func get(_ service: VoiceService) -> Operation {
        Operation(
            name: "voice.get", method: .get, path: "/v1/voice-messages/{message}", summary: "One voice message.",
            parameters: [messageParameter], responses: [.ok(.object([.required("message", .named("VoiceMessage"))]))],
            problems: [.notFound]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("message", of: VoiceMessageID.self)
            let document = try await service.store.read { store in
                let message = try service.commands.get(id, by: principal, in: store)
                return try service.documents([message], for: principal, in: store)
            }
            return try .json(Sent(message: document[0]))
        }
    }

    private static func remove(_ service: VoiceService) -> Operation {
        Operation(
            name: "voice.remove", method: .delete, path: "/v1/voice-messages/{message}",
            summary: "Delete a voice message, for both users. Only its sender may.",
            parameters: [messageParameter], problems: [.notFound]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("message", of: VoiceMessageID.self)
            let positions = try await service.remove(id, by: principal)
            return OperationResponse(status: 204, body: [], positions: positions)
        }
    }

    private struct Page: Encodable {
        let messages: [VoiceDocument]
        let nextCursor: VoiceMessageID?
    }

    private struct Sent: Encodable {
        let message: VoiceDocument
        var duplicate: Bool?
    }
}
