import Calls
import HTTPTypes
package import MediaFiles
import Model
import Storage

/// Recordings of calls, with where their files are.
package struct RecordingService: Sendable {
    let calls: CallService
    let files: MediaFiles
    let links: MediaLinks
    let mixing: any RecordingMixing

    package init(calls: CallService, files: MediaFiles, links: MediaLinks, mixing: any RecordingMixing) {
        self.calls = calls
        self.files = files
        self.links = links
        self.mixing = mixing
    }

    /// Whether a user may have the files of a recording now.
    package var checker: MediaOperations.Checker {
        let commands = calls.commands
        return { resource, user, store in
            guard let id = RecordingID(resource) else { return false }
            return try store.isActive(user)
                && (try? commands.recording(id, by: Principal(user: user), in: store)) != nil
        }
    }
}

/// What can be done with recordings of calls.
package enum RecordingOperations {
    package static func all(_ service: RecordingService) -> [Operation] {
        [start(service), stop(service), list(service), get(service), remove(service), mix(service)]
    }

    private static let callParameter = Operation.Parameter.path("call", .identifier, "The call's id.")
    private static let parameter = Operation.Parameter.path("recording", .identifier, "The recording's id.")
    private static let called = Schema.object([
        .required("call", .named("Call")), .optional("positions", Schemas.positions),
        .optional("duplicate", .boolean, "It was so before."),
    ])

    private static func start(_ service: RecordingService) -> Operation {
        Operation(
            name: "calls.record", method: .post, path: "/v1/calls/{call}/recording",
            summary:
                "Record what is said in the call, whose mode is gateway: every participant is shown that, and may end it.",
            access: .endpoint, parameters: [callParameter], body: .object([]),
            answers: [.ok(called, "It is being recorded.")],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere, .quotaExceeded, .unavailable],
            limit: .calls
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            try await service.files.checkRoom()
            return CallOperations.encode(
                try await service.calls.run { store, commands in
                    try commands.record(call, as: .make(at: store.now), by: principal, at: store.now, in: store)
                })
        }
    }

    private static func stop(_ service: RecordingService) -> Operation {
        Operation(
            name: "calls.stopRecording", method: .delete, path: "/v1/calls/{call}/recording",
            summary: "End the recording of the call, if there is one. Every participant may.",
            access: .endpoint, parameters: [callParameter], answers: [.ok(called, "It is not recorded any more.")],
            problems: [.notFound, .conflict, .answeredElsewhere], limit: .signals
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            return CallOperations.encode(
                try await service.calls.run { store, commands in
                    try commands.stopRecording(call, by: principal, at: store.now, in: store)
                })
        }
    }

    private static func list(_ service: RecordingService) -> Operation {
        Operation(
            name: "calls.recordings", method: .get, path: "/v1/calls/{call}/recordings",
            summary:
                "The recordings of a call during which the user was joined, in the order in which they began. A recording belongs whole to everybody who was joined at any moment of it.",
            parameters: [callParameter],
            answers: [.ok(.object([.required("recordings", .list(.named("Recording")))]))], problems: [.notFound]
        ) { request in
            let principal = try request.requirePrincipal()
            let call = try request.identifier("call", of: CallID.self)
            let commands = service.calls.commands
            let text = try await service.calls.store.read { store in
                let recordings = try commands.recordings(of: call, by: principal, in: store)
                var writer = JSONWriter()
                writer.object { writer in
                    writer.name("recordings")
                    writer.array(recordings) { service.write($1, for: principal, at: store.now, to: &$0) }
                }
                return writer.text
            }
            return OperationAnswer(status: 200, body: Array(text.utf8))
        }
    }

    private static func get(_ service: RecordingService) -> Operation {
        Operation(
            name: "recordings.get", method: .get, path: "/v1/recordings/{recording}",
            summary: "A recording: who was heard when, and where their files are.",
            parameters: [parameter], answers: [.ok(.object([.required("recording", .named("Recording"))]))],
            problems: [.notFound]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let commands = service.calls.commands
            let text = try await service.calls.store.read { store in
                let recording = try commands.recording(id, by: principal, in: store)
                var writer = JSONWriter()
                writer.object { writer in
                    writer.name("recording")
                    service.write(recording, for: principal, at: store.now, to: &writer)
                }
                return writer.text
            }
            return OperationAnswer(status: 200, body: Array(text.utf8))
        }
    }

    private static func remove(_ service: RecordingService) -> Operation {
        Operation(
            name: "recordings.remove", method: .delete, path: "/v1/recordings/{recording}",
            summary:
                "Remove a recording that the user began, and its files. `recording.removed` in the streams of all to whom it belongs tells them.",
            parameters: [parameter], problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let commands = service.calls.commands
            let removed = try await service.calls.store.write { store in
                try commands.removeRecording(id, by: principal, in: store)
            }.value
            service.mixing.forget(id)
            // What cannot be removed now belongs to nothing, and goes with the next start.
            for file in removed.files { try? await service.files.remove(file) }
            return .noContent
        }
    }
}

extension RecordingService {
    func write(_ recording: Recording, for principal: Principal, at now: Timestamp, to writer: inout JSONWriter) {
        recording.write(to: &writer) { file in
            let link = links.link(to: file, for: principal, at: now)
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("url", link.url)
                writer.member("expiresAt", link.expiresAt)
            }
            return writer.text
        }
    }
}
