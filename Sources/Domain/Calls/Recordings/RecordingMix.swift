package import Model

/// All tracks of a recording mixed into one file for playback, made on request.
package enum RecordingMix: Hashable, Sendable {
    /// The finished file.
    package struct MixedAudio: Hashable, Sendable {
        package let file: FileID
        package let byteCount: Int64
        /// In milliseconds.
        package let duration: Int64

        package init(file: FileID, byteCount: Int64, duration: Int64) {
            self.file = file
            self.byteCount = byteCount
            self.duration = duration
        }
    }

    case pending
    case complete(MixedAudio)
    /// Why it failed, as a text; another request tries again.
    case failed(String)

    package var audio: MixedAudio? { if case .complete(let audio) = self { audio } else { nil } }

    package var status: String {
        switch self {
        case .pending: "pending"
        case .complete: "complete"
        case .failed: "failed"
        }
    }
}

extension Recording {
    /// All files of the recording.
    package var files: [FileID] { tracks.map(\.file) + [mix?.audio?.file].compactMap { $0 } }
}

extension RecordingMix {
    /// `link` returns the JSON of a link to the file, for the reader of this response.
    package func write(to writer: inout JSONWriter, link: (FileID) -> String) {
        writer.object { writer in
            writer.member("status", status)
            if case .failed(let message) = self { writer.member("failure", message) }
            guard let audio else { return }
            writer.member("durationMs", audio.duration)
            writer.member("byteCount", audio.byteCount)
            writer.name("audio")
            writer.write(json: link(audio.file))
        }
    }
}
