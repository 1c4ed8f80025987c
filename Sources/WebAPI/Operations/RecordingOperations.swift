import Calls
import HTTPTypes
import MediaFiles
import Model
package import Services
import Storage

/// Operations of recordings of calls.
package enum RecordingOperations {
    package static func all(_ service: RecordingService) -> [Operation] {
        [start(service), stop(service), list(service), get(service), remove(service), mix(service)]
    }

    private static let callParameter = Operation.Parameter.path("call", .identifier, "The call's id.")
    private static let parameter = Operation.Parameter.path("recording", .identifier, "The recording's id.")
    private static let callResponse = Schema.named("CallResult")

    private static func start(_ service: RecordingService) -> Operation {
        Operation(
            name: "calls.record", method: .post, path: "/v1/calls/{call}/recording",
            summary:
                "Record the audio of a call in gateway mode. Every participant is shown that and may end it.",
            access: .endpoint, parameters: [callParameter], body: .object([]),
            responses: [.ok(callResponse, "The call is being recorded.")],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere, .quotaExceeded, .unavailable],
            limit: .calls
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            try await service.files.checkFreeSpace()
            return CallOperations.encode(
                try await service.calls.run { store, commands in
                    try commands.record(call, as: .make(at: store.now), by: principal, at: store.now, in: store)
                })
        }
    }

    private static func stop(_ service: RecordingService) -> Operation {
        Operation(
            name: "calls.stopRecording", method: .delete, path: "/v1/calls/{call}/recording",
            summary: "End the recording of the call, if there is one. Every participant may do so.",
            access: .endpoint, parameters: [callParameter],
            responses: [.ok(callResponse, "The call is not being recorded.")],
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
                "The recordings of a call during which the user was joined, ordered by start. Every user who "
                + "was joined at any time during a recording gets the whole recording.",
            parameters: [callParameter],
            responses: [.ok(.named("RecordingList"))], problems: [.notFound]
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
            return OperationResponse(status: 200, body: Array(text.utf8))
        }
    }

    private static func get(_ service: RecordingService) -> Operation {
        Operation(
            name: "recordings.get", method: .get, path: "/v1/recordings/{recording}",
            summary: "A recording: its speakers and times, and the URLs of the files.",
            parameters: [parameter], responses: [.ok(.object([.required("recording", .named("Recording"))]))],
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
            return OperationResponse(status: 200, body: Array(text.utf8))
        }
    }

    private static func remove(_ service: RecordingService) -> Operation {
        Operation(
            name: "recordings.remove", method: .delete, path: "/v1/recordings/{recording}",
            summary:
                "Remove a recording that the user started, and its files. `recording.removed` in the streams of all "
                + "users that it belongs to reports it.",
            parameters: [parameter], problems: [.notFound, .forbidden, .conflict]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let commands = service.calls.commands
            let removed = try await service.calls.store.write { store in
                try commands.removeRecording(id, by: principal, in: store)
            }.value
            service.mixes.forget(id)
            // A file that cannot be removed now is an orphan, which the next start removes.
            for file in removed.files { try? await service.files.remove(file) }
            return .noContent
        }
    }
}
