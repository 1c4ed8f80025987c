package import Calls
package import Model
package import Storage

/// Transcribes recordings.
package protocol RecordingTranscribing: Sendable {
    /// Whether a provider is configured.
    var isConfigured: Bool { get }
    /// Begins to transcribe tracks whose transcripts are pending. All users of the recording are notified when it is
    /// done.
    func transcribe(_ tracks: [UntranscribedTrack])
    /// A complete transcript as the text of a file.
    func text(of transcript: RecordingTranscript, _ names: [UserID: String], as format: TranscriptFormat) -> String
}

/// Transcripts of recordings, and their transcriber.
package struct RecordingTranscriptService: Sendable {
    let store: Store
    let commands: CallCommands
    let transcribing: any RecordingTranscribing

    package init(store: Store, commands: CallCommands, transcribing: any RecordingTranscribing) {
        self.store = store
        self.commands = commands
        self.transcribing = transcribing
    }

    /// Begins to transcribe a recording, except for tracks that were begun before.
    func ask(for id: RecordingID, by principal: Principal) async throws -> Committed<RecordingTranscript> {
        let (commands, transcribing) = (commands, transcribing)
        return try await store.write { store in
            _ = try commands.recording(id, by: principal, in: store)
            guard transcribing.isConfigured else {
                throw Problem(.providerNotConfigured, "This server has no transcription provider.")
            }
            return try commands.requestTranscript(of: id, by: principal, in: store)
        } committed: { requested in
            transcribing.transcribe(requested.1)
        }.map(\.0)
    }
}
