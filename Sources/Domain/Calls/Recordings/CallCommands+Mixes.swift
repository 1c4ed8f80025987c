package import Model

// Recordings in one file: who reaches a recording may have it made, and reaches it. And recordings that go by themselves.
extension CallCommands {
    /// All tracks are to be put into one file, unless they are, or are being. Returns whether there is something to do.
    package func askForMix(
        of id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> (recording: Recording, isNew: Bool) {
        var recording = try recording(id, by: principal, in: store)
        guard recording.status != .ongoing else {
            throw Problem(.conflict, "The call is still being recorded: it can be put into one file afterwards.")
        }
        guard recording.tracks.contains(where: \.isHeard) else {
            throw Problem(.conflict, "Nothing was heard in this recording: there is nothing to put into a file.")
        }
        switch recording.mix {
        case .pending, .complete: return (recording, false)
        case .failed, nil: break
        }
        try rules.quota.check(principal.user, in: store)
        recording.mix = .pending
        try store.askForMix(of: id, for: principal.user)
        try tell("recording.mixed", recording, status: recording.mix?.status, in: store)
        return (recording, true)
    }

    /// Keeps what became of it, and tells everybody. False when nobody waits for it any more, since the recording was
    /// removed, or when whoever asked for it has no room for it: then its file belongs to nothing.
    package func mixed(_ id: RecordingID, _ mix: RecordingMix, in store: some CallStore) throws -> Bool {
        guard var recording = try store.recording(id), recording.mix == .pending else { return false }
        if let sound = mix.sound, let user = try store.mixOwner(of: id) {
            do {
                try rules.quota.check(user, adding: sound.byteCount, in: store)
            } catch let problem as Problem where problem.kind == .quotaExceeded {
                _ = try mixed(id, .failed("Whoever asked for this has no room left for files."), in: store)
                return false
            }
        }
        recording.mix = mix
        try store.save(mix, of: id)
        try tell("recording.mixed", recording, status: recording.mix?.status, in: store)
        return true
    }

    /// Removes recordings that began before then, so many at most, and tells everybody. Returns what they were, since
    /// their files are left to remove.
    package func removeRecordings(
        before time: Timestamp, limit: Int, in store: some CallStore
    ) throws -> [Recording] {
        let old = try store.recordings(before: time, limit: limit)
        for recording in old { try removeAndTell(recording, in: store) }
        return old
    }

    func removeAndTell(_ recording: Recording, in store: some CallStore) throws {
        try tell("recording.removed", recording, in: store)
        try store.remove(recording.id)
    }
}
