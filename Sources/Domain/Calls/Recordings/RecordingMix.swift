package import Model

/// All tracks of a recording in one file, made when somebody asks for it: for those who want to listen, and not to know
/// who said what.
package enum RecordingMix: Hashable, Sendable {
    /// What the file is, once it is there.
    package struct Sound: Hashable, Sendable {
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
    case complete(Sound)
    /// Why, in words; whoever asks again has it tried again.
    case failed(String)

    package var sound: Sound? { if case .complete(let sound) = self { sound } else { nil } }

    package var status: String {
        switch self {
        case .pending: "pending"
        case .complete: "complete"
        case .failed: "failed"
        }
    }
}

extension Recording {
    /// Every file that belongs to it.
    package var files: [FileID] { tracks.map(\.file) + [mix?.sound?.file].compactMap { $0 } }
}

extension RecordingMix {
    /// `link` says where its file can be had, as JSON, for who asks now.
    package func write(to writer: inout JSONWriter, link: (FileID) -> String) {
        writer.object { writer in
            writer.member("status", status)
            if case .failed(let words) = self { writer.member("failure", words) }
            guard let sound else { return }
            writer.member("durationMs", sound.duration)
            writer.member("byteCount", sound.byteCount)
            writer.name("audio")
            writer.write(json: link(sound.file))
        }
    }
}
