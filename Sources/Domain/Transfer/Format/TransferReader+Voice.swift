import Messaging
import Model
import Voice

// Voice messages.
extension TransferReader {
    static func voice(_ reader: inout RecordReader) throws -> TransferVoice? {
        guard var object = try reader.object("voice") else { return nil }
        guard let durationMs = try object.optionalInteger("durationMs"), (0...TransferVoice.mostMs).contains(durationMs)
        else {
            throw Problem.invalid(
                "voice.durationMs", "voice.durationMs is a whole number from 0 to \(TransferVoice.mostMs).")
        }
        var voice = TransferVoice(durationMs: durationMs)
        voice.file = try object.optionalText("file").map { try fileName($0) }
        voice.waveform = try object.integers("waveform", in: 0...100, most: VoiceRules.waveformCount)
        voice.level = try object.optionalInteger("level").map { level in
            guard (-127...0).contains(level) else {
                throw Problem.invalid("voice.level", "voice.level is a whole number from -127 to 0.")
            }
            return Int(level)
        }
        voice.transcript = try object.optionalText("transcript").map {
            try MessageText($0, field: "voice.transcript").text
        }
        voice.language = try object.optionalText("language")
        guard voice.language?.utf8.count ?? 0 <= 35 else {
            throw Problem.invalid("voice.language", "voice.language is a BCP 47 tag of at most 35 bytes.")
        }
        voice.segments = try segments(&object)
        guard voice.segments.isEmpty || voice.transcript != nil else {
            throw Problem.invalid("voice.segments", "Only a transcript has segments.")
        }
        try object.end("A voice message")
        return voice
    }

    private static func segments(_ object: inout RecordReader) throws -> [FileTranscript.Segment] {
        try object.objects("segments", most: TransferVoice.maxSegments).map { item in
            var item = item
            guard let start = try item.optionalInteger("start"), let end = try item.optionalInteger("end"),
                start >= 0, start <= end, end <= TransferVoice.mostMs
            else {
                throw Problem.invalid(
                    item.field("start"),
                    "A segment has start and end in milliseconds, from 0 to \(TransferVoice.mostMs).")
            }
            let segment = FileTranscript.Segment(start: start, end: end, text: try item.text("text"))
            try item.end("A segment")
            return segment
        }
    }

    /// The name of a file in the folder, which leads nowhere else.
    private static func fileName(_ name: String) throws(Problem) -> String {
        let isAllowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard (1...128).contains(name.utf8.count), isAllowed, !name.hasPrefix(".") else {
            throw .invalid(
                "voice.file",
                "voice.file is a name of 1 to 128 of A-Z, a-z, 0-9, ., _ and - that does not begin with a dot.")
        }
        return name
    }
}
