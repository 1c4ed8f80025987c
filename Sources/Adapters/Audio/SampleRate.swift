/// Samples of PCM per second: Opus decodes to each of these by itself.
package enum VoiceRate: Int32, Hashable, Sendable, CaseIterable {
    /// What speech engines want.
    case wide = 16_000
    case full = 48_000

    /// How many samples at 48 kHz, the clock of Opus, are one.
    package var divisor: Int { 48_000 / Int(rawValue) }
}
