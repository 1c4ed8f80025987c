/// Sound to be written down: mono PCM at 16 kHz, which is what speech engines want and what `RecordedVoice` makes.
package struct SpeechAudio: Hashable, Sendable {
    package static let samplesPerSecond = 16_000
    static let samplesPerMillisecond = 16

    package var samples: [Int16]

    package init(_ samples: [Int16]) {
        self.samples = samples
    }

    package var milliseconds: Int64 { Int64(samples.count / Self.samplesPerMillisecond) }
    package var duration: Duration { .milliseconds(milliseconds) }

    /// The samples as bytes, the low one first.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(samples.count * 2)
        for sample in samples {
            bytes.append(UInt8(truncatingIfNeeded: sample))
            bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
        return bytes
    }
}
