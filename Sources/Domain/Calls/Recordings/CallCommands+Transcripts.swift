package import Model

// What was said in recordings: who reaches a recording reaches it, and nobody else.
extension CallCommands {
    package func transcript(
        of id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> RecordingTranscript {
        let recording = try wholeRecording(id, by: principal, in: store)
        guard let transcript = try transcript(of: recording, in: store) else { throw Problem.notFound("transcript") }
        return transcript
    }

    /// The same with the names of those who speak, as the call has them.
    package func namedTranscript(
        of id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> (transcript: RecordingTranscript, names: [UserID: String]) {
        let transcript = try transcript(of: id, by: principal, in: store)
        let call = try store.recording(id).flatMap { try store.call($0.call) }
        let names = (call?.participants ?? []).map { ($0.user, $0.displayName) }
        return (transcript, Dictionary(names) { first, _ in first })
    }

    /// Each track that can be heard is to be written down, unless it is already, or is being. Returns what there is to
    /// do.
    package func askForTranscript(
        of id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> (transcript: RecordingTranscript, work: [UnwrittenTrack]) {
        let recording = try wholeRecording(id, by: principal, in: store)
        return try askForTranscript(of: recording, in: store)
    }

    /// The same when nobody asked, but the server writes down all that is recorded. Nothing when the recording is gone.
    package func askForTranscript(of id: RecordingID, in store: some CallStore) throws -> [UnwrittenTrack] {
        guard let recording = try store.recording(id), recording.status != .ongoing else { return [] }
        return try askForTranscript(of: recording, in: store).work
    }

    /// Keeps what became of a track, and tells everybody when the recording is done with. Nothing happens when the
    /// recording was removed meanwhile.
    package func transcribed(
        _ track: UnwrittenTrack, _ transcript: FileTranscript, in store: some CallStore
    ) throws {
        guard let recording = try store.recording(track.recording),
            recording.tracks.contains(where: { $0.file == track.file })
        else { return }
        try store.save(transcript, of: track.file)
        guard let whole = try self.transcript(of: recording, in: store), whole.status != .pending else { return }
        try tell("recording.transcribed", recording, status: whole.status.rawValue, in: store)
    }

    private func askForTranscript(
        of recording: Recording, in store: some CallStore
    ) throws -> (transcript: RecordingTranscript, work: [UnwrittenTrack]) {
        var known = try transcripts(of: recording, in: store)
        var work: [UnwrittenTrack] = []
        for track in recording.tracks where track.isHeard {
            if let status = known[track.file]?.status, status != .failed { continue }
            try store.save(.pending, of: track.file)
            known[track.file] = .pending
            work.append(UnwrittenTrack(recording: recording.id, file: track.file))
        }
        guard let transcript = RecordingTranscript(of: recording, known) else {
            throw Problem.notFound("transcript")
        }
        if !work.isEmpty {
            try tell("recording.transcribed", recording, status: transcript.status.rawValue, in: store)
        }
        return (transcript, work)
    }

    /// What is written of a recording that has ended.
    private func wholeRecording(
        _ id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> Recording {
        let recording = try recording(id, by: principal, in: store)
        guard recording.status != .ongoing else {
            throw Problem(.conflict, "The call is still being recorded: what is said is written down afterwards.")
        }
        return recording
    }

    private func transcript(of recording: Recording, in store: some CallStore) throws -> RecordingTranscript? {
        RecordingTranscript(of: recording, try transcripts(of: recording, in: store))
    }

    private func transcripts(of recording: Recording, in store: some CallStore) throws -> [FileID: FileTranscript] {
        try store.transcripts(of: recording.tracks.map(\.file))
    }
}
