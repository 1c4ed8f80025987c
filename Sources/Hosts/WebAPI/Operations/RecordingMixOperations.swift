import Calls
import HTTPTypes
package import Model
import Storage

/// Puts the tracks of recordings into one file.
package protocol RecordingMixing: Sendable {
    /// Begins with a recording whose mix is pending; everybody is told when that is done.
    func mix(_ recording: RecordingID)
    /// The recording is gone: whoever works on it may stop.
    func forget(_ recording: RecordingID)
}

extension RecordingOperations {
    static func mix(_ service: RecordingService) -> Operation {
        Operation(
            name: "recordings.mix", method: .post, path: "/v1/recordings/{recording}/mix",
            summary:
                "Have all tracks of a recording put into one file, or try that again after it failed. `recording.mixed` in the streams of all to whom it belongs tells what became of it; the recording then says where the file is.",
            parameters: [Operation.Parameter.path("recording", .identifier, "The recording's id.")],
            body: .object([]),
            answers: [
                .ok(
                    .object([
                        .required("recording", .named("Recording")), .optional("positions", Schemas.positions),
                    ]), "With its mix as it is now: pending, or complete if it was made before.")
            ], problems: [.notFound, .conflict, .quotaExceeded], limit: .calls
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("recording", of: RecordingID.self)
            let (commands, mixing) = (service.calls.commands, service.mixing)
            let asked = try await service.calls.store.write { store in
                let asked = try commands.askForMix(of: id, by: principal, in: store)
                var writer = JSONWriter()
                writer.object { writer in
                    writer.name("recording")
                    service.write(asked.recording, for: principal, at: store.now, to: &writer)
                }
                return (text: writer.text, isNew: asked.isNew)
            } committed: { asked in
                if asked.isNew { mixing.mix(id) }
            }
            return OperationAnswer(
                status: 200, body: Array(asked.value.text.utf8),
                positions: asked.positions.filter { $0.key == .user(principal.user) })
        }
    }
}
