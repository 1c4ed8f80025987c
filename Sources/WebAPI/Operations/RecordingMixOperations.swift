import Calls
import HTTPTypes
import Model
import Services
import Storage

extension RecordingOperations {
    static func mix(_ service: RecordingService) -> Operation {
        Operation(
            name: "recordings.mix", method: .post, path: "/v1/recordings/{recording}/mix",
            summary:
                "Mix all tracks of a recording into one file, or retry after a failure. `recording.mixed` in the "
                + "streams of all users that it belongs to reports the result; the recording then has the URL of "
                + "the file.",
            parameters: [Operation.Parameter.path("recording", .identifier, "The recording's id.")],
            body: .object([]),
            responses: [
                .ok(
                    .named("RecordingMixResult"),
                    "With the current state of its mix: pending, or complete if it was made before.")
            ], problems: [.notFound, .conflict, .quotaExceeded], limit: .calls
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let (commands, mixes) = (service.calls.commands, service.mixes)
            let committed = try await service.calls.store.write { store in
                let requested = try commands.requestMix(of: id, by: principal, in: store)
                var writer = JSONWriter()
                writer.object { writer in
                    writer.name("recording")
                    service.write(requested.recording, for: principal, at: store.now, to: &writer)
                }
                return (text: writer.text, isNew: requested.isNew)
            } committed: { requested in
                if requested.isNew { mixes.mix(id) }
            }
            return OperationResponse(
                status: 200, body: Array(committed.value.text.utf8),
                positions: committed.positions.filter { $0.key == .user(principal.user) })
        }
    }
}
