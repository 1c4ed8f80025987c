package import Model

/// A recording of a call: the manifest of its tracks, each in its own file, with the speaker and the time.
package struct Recording: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable, CaseIterable {
        case ongoing
        /// A participant stopped it, or the call ended.
        case complete
        /// It could not continue; what was recorded is playable.
        case failed
        /// The server stopped during it; what was recorded is playable.
        case interrupted
    }

    /// Why a recording ended that nobody stopped.
    package enum EndReason: String, Hashable, Sendable, CaseIterable {
        /// It reached its maximum length.
        case maxDuration = "longest"
        /// It could not continue, for example because the disk is full.
        case failed
        /// The server stopped during it.
        case interrupted
        /// The quota of the user who started it is exhausted.
        case quotaExceeded = "quota_exceeded"
    }

    /// One track of one participant, from its first audio to its end.
    package struct Track: Hashable, Sendable {
        /// Counted from 0 in the order of their first audio. Those of deleted users are missing.
        package var number: Int
        package var user: UserID
        package var endpoint: EndpointID
        package var source: LegTrack.Source
        /// From the start of the recording to the start of the file, in milliseconds.
        package var offset: Int64
        package var file: FileID
        /// In milliseconds and in bytes; absent while the file is being written.
        package var duration: Int64?
        package var byteCount: Int64?

        package init(
            number: Int, user: UserID, endpoint: EndpointID, source: LegTrack.Source, offset: Int64, file: FileID,
            duration: Int64? = nil, byteCount: Int64? = nil
        ) {
            self.number = number
            self.user = user
            self.endpoint = endpoint
            self.source = source
            self.offset = offset
            self.file = file
            self.duration = duration
            self.byteCount = byteCount
        }
    }

    package let id: RecordingID
    package let call: CallID
    package let by: UserID
    package let startedAt: Timestamp
    package var status: Status
    package var endedAt: Timestamp?
    /// Why it failed, as a text.
    package var failure: String?
    package var tracks: [Track]
    /// Why it ended, if neither a participant nor the call's end stopped it.
    package var reason: EndReason?
    /// Nil until somebody requests it.
    package var mix: RecordingMix?

    package init(
        id: RecordingID, call: CallID, by: UserID, startedAt: Timestamp, status: Status = .ongoing,
        endedAt: Timestamp? = nil, failure: String? = nil, tracks: [Track] = [],
        reason: EndReason? = nil, mix: RecordingMix? = nil
    ) {
        self.id = id
        self.call = call
        self.by = by
        self.startedAt = startedAt
        self.status = status
        self.endedAt = endedAt
        self.failure = failure
        self.tracks = tracks
        self.reason = reason
        self.mix = mix
    }
}

/// The storage of recordings, inside one transaction.
package protocol RecordingStore: TranscriptStore, MediaUsageStore, AnyObject {
    func insert(_ recording: Recording) throws
    /// The recording with its tracks.
    func recording(_ id: RecordingID) throws -> Recording?
    /// The recordings of a call, in the order of their start.
    func recordings(of call: CallID) throws -> [Recording]
    /// Recordings with status `ongoing`.
    func ongoingRecordings() throws -> [Recording]
    /// Ended recordings that began before `time`, oldest first.
    func recordings(before time: Timestamp, limit: Int) throws -> [Recording]
    /// Writes how a recording ended.
    func close(_ recording: Recording) throws
    func insert(_ track: Recording.Track, of recording: RecordingID) throws
    /// Writes the length of a track whose file is complete.
    func close(_ track: Recording.Track, of recording: RecordingID) throws
    /// Marks the mix as pending; its file will count against the user's quota.
    func requestMix(of recording: RecordingID, for user: UserID) throws
    /// The user whose quota the mix counts against.
    func mixOwner(of recording: RecordingID) throws -> UserID?
    /// Saves the mix and, if it is complete, the row of its file.
    func save(_ mix: RecordingMix, of recording: RecordingID) throws
    /// Recordings whose mixes are pending.
    func unmixedRecordings() throws -> [RecordingID]
    /// Tracks whose transcripts are pending, in the order of their recordings.
    func untranscribedTracks() throws -> [UntranscribedTrack]
    /// Adds users to the audience: they were joined during the recording. Existing members stay.
    func admit(_ users: [UserID], to recording: RecordingID) throws
    /// Whether the user was joined at any time during the recording.
    func isAdmitted(_ user: UserID, to recording: RecordingID) throws -> Bool
    /// All members of the audience, in no particular order.
    func audience(of recording: RecordingID) throws -> [UserID]
    /// Removes the recording with its tracks, audience, mix and transcripts. The caller removes the files.
    func remove(_ recording: RecordingID) throws
}
