/// A piece of sound in which somebody speaks.
package struct Utterance: Hashable, Sendable {
    /// Milliseconds from where the gate began.
    package var start: Int64
    package var audio: SpeechAudio

    package init(start: Int64, audio: SpeechAudio) {
        self.start = start
        self.audio = audio
    }
}

/// Lets through what may be speech, in pieces, and drops silence and steady noise, of which speech engines make words.
///
/// Sound is judged in frames of 20 ms. A frame is loud when it stands out of the noise, whose level is the quietest of the
/// last seconds. An utterance goes from shortly before the first loud frame until half a second without one. It is
/// dropped when it was no more than a click, or when it had neither a pitch nor the ups and downs of speech: noise that
/// sets in. One that grows too long is cut where it is quietest.
///
/// It holds one utterance at most.
package struct VoiceGate: Sendable {
    package struct Limits: Hashable, Sendable {
        /// An utterance is never longer.
        package var longest: Duration = .seconds(15)
        /// Without voice, after which an utterance has ended.
        package var pause: Duration = .milliseconds(500)

        package init() {}
    }

    private struct Frame {
        var level: Double
        var isLoud: Bool
        var isVoiced: Bool
    }

    /// Quieter than this is silence, whatever is quieter still, in decibels.
    private static let quietest = -55.0
    /// By how much voices stand out of noise.
    private static let margin = 8.0
    /// Kept before the first loud frame and behind the last: consonants begin and end softly.
    private static let edge = 10
    private static let fewestLoud = 4
    private static let fewestVoiced = 3
    /// Decibels by which the levels of speech differ from each other; those of noise do within one.
    private static let livelySpread = 3.0

    private let longest: Int
    private let pause: Int
    private var floor = NoiseFloor()
    /// What came of the next frame.
    private var partial: [Int16] = []
    /// The sound of `frames`.
    private var samples: [Int16] = []
    private var frames: [Frame] = []
    /// Where `samples` begins, in samples since the gate did.
    private var position: Int64 = 0
    private var isSpeaking = false
    private var quietCount = 0
    /// Pieces of sound that nobody spoke in, though they were loud.
    package private(set) var droppedCount = 0

    package init(_ limits: Limits = Limits()) {
        let frame = Duration.milliseconds(VoiceFrame.milliseconds)
        longest = max(Int(limits.longest / frame), 50)
        pause = max(Int(limits.pause / frame), 1)
    }

    /// How much came, in milliseconds.
    package var milliseconds: Int64 {
        (position + Int64(samples.count + partial.count)) / Int64(SpeechAudio.samplesPerMillisecond)
    }

    /// Whether somebody speaks now, as far as is known.
    package var isOpen: Bool { isSpeaking }

    /// Takes what comes next, however long, and returns what was spoken to its end.
    package mutating func take(_ sound: some Sequence<Int16>) -> [Utterance] {
        var utterances: [Utterance] = []
        for sample in sound {
            partial.append(sample)
            if partial.count == VoiceFrame.length { takeFrame(into: &utterances) }
        }
        return utterances
    }

    /// There was no sound until so many milliseconds from the beginning: what was being said has ended.
    package mutating func skip(to milliseconds: Int64) -> [Utterance] {
        guard milliseconds > self.milliseconds else { return [] }
        let utterances = finish()
        // A time that is none, such as of a clock gone wrong, must not overflow what is counted from it.
        position = max(min(milliseconds, 1 << 40) * Int64(SpeechAudio.samplesPerMillisecond), position)
        return utterances
    }

    /// Nothing more comes for now.
    package mutating func finish() -> [Utterance] {
        var utterances: [Utterance] = []
        if !partial.isEmpty {
            let rest = partial.count
            partial += repeatElement(0, count: VoiceFrame.length - rest)
            takeFrame(into: &utterances)
        }
        if isSpeaking { end(into: &utterances) }
        drop(frames.count)
        return utterances
    }

    private mutating func takeFrame(into utterances: inout [Utterance]) {
        let level = VoiceFrame.level(of: partial[...])
        floor.take(level)
        let isLoud = level > threshold
        samples += partial
        partial.removeAll(keepingCapacity: true)
        let isVoiced = isLoud && VoiceFrame.isVoiced(samples.suffix(VoiceFrame.length * 2))
        frames.append(Frame(level: level, isLoud: isLoud, isVoiced: isVoiced))
        if isLoud {
            isSpeaking = true
            quietCount = 0
        } else {
            quietCount += 1
        }
        if !isSpeaking {
            drop(frames.count - Self.edge)
        } else if quietCount >= pause {
            end(into: &utterances)
            drop(frames.count - Self.edge)
        } else if frames.count >= longest {
            cut(into: &utterances)
        }
    }

    /// Somebody goes on speaking: what is behind the quietest place of the second half begins the next utterance.
    private mutating func cut(into utterances: inout [Utterance]) {
        let half = frames.count / 2
        func loudness(at index: Int) -> Double {
            let around = frames[max(index - 2, 0)..<min(index + 3, frames.count)]
            return around.reduce(0) { $0 + $1.level } / Double(around.count)
        }
        let quietest = (half..<frames.count).min { loudness(at: $0) < loudness(at: $1) } ?? frames.count
        give(quietest, into: &utterances)
        drop(quietest)
        isSpeaking = frames.contains { $0.isLoud }
    }

    private mutating func end(into utterances: inout [Utterance]) {
        give(frames.count - max(quietCount - Self.edge, 0), into: &utterances)
        isSpeaking = false
    }

    private var threshold: Double { max(floor.level + Self.margin, Self.quietest) }

    /// Appends the first frames as an utterance, when they are speech.
    private mutating func give(_ count: Int, into utterances: inout [Utterance]) {
        guard count > 0, count <= frames.count else { return }
        // What was loud when little was known of the noise may be noise, as is known now.
        let loud = frames.prefix(count).filter { $0.isLoud && $0.level > threshold }
        guard loud.count >= Self.fewestLoud,
            loud.count(where: \.isVoiced) >= Self.fewestVoiced || Self.spread(loud.map(\.level)) > Self.livelySpread
        else {
            droppedCount += 1
            return
        }
        let first = frames.firstIndex { $0.level > threshold } ?? 0
        let skipped = max(first - Self.edge, 0) * VoiceFrame.length
        utterances.append(
            Utterance(
                start: (position + Int64(skipped)) / Int64(SpeechAudio.samplesPerMillisecond),
                audio: SpeechAudio(
                    Array(samples[skipped..<min(max(count * VoiceFrame.length, skipped), samples.count)]))))
    }

    private mutating func drop(_ count: Int) {
        guard count > 0 else { return }
        frames.removeFirst(min(count, frames.count))
        let gone = min(count * VoiceFrame.length, samples.count)
        samples.removeFirst(gone)
        position += Int64(gone)
    }

    /// The standard deviation.
    private static func spread(_ levels: [Double]) -> Double {
        guard levels.count > 1 else { return 0 }
        let mean = levels.reduce(0, +) / Double(levels.count)
        return (levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(levels.count)).squareRoot()
    }
}
