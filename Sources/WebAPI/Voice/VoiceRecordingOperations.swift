import Calls
import HTTPTypes
import Model
import SDP
package import Services
import Voice

/// Operations of voice messages that are recorded through the media gateway instead of being uploaded.
package struct VoiceRecordingOperations: Sendable {
    private static let path = "/v1/voice-recordings"
    private static let parameter = Operation.Parameter.path("recording", .identifier, "The recording's id.")

    private let recorder: VoiceRecorder
    private let voice: VoiceService

    package init(_ recorder: VoiceRecorder, _ voice: VoiceService) {
        self.recorder = recorder
        self.voice = voice
    }

    package var all: [Operation] { [record, finish, discard] }
    package var documents: [DocumentOperation] { [patch] }

    private var record: Operation {
        let rules = voice.commands.rules
        return Operation(
            name: "voice.record", method: .post, path: Self.path,
            summary:
                "Record a voice message with an offer that sends audio, for at most \(rules.secondsLimit) seconds. An "
                + "endpoint has one recording at a time, which a new one replaces; a recording that is not finished "
                + "within ten minutes of its end is discarded.",
            access: .endpoint,
            body: .object([
                .required(
                    "offer", .named("SessionDescription"),
                    "With a section that sends Opus; other sections are ignored.")
            ]),
            responses: [
                .created(
                    .object([
                        .required("recording", .identifier),
                        .required("answer", .named("SessionDescription")),
                    ]), "Recording begins with the first packet.")
            ], problems: [.notFound, .conflict, .quotaExceeded], limit: .voiceMessages
        ) { [recorder] request in
            let principal = try request.requireEndpoint()
            let body = try request.decode(Offer.self)
            let answer = try await recorder.record(sdp: body.offer.sdp, by: principal)
            return try .json(Recording(recording: answer.recording, answer: .init(sdp: answer.sdp)), status: 201)
        }
    }

    private var finish: Operation {
        Operation(
            name: "voice.finishRecording", method: .post, path: Self.path + "/{recording}/finish",
            summary:
                "End a recording and make a file of it, to be sent by `messages.send`. A repeated request has the same file.",
            parameters: [Self.parameter],
            responses: [
                .created(VoiceOperations.responseSchema, "It was made."),
                .ok(VoiceOperations.responseSchema, "It was made before."),
            ], problems: [.notFound, .conflict, .quotaExceeded]
        ) { [recorder, voice] request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: VoiceRecordingID.self)
            return VoiceOperations.response(for: try await recorder.finish(id, by: principal), voice.commands.rules)
        }
    }

    private var discard: Operation {
        Operation(
            name: "voice.discardRecording", method: .delete, path: Self.path + "/{recording}",
            summary: "End a recording and discard it.", parameters: [Self.parameter],
            problems: [.notFound, .conflict]
        ) { [recorder] request in
            let principal = try request.requirePrincipal()
            try await recorder.discard(try request.identifier("recording", of: VoiceRecordingID.self), by: principal)
            return .noContent
        }
    }

    private var patch: DocumentOperation {
        DocumentOperation(
            name: "voice.patchRecording", method: .patch, path: Self.path + "/{recording}",
            summary: "Trickle candidates of a recording, or restart ICE, as WHIP does (RFC 9725).", tag: "voice",
            parameters: [Self.parameter], headers: [TricklePatch.header], bodyTypes: [TricklePatch.contentType],
            bodySchema: .bytes,
            outcomes: TricklePatch.outcomes,
            problems: [.notFound, .conflict, .preconditionFailed, .preconditionRequired], limit: .signals
        ) { [recorder] request in
            let body = try await request.text()
            let id = try request.identifier("recording", of: VoiceRecordingID.self)
            let principal = try request.requirePrincipal()
            let current = try recorder.iceSession(of: id, by: principal)
            guard let credentials = try TricklePatch.restart(body, request.headers[.ifMatch], current: current) else {
                return .init(status: 204)
            }
            let answer = try await recorder.restart(
                id, ufrag: credentials.ufrag, password: credentials.password, by: principal)
            return try TricklePatch.response(sdp: answer.sdp, tag: answer.tag)
        }
    }

    /// Handles `POST /v1/voice-files` with an offer, as WHIP does.
    static func open(
        _ recorder: VoiceRecorder, _ issuer: ICEServerIssuer?, _ request: DocumentOperation.Request
    ) async throws -> DocumentOperation.Output {
        let principal = try request.requirePrincipal()
        let answer: VoiceRecordingAnswer
        do {
            answer = try await recorder.record(sdp: try await request.text(), by: principal)
        } catch var problem as Problem where problem.field == "offer.sdp" {
            problem.field = "body"
            throw problem
        }
        var headers: HTTPFields = [
            .location: "\(path)/\(answer.recording)", .eTag: "\"\(answer.tag)\"",
            .name("Accept-Patch"): TricklePatch.contentType,
        ]
        for link in WHIPOperations.links(issuer, principal, .gateway, host: request.host) {
            headers.append(HTTPField(name: .name("Link"), value: link))
        }
        return .init(
            status: 201, body: .bytes(Array(answer.sdp.utf8)), contentType: WHIPOperations.sdp, headers: headers)
    }

    private struct Offer: Decodable {
        let offer: SessionDescriptionInit
    }

    private struct Recording: Encodable {
        let recording: VoiceRecordingID
        let answer: Answer

        struct Answer: Encodable { let sdp: String }
    }
}
