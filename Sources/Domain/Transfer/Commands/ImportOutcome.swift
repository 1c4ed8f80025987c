package import Model
package import Voice

/// What became of a line.
package enum ImportOutcome: Hashable, Sendable {
    case new
    /// Like `new`, with something that was left out.
    case newWithout(String)
    /// It was imported before.
    case same
    /// With the reason. Nothing of it was written.
    case refused(String)
    /// It was not tried, since something before it in its conversation was refused: with it the order would have a hole.
    case stopped
}

/// A line to import, or the end of a conversation's lines.
package enum ImportStep: Hashable, Sendable {
    /// With the sound of a voice message, if it is there.
    case record(TransferRecord, source: String, sound: ImportedAudio? = nil)
    /// All lines of a conversation were imported: its members are in it from now on.
    case finish(conversation: String, source: String)
}

/// A sound that was stored for a message that is imported.
package struct ImportedAudio: Hashable, Sendable {
    package let file: FileID
    package let audio: VoiceAudio

    package init(file: FileID, audio: VoiceAudio) {
        self.file = file
        self.audio = audio
    }
}

extension ImportStep {
    /// The key of the conversation that it belongs to.
    var conversation: String? {
        switch self {
        case .finish(let id, let source): return TransferFormat.key("conversation", id, of: source)
        case .record(let record, let source, _):
            return record.conversation.map { TransferFormat.key("conversation", $0, of: source) }
        }
    }

    /// Whether its conversation would lack something without it.
    var mayStop: Bool { if case .record(.own, _, _) = self { false } else { true } }
}

/// Why a record cannot be imported.
struct ImportRefusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
