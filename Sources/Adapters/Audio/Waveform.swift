internal import Glibc

/// The loudness of a recording over time, for display and for decisions.
package struct Waveform: Hashable, Sendable {
    /// The peak of each of equal parts, 0 to 255, where 255 is full scale.
    package let peaks: [UInt8]
    /// The overall level in decibels relative to a full-scale sine: 0 to -127, the unit of RFC 6464.
    package let level: Int

    /// - Parameter count: the number of parts; there are fewer if there are fewer samples.
    package init(_ samples: [Int16], count: Int) {
        let parts = min(max(count, 1), samples.count)
        peaks = (0..<parts).map { part in
            let range = samples.count * part / parts..<samples.count * (part + 1) / parts
            let peak = samples[range].reduce(0) { max($0, Int($1.magnitude)) }
            return UInt8(clamping: peak >> 7)
        }
        level = Self.level(of: samples[...])
    }

    /// The level of some samples.
    package static func level(of samples: ArraySlice<Int16>) -> Int {
        guard !samples.isEmpty else { return -127 }
        let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
        let power = sum / Double(samples.count) / (32_768 * 32_768 / 2)
        guard power > 0 else { return -127 }
        return Int(min(max((10 * log10(power)).rounded(), -127), 0))
    }
}
