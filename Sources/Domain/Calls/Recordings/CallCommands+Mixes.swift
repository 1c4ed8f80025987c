package import Model

// Mixes of recordings (everybody who may access a recording may request and access its mix), and the removal of old
// recordings.
extension CallCommands {
    /// Requests a mix of all tracks into one file. `isNew` is false if there is one, or one is pending.
    package func requestMix(
        of id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> (recording: Recording, isNew: Bool) {
        var recording = try recording(id, by: principal, in: store)
        guard recording.status != .ongoing else {
            throw Problem(.conflict, "The call is still being recorded: it can be mixed afterwards.")
        }
        guard recording.tracks.contains(where: \.hasAudio) else {
            throw Problem(.conflict, "This recording has no audio to mix.")
        }
        switch recording.mix {
        case .pending, .complete: return (recording, false)
        case .failed, nil: break
        }
        try rules.quota.check(principal.user, in: store)
        recording.mix = .pending
        try store.requestMix(of: id, for: principal.user)
        try notify(.recordingMixed, recording, status: recording.mix?.status, in: store)
        return (recording, true)
    }

    /// Saves the result of a mix and notifies the audience. False if the recording was removed meanwhile, or the mix
    /// exceeds the quota of the user who requested it: then the caller removes its file.
    package func mixed(_ id: RecordingID, _ mix: RecordingMix, in store: some CallStore) throws -> Bool {
        guard var recording = try store.recording(id), recording.mix == .pending else { return false }
        if let audio = mix.audio, let user = try store.mixOwner(of: id) {
            do {
                try rules.quota.check(user, adding: audio.byteCount, in: store)
            } catch let problem as Problem where problem.kind == .quotaExceeded {
                _ = try mixed(id, .failed("The file exceeds the quota of the user who requested it."), in: store)
                return false
            }
        }
        recording.mix = mix
        try store.save(mix, of: id)
        try notify(.recordingMixed, recording, status: recording.mix?.status, in: store)
        return true
    }

    /// Removes at most `limit` recordings that began before `time` and notifies their audiences. Returns the
    /// recordings; the caller removes their files.
    package func removeRecordings(
        before time: Timestamp, limit: Int, in store: some CallStore
    ) throws -> [Recording] {
        let old = try store.recordings(before: time, limit: limit)
        for recording in old { try removeAndNotify(recording, in: store) }
        return old
    }

    func removeAndNotify(_ recording: Recording, in store: some CallStore) throws {
        try notify(.recordingRemoved, recording, in: store)
        try store.remove(recording.id)
    }
}
