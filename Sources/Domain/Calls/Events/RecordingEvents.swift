import Model
import Webhooks

// The events of recordings, in the transaction of the change.
extension CallCommands {
    /// Writes the event that the files of a recording are complete. `recording` is its final state.
    func recordReady(_ recording: Recording, at now: Timestamp, in store: some CallStore) throws {
        guard store.subscriptions.includes(.recordingReady) else { return }
        let ids = try store.externalIDs(of: [recording.by])
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.member("recording", recording.id)
            writer.member("call", recording.call)
            EventParty(user: recording.by, externalID: ids[recording.by]).write(to: &writer)
            writer.member("status", recording.status.rawValue)
            writer.member("reason", recording.reason?.rawValue)
            writer.member("startedAt", recording.startedAt)
            writer.member("endedAt", recording.endedAt)
            writer.member("tracks", Int64(recording.tracks.count))
        }
        try insert(.recordingReady, of: recording, at: now, data: writer.text, in: store)
    }

    /// Writes the event that the transcript of a recording is complete, or failed.
    func recordTranscribed(
        _ recording: Recording, status: FileTranscript.Status, in store: some CallStore
    ) throws {
        guard store.subscriptions.includes(.transcriptReady) else { return }
        let ids = try store.externalIDs(of: [recording.by])
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.member("recording", recording.id)
            writer.member("call", recording.call)
            EventParty(user: recording.by, externalID: ids[recording.by]).write(to: &writer)
            writer.member("status", status.rawValue)
        }
        try insert(.transcriptReady, of: recording, at: store.now, data: writer.text, in: store)
    }

    private func insert(
        _ type: EventType, of recording: Recording, at now: Timestamp, data: String, in store: some CallStore
    ) throws {
        try store.insert(
            EventRecord(
                id: .make(at: now), type: type, at: now, user: recording.by, call: recording.call,
                recording: recording.id, data: data))
    }
}
