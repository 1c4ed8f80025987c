/// Audio to be transcribed: mono PCM at 16 kHz, which speech engines expect and `RecordedVoice` produces.
package struct SpeechAudio: Hashable, Sendable {
    package static let samplesPerSecond = 16_000
    static let samplesPerMillisecond = 16

    package var samples: [Int16]

    package init(_ samples: [Int16]) {
        self.samples = samples
    }

    package var milliseconds: Int64 { Int64(samples.count / Self.samplesPerMillisecond) }
    package var duration: Duration { .milliseconds(milliseconds) }

    /// The samples as little-endian bytes.
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
