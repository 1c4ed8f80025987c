package import Model
package import Voice

/// Writes down what is said in voice messages.
package protocol VoiceTranscribing: Sendable {
    /// Whether a provider is there.
    var isConfigured: Bool { get }
    /// Begins with a message whose transcript is pending; it is told when that is done.
    func transcribe(_ message: VoiceMessage)
    /// A whole transcript as a file.
    func text(of transcript: FileTranscript, as format: TranscriptFormat) -> String
}

/// Files of transcripts.
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
