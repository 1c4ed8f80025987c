/// PCM samples per second: Opus decodes to each of these rates directly.
package enum SampleRate: Int32, Hashable, Sendable, CaseIterable {
    /// For speech recognition.
    case wide = 16_000
    case full = 48_000

    /// The number of samples at 48 kHz, the clock of Opus, per sample at this rate.
    package var divisor: Int { 48_000 / Int(rawValue) }
}
