import Calls
import HTTPTypes
import Model
import SDP
import Voice

/// Voice messages that are said to the server, through a leg with its media gateway, instead of being uploaded.
package struct VoiceTakeOperations: Sendable {
    private static let path = "/v1/voice-recordings"
    private static let parameter = Operation.Parameter.path("recording", .identifier, "The recording's id.")

    private let taking: any VoiceTaking
    private let voice: VoiceService

    package init(_ taking: any VoiceTaking, _ voice: VoiceService) {
        self.taking = taking
        self.voice = voice
    }

    package var all: [Operation] { [record, send, discard] }
    package var documents: [DocumentOperation] { [patch] }

    private var record: Operation {
        let rules = voice.commands.rules
        return Operation(
            name: "voice.record", method: .post, path: Self.path,
            summary:
                "Record a voice message with an offer that sends sound, for at most \(rules.secondsLimit) seconds. An endpoint has one recording at a time, which a new one replaces; one that is not sent within ten minutes of its end is thrown away.",
            access: .endpoint,
            body: .object([
                .required("to", .identifier, "Who is to hear it; nothing is told to them before it is sent."),
                .required(
                    "offer", .object([.required("sdp", .text(minimum: 1, maximum: 262_144))]),
                    "With a section that sends Opus; others are ignored."),
            ]),
            answers: [
                .created(
                    .object([
                        .required("recording", .identifier),
                        .required("answer", .object([.required("sdp", .text())])),
                    ]), "It is recorded from the first packet on.")
            ], problems: [.notFound, .conflict, .quotaExceeded], limit: .voiceMessages
        ) { [taking] request in
            let principal = try request.requireEndpoint()
            let body = try request.decode(Offer.self)
            let made = try await taking.record(to: body.to, sdp: body.offer.sdp, by: principal)
            return try .json(Recording(recording: made.take, answer: .init(sdp: made.sdp)), status: 201)
        }
    }

    private var send: Operation {
        Operation(
            name: "voice.sendRecording", method: .post, path: Self.path + "/{recording}/send",
            summary: "End a recording and send it, which a repeat does not do twice.", parameters: [Self.parameter],
            answers: [
                .created(VoiceOperations.answer, "It is sent."),
                .ok(VoiceOperations.answer, "It had been sent already."),
            ], problems: [.notFound, .conflict]
        ) { [taking, voice] request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: VoiceTakeID.self)
            return try await VoiceOperations.answer(try await taking.send(id, by: principal), voice, principal)
        }
    }

    private var discard: Operation {
        Operation(
            name: "voice.discardRecording", method: .delete, path: Self.path + "/{recording}",
            summary: "End a recording and throw it away.", parameters: [Self.parameter],
            problems: [.notFound, .conflict]
        ) { [taking] request in
            let principal = try request.requirePrincipal()
            try await taking.discard(try request.identifier("recording", of: VoiceTakeID.self), by: principal)
            return .noContent
        }
    }

    private var patch: DocumentOperation {
        DocumentOperation(
            name: "voice.patchRecording", method: .patch, path: Self.path + "/{recording}",
            summary: "Trickle candidates of a recording, or restart its ICE, as WHIP does (RFC 9725).", tag: "voice",
            parameters: [Self.parameter], headers: [TricklePatch.header], bodyTypes: [TricklePatch.contentType],
            outcomes: TricklePatch.outcomes,
            problems: [.notFound, .conflict, .preconditionFailed, .preconditionRequired], limit: .signals
        ) { [taking] request in
            let body = try await request.text()
            let id = try request.identifier("recording", of: VoiceTakeID.self)
            let principal = try request.requirePrincipal()
            let current = try taking.tag(of: id, by: principal)
            guard let credentials = try TricklePatch.restart(body, request.headers[.ifMatch], current: current) else {
                return .init(status: 204)
            }
            let answer = try await taking.restart(
                id, ufrag: credentials.ufrag, password: credentials.password, by: principal)
            return try TricklePatch.answer(sdp: answer.sdp, tag: answer.tag)
        }
    }

    /// What `POST /v1/voice-messages` does with an offer, as WHIP does it.
    static func open(
        _ taking: any VoiceTaking, _ issuer: ICEServerIssuer?, _ request: DocumentOperation.Request
    ) async throws -> DocumentOperation.Answer {
        let principal = try request.requirePrincipal()
        let to: UserID = try request.identifier("to")
        let made: VoiceTakeAnswer
        do {
            made = try await taking.record(to: to, sdp: try await request.text(), by: principal)
        } catch var problem as Problem where problem.field == "offer.sdp" {
            problem.field = "body"
            throw problem
        }
        var headers: HTTPFields = [
            .location: "\(path)/\(made.take)", .eTag: "\"\(made.tag)\"",
            .name("Accept-Patch"): TricklePatch.contentType,
        ]
        for link in DoorOperations.links(issuer, principal, .gateway, host: request.host) {
            headers.append(HTTPField(name: .name("Link"), value: link))
        }
        return .init(
            status: 201, body: .bytes(Array(made.sdp.utf8)), contentType: DoorOperations.sdp, headers: headers)
    }

    private struct Offer: Decodable {
        let to: UserID
        let offer: Calls.SessionDescription
    }

    private struct Recording: Encodable {
        let recording: VoiceTakeID
        let answer: Answer

        struct Answer: Encodable { let sdp: String }
    }
}
