internal import Crypto
internal import DequeModule
internal import Synchronization

/// The cache key of a transcript: the audio, the provider, and the requested language.
package struct TranscriptKey: Hashable, Sendable {
    /// SHA-256, in hexadecimal digits.
    package let digest: String

    package init(_ audio: SpeechAudio, identity: String, language: String?) {
        var hash = SHA256()
        // Length prefixes keep different keys from having the same bytes.
        for text in [identity, language ?? ""] {
            hash.update(data: Array("\(text.utf8.count) ".utf8))
            hash.update(data: Array(text.utf8))
        }
        hash.update(data: audio.bytes)
        let digits = Array("0123456789abcdef")
        digest = hash.finalize().map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    }
}

/// Stores transcripts so that nobody pays for one twice.
package protocol TranscriptCache: Sendable {
    func transcript(for key: TranscriptKey) async -> Transcript?
    func keep(_ transcript: Transcript, for key: TranscriptKey) async
}

/// Keeps the latest transcripts, up to a number and a total size.
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
