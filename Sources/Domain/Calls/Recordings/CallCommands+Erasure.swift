package import Model

/// What the erasure of a deleted user needs of the storage of recordings.
package protocol RecordingErasureStore: CallStore {
    /// Some tracks of the user, in any recording.
    func recordedTracks(of user: UserID, limit: Int) throws -> [(recording: RecordingID, track: Recording.Track)]
    /// Removes the track with its transcript and the row of its file.
    func remove(_ track: Recording.Track, of recording: RecordingID) throws
    /// Removes the row of the mix's file; the mix itself stays.
    func removeMixFile(of recording: RecordingID) throws
}

/// What was removed.
package struct ErasedTracks: Sendable {
    package var count = 0
    /// The caller removes them.
    package var files: [FileID] = []
    /// The recordings whose mixes, finished or not, are of no use any more.
    package var recordings: Set<RecordingID> = []
}

// Recordings with a user whose account was deleted.
extension CallCommands {
    /// Why a mix with the voice of a deleted user is gone.
    private static let mixFailure =
        "It held the voice of somebody whose account was deleted. Request it again for the others."

    /// Removes up to `limit` tracks of the user, with their transcripts, and the mixes that hold them. A recording
    /// without another track is removed as a whole. The audiences are notified.
    package func eraseTracks(
        of user: UserID, limit: Int, in store: some RecordingErasureStore
    ) throws -> ErasedTracks {
        var erased = ErasedTracks()
        for (id, track) in try store.recordedTracks(of: user, limit: limit) {
            erased.count += 1
            erased.files.append(track.file)
            erased.recordings.insert(id)
            try store.remove(track, of: id)
        }
        for id in erased.recordings {
            guard var recording = try store.recording(id) else { continue }
            if recording.tracks.isEmpty, recording.status != .ongoing {
                erased.files += recording.files
                try removeAndNotify(recording, in: store)
                continue
            }
            guard let mix = recording.mix, mix != .failed(Self.mixFailure) else { continue }
            if let audio = mix.audio {
                erased.files.append(audio.file)
                try store.removeMixFile(of: id)
            }
            recording.mix = .failed(Self.mixFailure)
            try store.save(.failed(Self.mixFailure), of: id)
            try notify(.recordingMixed, recording, status: recording.mix?.status, in: store)
        }
        return erased
    }
}
