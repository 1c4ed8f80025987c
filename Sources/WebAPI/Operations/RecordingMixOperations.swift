import Calls
import HTTPTypes
package import Model
import Storage

/// Mixes the tracks of recordings into one file.
package protocol RecordingMixing: Sendable {
    /// Begins to mix a recording whose mix is pending. All users of the recording are notified when it is done.
    func mix(_ recording: RecordingID)
    /// The recording was removed: cancels its mix.
    func forget(_ recording: RecordingID)
}

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
                    .object([
                        .required("recording", .named("Recording")), .optional("positions", Schemas.positions),
                    ]), "With the current state of its mix: pending, or complete if it was made before.")
            ], problems: [.notFound, .conflict, .quotaExceeded], limit: .calls
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let (commands, mixing) = (service.calls.commands, service.mixing)
            let committed = try await service.calls.store.write { store in
                let requested = try commands.requestMix(of: id, by: principal, in: store)
                var writer = JSONWriter()
                writer.object { writer in
                    writer.name("recording")
                    service.write(requested.recording, for: principal, at: store.now, to: &writer)
                }
                return (text: writer.text, isNew: requested.isNew)
            } committed: { requested in
                if requested.isNew { mixing.mix(id) }
            }
            return OperationResponse(
                status: 200, body: Array(committed.value.text.utf8),
                positions: committed.positions.filter { $0.key == .user(principal.user) })
        }
    }
}
