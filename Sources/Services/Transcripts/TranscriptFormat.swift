package import Model
package import Voice

/// Transcribes voice messages.
package protocol VoiceTranscribing: Sendable {
    /// Whether a provider is configured.
    var isConfigured: Bool { get }
    /// Begins to transcribe a message whose transcript is pending. Its users are notified when it is done.
    func transcribe(_ message: VoiceMessage)
    /// A complete transcript as the text of a file.
    func text(of transcript: FileTranscript, as format: TranscriptFormat) -> String
}

/// File formats of transcripts.
package enum TranscriptFormat: String, Hashable, Sendable, CaseIterable {
    case text, srt, vtt

    var contentType: String {
        switch self {
        case .text: "text/plain; charset=utf-8"
        case .srt: "application/x-subrip; charset=utf-8"
        case .vtt: "text/vtt; charset=utf-8"
        }
    }
}
