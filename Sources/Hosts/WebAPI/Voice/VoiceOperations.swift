import HTTPTypes
package import Model
import Storage
package import Voice

/// Everything that can be done with voice messages. The sound itself comes only over HTTP.
package enum VoiceOperations {
    private static let types = ["audio/ogg", "audio/webm"]
    private static let messageParameter = Operation.Parameter.path("message", .identifier, "The voice message's id.")
    static let answer = Schema.object([
        .required("message", .named("VoiceMessage")), .optional("positions", Schemas.positions),
        .optional("duplicate", .boolean, "The request had been carried out before."),
    ])

    package static func all(_ service: VoiceService) -> [Operation] { [list(service), get(service), remove(service)] }

    /// - Parameters:
    ///   - taking: records what is offered to be said.
    ///   - issuer: of the ICE servers for that; nil where there is no relay.
    package static func documents(
        _ service: VoiceService, _ taking: any VoiceTaking, _ issuer: ICEServerIssuer?
    ) -> [DocumentOperation] {
        [create(service, taking, issuer)]
    }

    /// Who may have the file of a message: asked each time it is served.
    package static func checker(_ commands: VoiceCommands) -> MediaOperations.Checker {
        { resource, user, store in
            guard let id = VoiceMessageID(resource) else { return false }
            return try commands.mayHear(id, user, in: store)
        }
    }

    private static func create(
        _ service: VoiceService, _ taking: any VoiceTaking, _ issuer: ICEServerIssuer?
    ) -> DocumentOperation {
        let rules = service.commands.rules
        return DocumentOperation(
            name: "voice.create", method: .post, path: "/v1/voice-messages",
            summary:
                "Send a voice message: a file with Opus, of at most \(rules.secondsLimit) seconds and \(rules.byteLimit) bytes. Or begin to record one with an offer that sends sound, as WHIP does it (RFC 9725).",
            tag: "voice",
            parameters: [
                .query("to", .identifier, isRequired: true, "Who is to hear it."),
                .query(
                    "clientID", .identifier,
                    "A UUID of the client's, required with a file; repeating the request with it does nothing twice."),
            ],
            bodyTypes: types + [DoorOperations.sdp], bodySchema: .anything, bodyLimit: rules.byteLimit,
            bodyLimits: [DoorOperations.sdp: RouteTable.maximumBody],
            outcomes: [
                .init(
                    status: 201, meaning: "It is sent, or an offer is answered and what is said is recorded.",
                    contentType: "application/json", schema: answer,
                    alternative: (DoorOperations.sdp, .text()),
                    headers: [
                        ("Location", "The recording's address, where an offer is answered."),
                        ("ETag", "Names its ICE session."),
                        ("Accept-Patch", "What the recording's address takes by PATCH."),
                    ]),
                .init(status: 200, meaning: "It was there already.", contentType: "application/json", schema: answer),
            ],
            problems: [.notFound, .conflict, .clientIDReused, .quotaExceeded], limit: .voiceMessages
        ) { request in
            if request.mediaType == DoorOperations.sdp {
                return try await VoiceTakeOperations.open(taking, issuer, request)
            }
            let principal = try request.requirePrincipal()
            let envelope = VoiceEnvelope(
                to: try request.identifier("to"), clientID: try request.identifier("clientID"))
            let sent = try await service.send(envelope, by: principal, receiving: request.receive)
            let answer = try await answer(sent, service, principal)
            return .init(
                status: answer.status, body: .bytes(answer.bodyWithPositions), contentType: "application/json")
        }
    }

    /// What whoever has sent a message is told.
    static func answer(
        _ sent: SentVoice, _ service: VoiceService, _ principal: Principal
    ) async throws -> OperationAnswer {
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
                .query("limit", .integer(1...100), "How many at most; 50 unless told."),
                .query("cursor", .text(), "The `nextCursor` of the page before."),
            ],
            answers: [
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
            parameters: [messageParameter], answers: [.ok(.object([.required("message", .named("VoiceMessage"))]))],
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
            summary: "Take a voice message back, for both. Only its sender may.",
            parameters: [messageParameter], problems: [.notFound]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("message", of: VoiceMessageID.self)
            let positions = try await service.remove(id, by: principal)
            return OperationAnswer(status: 204, body: [], positions: positions)
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
