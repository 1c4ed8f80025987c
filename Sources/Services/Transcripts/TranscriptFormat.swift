/// File formats of transcripts.
package enum TranscriptFormat: String, Hashable, Sendable, CaseIterable {
    case text, srt, vtt

    package var contentType: String {
        switch self {
        case .text: "text/plain; charset=utf-8"
        case .srt: "application/x-subrip; charset=utf-8"
        case .vtt: "text/vtt; charset=utf-8"
        }
    }
}
