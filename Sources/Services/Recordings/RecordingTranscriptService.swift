package import Calls
package import Model
package import Storage

/// Transcripts of recordings, and their transcriber.
package struct RecordingTranscriptService: Sendable {
    package let store: Store
    package let commands: CallCommands
    package let transcripts: RecordingTranscripts

    package init(store: Store, commands: CallCommands, transcripts: RecordingTranscripts) {
        self.store = store
        self.commands = commands
        self.transcripts = transcripts
    }

    /// Begins to transcribe a recording, except for tracks that were begun before.
    package func ask(for id: RecordingID, by principal: Principal) async throws -> Committed<RecordingTranscript> {
        let (commands, transcripts) = (commands, transcripts)
        return try await store.write { store in
            _ = try commands.recording(id, by: principal, in: store)
            guard transcripts.isConfigured else {
                throw Problem(.providerNotConfigured, "This server has no transcription provider.")
            }
            return try commands.requestTranscript(of: id, by: principal, in: store)
        } committed: { requested in
            transcripts.transcribe(requested.1)
        }.map(\.0)
    }
}
