/// A segment of audio that contains speech.
package struct Utterance: Hashable, Sendable {
    /// Milliseconds since the detector's beginning.
    package var start: Int64
    package var audio: SpeechAudio

    package init(start: Int64, audio: SpeechAudio) {
        self.start = start
        self.audio = audio
    }
}

/// Splits audio into segments that may be speech, and drops silence and steady noise, in which speech engines find
/// words.
///
/// It analyses frames of 20 ms. A frame is loud when it is above the noise floor, which is the quietest level of the
/// last seconds. An utterance lasts from shortly before the first loud frame until half a second without one. It is
/// dropped when it was only a click, or when it had neither the pitch nor the varying level of speech: noise that has
/// started. An utterance that becomes too long is split where it is quietest.
///
/// It holds one utterance at most.
package struct VoiceActivityDetector: Sendable {
    package struct Limits: Hashable, Sendable {
        /// The maximum duration of an utterance.
        package var maxDuration: Duration = .seconds(15)
        /// The time without voice that ends an utterance.
        package var pause: Duration = .milliseconds(500)

        package init() {}
    }

    private struct Frame {
        var level: Double
        var isLoud: Bool
        var isVoiced: Bool
    }

    /// Below this level everything is silence, in decibels.
    private static let silenceLevel = -55.0
    /// How far voices are above the noise floor, in decibels.
    private static let margin = 8.0
    /// Frames kept before the first loud frame and after the last: consonants begin and end softly.
    private static let paddingFrames = 10
    private static let minLoudFrames = 4
    private static let minVoicedFrames = 3
    /// The minimum standard deviation of the levels of speech, in decibels; that of noise is below one.
    private static let minLevelDeviation = 3.0

    private let maxFrames: Int
    private let pause: Int
    private var floor = NoiseFloor()
    /// The beginning of the next frame.
    private var partial: [Int16] = []
    /// The samples of `frames`.
    private var samples: [Int16] = []
    private var frames: [Frame] = []
    /// Where `samples` begins, in samples since the detector's beginning.
    private var position: Int64 = 0
    private var isSpeaking = false
    private var quietCount = 0
    /// Loud segments that were dropped because they are not speech.
    package private(set) var droppedCount = 0

    package init(_ limits: Limits = Limits()) {
        let frame = Duration.milliseconds(VoiceFrame.milliseconds)
        maxFrames = max(Int(limits.maxDuration / frame), 50)
        pause = max(Int(limits.pause / frame), 1)
    }

    /// How much audio was received, in milliseconds.
    package var milliseconds: Int64 {
        (position + Int64(samples.count + partial.count)) / Int64(SpeechAudio.samplesPerMillisecond)
    }

    /// Whether somebody seems to be speaking now.
    package var isActive: Bool { isSpeaking }

    /// Processes the next samples, and returns the utterances that have ended.
    package mutating func take(_ samples: some Sequence<Int16>) -> [Utterance] {
        var utterances: [Utterance] = []
        for sample in samples {
            partial.append(sample)
            if partial.count == VoiceFrame.length { processFrame(into: &utterances) }
        }
        return utterances
    }

    /// Skips silence up to a time since the beginning, which ends the current utterance.
    package mutating func skip(to milliseconds: Int64) -> [Utterance] {
        guard milliseconds > self.milliseconds else { return [] }
        let utterances = finish()
        // An absurd time, such as of a broken clock, must not overflow the position.
        position = max(min(milliseconds, 1 << 40) * Int64(SpeechAudio.samplesPerMillisecond), position)
        return utterances
    }

    /// Ends the audio for now, and returns the utterances that have ended.
    package mutating func finish() -> [Utterance] {
        var utterances: [Utterance] = []
        if !partial.isEmpty {
            let rest = partial.count
            partial += repeatElement(0, count: VoiceFrame.length - rest)
            processFrame(into: &utterances)
        }
        if isSpeaking { end(into: &utterances) }
        drop(frames.count)
        return utterances
    }

    private mutating func processFrame(into utterances: inout [Utterance]) {
        let level = VoiceFrame.level(of: partial[...])
        floor.update(level)
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
            drop(frames.count - Self.paddingFrames)
        } else if quietCount >= pause {
            end(into: &utterances)
            drop(frames.count - Self.paddingFrames)
        } else if frames.count >= maxFrames {
            split(into: &utterances)
        }
    }

    /// Splits an utterance that goes on at the quietest frame of its second half.
    private mutating func split(into utterances: inout [Utterance]) {
        let half = frames.count / 2
        func loudness(at index: Int) -> Double {
            let around = frames[max(index - 2, 0)..<min(index + 3, frames.count)]
            return around.reduce(0) { $0 + $1.level } / Double(around.count)
        }
        let quietest = (half..<frames.count).min { loudness(at: $0) < loudness(at: $1) } ?? frames.count
        emit(quietest, into: &utterances)
        drop(quietest)
        isSpeaking = frames.contains { $0.isLoud }
    }

    private mutating func end(into utterances: inout [Utterance]) {
        emit(frames.count - max(quietCount - Self.paddingFrames, 0), into: &utterances)
        isSpeaking = false
    }

    private var threshold: Double { max(floor.level + Self.margin, Self.silenceLevel) }

    /// Appends the first frames as an utterance, if they are speech.
    private mutating func emit(_ count: Int, into utterances: inout [Utterance]) {
        guard count > 0, count <= frames.count else { return }
        // Frames that were loud before the noise floor was known may be noise.
        let loud = frames.prefix(count).filter { $0.isLoud && $0.level > threshold }
        guard loud.count >= Self.minLoudFrames,
            loud.count(where: \.isVoiced) >= Self.minVoicedFrames
                || Self.standardDeviation(loud.map(\.level)) > Self.minLevelDeviation
        else {
            droppedCount += 1
            return
        }
        let first = frames.firstIndex { $0.level > threshold } ?? 0
        let skipped = max(first - Self.paddingFrames, 0) * VoiceFrame.length
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

    private static func standardDeviation(_ levels: [Double]) -> Double {
        guard levels.count > 1 else { return 0 }
        let mean = levels.reduce(0, +) / Double(levels.count)
        return (levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(levels.count)).squareRoot()
    }
}
