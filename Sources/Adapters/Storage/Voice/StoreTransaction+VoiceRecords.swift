internal import Foundation
internal import Messaging
internal import Model
internal import Voice

/// A column of `messages`. The migration of older voice messages writes the same.
private struct StoredVoiceRecord: Codable {
    var file: FileID?
    var durationMs: Int
    var byteCount: Int
    var contentType: String
    /// Two hexadecimal digits for each value.
    var waveform: String
    var level: Int
    var transcript: FileTranscript?
}

extension StoreTransaction {
    static func text(of voice: VoiceRecord) throws -> String {
        let audio = voice.audio
        return try json(
            StoredVoiceRecord(
                file: voice.file, durationMs: audio.durationMs, byteCount: audio.byteCount,
                contentType: audio.contentType, waveform: hexadecimal(audio.waveform), level: audio.level,
                transcript: voice.transcript))
    }

    static func voiceRecord(_ text: String) throws -> VoiceRecord {
        let stored = try JSONDecoder().decode(StoredVoiceRecord.self, from: Data(text.utf8))
        return VoiceRecord(
            file: stored.file,
            audio: VoiceAudio(
                durationMs: stored.durationMs, byteCount: stored.byteCount, contentType: stored.contentType,
                waveform: try values(stored.waveform), level: stored.level), transcript: stored.transcript)
    }

    private static func hexadecimal(_ values: [Int]) -> String {
        var text = ""
        for value in values {
            let digits = String(UInt8(clamping: value), radix: 16)
            text += digits.utf8.count == 1 ? "0" + digits : digits
        }
        return text
    }

    private static func values(_ text: String) throws -> [Int] {
        let digits = try text.utf8.map { unit in
            guard let digit = Character(UnicodeScalar(unit)).hexDigitValue else {
                throw SQLError(.unexpectedValue, "The waveform of a voice message has the digit \(unit).")
            }
            return digit
        }
        return stride(from: 0, to: digits.count - digits.count % 2, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
    }
}
