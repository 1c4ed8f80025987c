internal import Glibc

/// Analyses 20 ms of audio: how loud it is, and whether it has a pitch, as voices have and noise has not.
struct VoiceFrame {
    /// Samples at 16 kHz.
    static let length = 320
    static let milliseconds: Int64 = 20

    /// In decibels relative to full scale, without DC offset; never below -96, the range of 16 bits.
    static func level(of samples: ArraySlice<Int16>) -> Double {
        guard !samples.isEmpty else { return -96 }
        var sum = 0.0
        var power = 0.0
        for sample in samples {
            sum += Double(sample)
            power += Double(sample) * Double(sample)
        }
        let count = Double(samples.count)
        let mean = sum / count
        let variance = power / count - mean * mean
        return max(10 * log10(max(variance, 0.01) / (32_768 * 32_768)), -96)
    }

    /// Whether 40 ms of audio are periodic at a pitch of 60 to 400 Hz. Averages four samples first, since pitch is low.
    static func isVoiced(_ samples: some RandomAccessCollection<Int16>) -> Bool {
        var coarse: [Double] = []
        coarse.reserveCapacity(samples.count / 4)
        var sum = 0.0
        for (number, sample) in samples.enumerated() {
            sum += Double(sample)
            if number & 3 == 3 {
                coarse.append(sum / 4)
                sum = 0
            }
        }
        guard coarse.count > 66 else { return false }
        let mean = coarse.reduce(0, +) / Double(coarse.count)
        for index in coarse.indices { coarse[index] -= mean }
        for lag in 10...66 {
            var product = 0.0
            var left = 0.0
            var right = 0.0
            for index in lag..<coarse.count {
                let (now, before) = (coarse[index], coarse[index - lag])
                product += now * before
                left += now * now
                right += before * before
            }
            if left > 0, right > 0, product > 0.75 * (left * right).squareRoot() { return true }
        }
        return false
    }
}
