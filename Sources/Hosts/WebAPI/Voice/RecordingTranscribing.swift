package import Calls
package import Model
package import Storage

/// Writes down what is said in recordings.
package protocol RecordingTranscribing: Sendable {
    /// Whether a provider is there.
    var isConfigured: Bool { get }
    /// Begins with tracks whose transcripts are pending; everybody is told when that is done.
    func transcribe(_ tracks: [UnwrittenTrack])
    /// A whole transcript as a file.
    func text(of transcript: RecordingTranscript, _ names: [UserID: String], as format: TranscriptFormat) -> String
}

/// Transcripts of recordings with who writes them.
package struct RecordingTranscriptService: Sendable {
    let store: Store
    let commands: CallCommands
    let transcribing: any RecordingTranscribing

    package init(store: Store, commands: CallCommands, transcribing: any RecordingTranscribing) {
        self.store = store
        self.commands = commands
        self.transcribing = transcribing
    }

    /// Begins to write a recording down, as far as that was not begun before.
    func ask(for id: RecordingID, by principal: Principal) async throws -> Committed<RecordingTranscript> {
        let (commands, transcribing) = (commands, transcribing)
        return try await store.write { store in
            _ = try commands.recording(id, by: principal, in: store)
            guard transcribing.isConfigured else {
                throw Problem(.providerNotConfigured, "This server has no provider of transcription.")
            }
            return try commands.askForTranscript(of: id, by: principal, in: store)
        } committed: { asked in
            transcribing.transcribe(asked.1)
        }.map(\.0)
    }
}
