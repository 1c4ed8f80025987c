package import Model
package import Voice

/// The sound of a message of kind `voice`. In JSON: `VoiceRecord`.
package struct VoiceRecord: Hashable, Sendable {
    /// Nil of an imported message, whose audio stayed where it was.
    package let file: FileID?
    package let audio: VoiceAudio
    /// Without segments, which are read with the whole transcript; nil if none was asked for.
    package var transcript: FileTranscript?

    package init(file: FileID?, audio: VoiceAudio, transcript: FileTranscript? = nil) {
        self.file = file
        self.audio = audio
        self.transcript = transcript?.withoutSegments
    }

    /// The words that were recognized: they are found as those of a text are.
    package var words: String? { transcript?.status == .complete ? transcript?.text : nil }

    /// What users see who left the conversation before its last change.
    var asItWasSent: VoiceRecord { VoiceRecord(file: file, audio: audio) }
}

extension VoiceRecord {
    /// - Parameter textBytes: the most of the transcript; a longer one is cut. Returns whether it was.
    func write(to writer: inout JSONWriter, textBytes: Int) -> Bool {
        let text = transcript?.text.map { $0.prefix(bytes: textBytes) }
        writer.name("voice")
        writer.object { writer in
            writer.member("file", file)
            audio.writeMembers(to: &writer)
            guard let transcript else { return }
            writer.name("transcript")
            writer.object { writer in
                writer.member("status", transcript.status.rawValue)
                writer.member("language", transcript.language)
                writer.member("text", text)
                guard let failure = transcript.failure else { return }
                writer.name("failure")
                writer.object { writer in
                    writer.member("type", failure.type)
                    writer.member("detail", failure.detail)
                    writer.member("mayRetry", failure.mayRetry)
                }
            }
        }
        return text?.utf8.count != transcript?.text?.utf8.count
    }
}

extension FileTranscript {
    /// As messages have it. Longer than a text may be, it is cut.
    var withoutSegments: FileTranscript {
        switch status {
        case .complete:
            .complete(language: language, text: (text ?? "").prefix(bytes: MessageText.maxBytes), segments: nil)
        case .failed, .pending: self
        }
    }
}
