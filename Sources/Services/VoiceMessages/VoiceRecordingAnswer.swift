package import Model

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
