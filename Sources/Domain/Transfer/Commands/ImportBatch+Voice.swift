import Messaging
import Model
import Voice

// Voice messages: their sounds were stored before.
extension ImportBatch {
    /// The message has the sound now. One that is deleted here has none.
    func insert(_ sound: ImportedAudio, of message: Message, _ voice: TransferVoice?) throws {
        guard message.voice?.file == sound.file else { return }
        try store.insert(
            VoiceFile(
                id: sound.file, author: message.author, createdAt: message.sentAt, audio: sound.audio,
                location: .init(conversation: message.conversation, number: message.number)))
        guard let voice, let text = voice.transcript else { return }
        let segments = voice.segments.isEmpty ? nil : voice.segments
        try store.save(.complete(language: voice.language, text: text, segments: segments), of: sound.file)
    }
}

extension VoiceRecord {
    /// - Parameter sound: nil if it is not there: then what the line tells of it is all.
    init(_ voice: TransferVoice, _ sound: ImportedAudio?, _ notes: inout [String]) {
        if let file = voice.file, sound == nil { notes.append("voice: without its sound, \(file)") }
        let described = VoiceAudio(
            durationMs: Int(clamping: voice.durationMs), byteCount: 0, contentType: "audio/ogg",
            waveform: voice.waveform, level: voice.level ?? -127)
        self.init(
            file: sound?.file, audio: sound?.audio ?? described,
            transcript: voice.transcript.map { .complete(language: voice.language, text: $0, segments: nil) })
    }
}
