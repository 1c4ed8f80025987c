package import Gateway

/// An audio track that is being recorded.
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

/// The storage of a recording. Errors describe what is wrong, for the user who started the recording.
package protocol RecordingFiles: Sendable {
    /// Makes the file of a track. What was appended to it must survive the end of this process.
    func make(_ track: RecordedTrack) async throws -> any RecordingFile
}

/// One task at a time uses it.
package protocol RecordingFile: Sendable {
    func append(_ bytes: [UInt8]) async throws
    /// Ends the file. `duration` is in milliseconds; nil when not all of it could be written.
    func finish(duration: UInt64?) async throws
}

/// How a recording ended.
package struct RecordingEnd: Hashable, Sendable {
    package let recording: String
    package let call: String
    /// Why nothing more can be recorded; nil when it was ended regularly.
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
