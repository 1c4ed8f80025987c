package import Model

// Transcripts of recordings. Everybody who may access a recording may access its transcript.
extension CallCommands {
    package func transcript(
        of id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> RecordingTranscript {
        let recording = try endedRecording(id, by: principal, in: store)
        guard let transcript = try transcript(of: recording, in: store) else { throw Problem.notFound("transcript") }
        return transcript
    }

    /// The transcript with the speakers' display names in the call.
    package func namedTranscript(
        of id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> (transcript: RecordingTranscript, names: [UserID: String]) {
        let transcript = try transcript(of: id, by: principal, in: store)
        let call = try store.recording(id).flatMap { try store.call($0.call) }
        let names = (call?.participants ?? []).map { ($0.user, $0.displayName) }
        return (transcript, Dictionary(names) { first, _ in first })
    }

    /// Requests transcripts of all tracks with audio that have none and are not pending. `work` is the tracks to
    /// transcribe.
    package func requestTranscript(
        of id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> (transcript: RecordingTranscript, work: [UntranscribedTrack]) {
        let recording = try endedRecording(id, by: principal, in: store)
        return try requestTranscript(of: recording, in: store)
    }

    /// The same without a principal, for servers that transcribe all recordings. Empty if the recording was removed.
    package func requestTranscript(of id: RecordingID, in store: some CallStore) throws -> [UntranscribedTrack] {
        guard let recording = try store.recording(id), recording.status != .ongoing else { return [] }
        return try requestTranscript(of: recording, in: store).work
    }

    /// Saves the result of a track's transcription, and notifies the audience once the whole recording is done. Does
    /// nothing if the recording was removed meanwhile.
    package func transcribed(
        _ track: UntranscribedTrack, _ transcript: FileTranscript, in store: some CallStore
    ) throws {
        guard let recording = try store.recording(track.recording),
            recording.tracks.contains(where: { $0.file == track.file })
        else { return }
        try store.save(transcript, of: track.file)
        guard let whole = try self.transcript(of: recording, in: store), whole.status != .pending else { return }
        try notify(.recordingTranscribed, recording, status: whole.status.rawValue, in: store)
        try recordTranscribed(recording, status: whole.status, in: store)
    }

    private func requestTranscript(
        of recording: Recording, in store: some CallStore
    ) throws -> (transcript: RecordingTranscript, work: [UntranscribedTrack]) {
        var known = try transcripts(of: recording, in: store)
        var work: [UntranscribedTrack] = []
        for track in recording.tracks where track.hasAudio {
            if let status = known[track.file]?.status, status != .failed { continue }
            try store.save(.pending, of: track.file)
            known[track.file] = .pending
            work.append(UntranscribedTrack(recording: recording.id, file: track.file))
        }
        guard let transcript = RecordingTranscript(of: recording, known) else {
            throw Problem.notFound("transcript")
        }
        if !work.isEmpty {
            try notify(.recordingTranscribed, recording, status: transcript.status.rawValue, in: store)
        }
        return (transcript, work)
    }

    /// A recording that has ended.
    private func endedRecording(
        _ id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> Recording {
        let recording = try recording(id, by: principal, in: store)
        guard recording.status != .ongoing else {
            throw Problem(.conflict, "The call is still being recorded: it can be transcribed afterwards.")
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
