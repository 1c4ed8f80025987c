internal import Crypto
internal import DequeModule
internal import Synchronization

/// What a transcript is found by: the sound, who wrote it down, and in which language it was said to be.
package struct TranscriptKey: Hashable, Sendable {
    /// SHA-256, in hexadecimal digits.
    package let digest: String

    package init(_ audio: SpeechAudio, identity: String, language: String?) {
        var hash = SHA256()
        // Lengths before texts: no two keys are written alike.
        for text in [identity, language ?? ""] {
            hash.update(data: Array("\(text.utf8.count) ".utf8))
            hash.update(data: Array(text.utf8))
        }
        hash.update(data: audio.bytes)
        let digits = Array("0123456789abcdef")
        digest = hash.finalize().map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    }
}

/// Where transcripts are kept so that nobody pays for one twice. Whoever keeps them in a database writes one of these.
package protocol TranscriptCache: Sendable {
    func transcript(for key: TranscriptKey) async -> Transcript?
    func keep(_ transcript: Transcript, for key: TranscriptKey) async
}

/// Keeps the latest, so many of them and no more bytes of text than told.
package final class MemoryTranscriptCache: TranscriptCache {
    private struct State {
        var transcripts: [TranscriptKey: Transcript] = [:]
        var order: Deque<TranscriptKey> = []
        var byteCount = 0
    }

    private let state = Mutex(State())
    private let count: Int
    private let byteCount: Int

    package init(count: Int = 1_000, byteCount: Int = 8 << 20) {
        self.count = count
        self.byteCount = byteCount
    }

    package func transcript(for key: TranscriptKey) -> Transcript? {
        state.withLock { $0.transcripts[key] }
    }

    package func keep(_ transcript: Transcript, for key: TranscriptKey) {
        let size = Self.size(of: transcript)
        guard size <= byteCount, count > 0 else { return }
        state.withLock { state in
            if let old = state.transcripts.updateValue(transcript, forKey: key) {
                state.byteCount += size - Self.size(of: old)
            } else {
                state.order.append(key)
                state.byteCount += size
            }
            while state.order.count > count || state.byteCount > byteCount, let oldest = state.order.popFirst() {
                if let gone = state.transcripts.removeValue(forKey: oldest) { state.byteCount -= Self.size(of: gone) }
            }
        }
    }

    private static func size(of transcript: Transcript) -> Int {
        transcript.segments.reduce(transcript.text.utf8.count + 100) { $0 + $1.text.utf8.count + 40 }
    }
}
