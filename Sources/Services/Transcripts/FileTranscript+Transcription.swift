import Model
import Transcription

extension FileTranscript {
    init(_ result: Transcript) {
        self = .complete(
            language: result.language, text: result.text,
            segments: result.segments.map { .init(start: $0.start, end: $0.end, text: $0.text) })
    }

    static func failed(_ error: TranscriptionFailure) -> Self {
        .failed(.init(type: error.kind, detail: error.description, mayRetry: error.mayRetryLater))
    }
}

extension Subtitles {
    static func file(_ transcript: Transcript, as format: TranscriptFormat) -> String {
        switch format {
        case .text: plain(transcript)
        case .srt: srt(transcript)
        case .vtt: webVTT(transcript)
        }
    }
}
