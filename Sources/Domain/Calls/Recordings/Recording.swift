package import Model

/// What was said in a call, kept as a file for each track, with who spoke and when: the manifest.
package struct Recording: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable, CaseIterable {
        case ongoing
        /// Somebody ended it, or the call did.
        case complete
        /// It could not go on; what is there can be heard.
        case failed
        /// The server stopped in the middle; what is there can be heard.
        case interrupted
    }

    /// Why a recording ended that nobody ended.
    package enum EndReason: String, Hashable, Sendable, CaseIterable {
        /// It was as long as one may be.
        case longest
        /// It could not go on: its disk is full, say.
        case failed
        /// The server stopped in the middle.
        case interrupted
        /// Who began it has as many bytes as they may have.
        case quotaExceeded = "quota_exceeded"
    }

    /// One track of one participant, from when it was first heard to its end.
    package struct Track: Hashable, Sendable {
        /// Counted from 0 in the order in which they were first heard.
        package var number: Int
        package var user: UserID
        package var endpoint: EndpointID
        package var source: LegTrack.Source
        /// From the beginning of the recording to that of the file, in milliseconds.
        package var offset: Int64
        package var file: FileID
        /// In milliseconds, and in bytes; absent while it is written.
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
    /// Why it failed, in words.
    package var failure: String?
    package var tracks: [Track]
    /// Why it ended, where nobody ended it, nor the call.
    package var reason: EndReason?
    /// Nil until somebody asked for it.
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

/// What recordings need of a store, inside one transaction.
package protocol RecordingStore: TranscriptStore, MediaUsageStore, AnyObject {
    func insert(_ recording: Recording) throws
    /// With its tracks.
    func recording(_ id: RecordingID) throws -> Recording?
    /// Of a call, in the order in which they began.
    func recordings(of call: CallID) throws -> [Recording]
    /// Those that are said to go on.
    func ongoingRecordings() throws -> [Recording]
    /// Those that began before then and have ended, the oldest first.
    func recordings(before time: Timestamp, limit: Int) throws -> [Recording]
    /// Writes how a recording ended.
    func close(_ recording: Recording) throws
    func insert(_ track: Recording.Track, of recording: RecordingID) throws
    /// The track's file is whole.
    func close(_ track: Recording.Track, of recording: RecordingID) throws
    /// A mix becomes pending, and will count for that user.
    func askForMix(of recording: RecordingID, for user: UserID) throws
    /// For whom a mix counts.
    func mixOwner(of recording: RecordingID) throws -> UserID?
    /// A complete mix has its file written down, too.
    func save(_ mix: RecordingMix, of recording: RecordingID) throws
    /// Those whose mixes are pending.
    func unmixedRecordings() throws -> [RecordingID]
    /// Those of which something is still to be written down, in the order in which they were recorded.
    func unwrittenTracks() throws -> [UnwrittenTrack]
    /// These users were joined while it was made: it belongs to them. Who is among them already stays.
    func admit(_ users: [UserID], to recording: RecordingID) throws
    /// Whether the user was joined at any moment of it.
    func isAdmitted(_ user: UserID, to recording: RecordingID) throws -> Bool
    /// Everybody who was, in no particular order.
    func audience(of recording: RecordingID) throws -> [UserID]
    /// Removes it with its tracks, its audience and what was said in them; their files are for the caller.
    func remove(_ recording: RecordingID) throws
}
