package import Gateway

/// A source of sound that is being recorded.
package struct RecordedTrack: Hashable, Sendable {
    package let recording: String
    package let call: String
    package let track: TrackName
    /// Milliseconds from the beginning of the recording to that of its file.
    package let offset: UInt64

    package init(recording: String, call: String, track: TrackName, offset: UInt64) {
        self.recording = recording
        self.call = call
        self.track = track
        self.offset = offset
    }
}

/// Where a recording is kept. Errors say in words what is wrong, for whoever wanted the recording.
package protocol RecordingFiles: Sendable {
    /// Makes the file of a track, of which nothing is lost that was appended, even if this process ends at once.
    func make(_ track: RecordedTrack) async throws -> any RecordingFile
}

/// One task at a time uses it.
package protocol RecordingFile: Sendable {
    func append(_ bytes: [UInt8]) async throws
    /// Nothing more comes. The file is so many milliseconds long; nil when not all of it could be written.
    func finish(duration: UInt64?) async throws
}

/// How a recording ended.
package struct RecordingEnd: Hashable, Sendable {
    package let recording: String
    package let call: String
    /// Why nothing more can be recorded; nil when it was ended from outside.
    package let failure: String?
    /// Milliseconds.
    package let duration: UInt64

    package init(recording: String, call: String, failure: String?, duration: UInt64) {
        self.recording = recording
        self.call = call
        self.failure = failure
        self.duration = duration
    }
}
