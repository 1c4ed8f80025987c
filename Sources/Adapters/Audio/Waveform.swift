internal import Glibc

/// How loud a voice is, for people to look at and for machines to decide by.
package struct Waveform: Hashable, Sendable {
    /// The loudest sample in each of equal parts, 0 to 255, where the loudest there can be is 255.
    package let peaks: [UInt8]
    /// Of all of it, in decibels below the loudest sine there can be: 0 to -127, the units of RFC 6464.
    package let level: Int

    /// - Parameter count: of the parts; fewer when there are not so many samples.
    package init(_ samples: [Int16], count: Int) {
        let parts = min(max(count, 1), samples.count)
        peaks = (0..<parts).map { part in
            let range = samples.count * part / parts..<samples.count * (part + 1) / parts
            let peak = samples[range].reduce(0) { max($0, Int($1.magnitude)) }
            return UInt8(clamping: peak >> 7)
        }
        level = Self.level(of: samples[...])
    }

    /// The same of a part of it.
    package static func level(of samples: ArraySlice<Int16>) -> Int {
        guard !samples.isEmpty else { return -127 }
        let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
        let power = sum / Double(samples.count) / (32_768 * 32_768 / 2)
        guard power > 0 else { return -127 }
        return Int(min(max((10 * log10(power)).rounded(), -127), 0))
    }
}
