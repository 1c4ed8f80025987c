package import Model

/// Records voice messages through legs of the media gateway. Each method throws a `Problem` if it fails.
package protocol VoiceRecordingService: Sendable {
    /// Whether this server has a gateway.
    var isPossible: Bool { get }
    /// Answers an offer that sends audio, and begins to record it. The recipient is not notified yet.
    func record(to: UserID, sdp: String, by principal: Principal) async throws -> VoiceRecordingAnswer
    /// The tag of one of the user's recordings.
    func tag(of recording: VoiceRecordingID, by principal: Principal) throws -> String
    /// Restarts ICE with the client's new credentials.
    func restart(_ recording: VoiceRecordingID, ufrag: String, password: String, by principal: Principal) async throws
        -> VoiceRecordingAnswer
    /// Ends a recording and sends it as a message. If it was sent before, returns that message.
    func send(_ recording: VoiceRecordingID, by principal: Principal) async throws -> SentVoice
    func discard(_ recording: VoiceRecordingID, by principal: Principal) async throws
}

/// The answer of a leg to the offer of a recording, or to an ICE restart.
package struct VoiceRecordingAnswer: Hashable, Sendable {
    package let recording: VoiceRecordingID
    package let sdp: String
    /// Identifies the ICE session; it changes with each ICE restart.
    package let tag: String

    package init(recording: VoiceRecordingID, sdp: String, tag: String) {
        self.recording = recording
        self.sdp = sdp
        self.tag = tag
    }
}
