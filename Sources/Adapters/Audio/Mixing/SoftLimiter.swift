/// A look-ahead limiter: keeps a sum of voices within 16 bits without clipping. It lowers the gain smoothly just before
/// a peak, and raises it again slowly.
///
/// It works in blocks, with a delay of one block. The gain is linear within a block; at both ends it is at most the
/// block's maximum gain, and so it is in between.
struct SoftLimiter {
    /// 5 ms at 48 kHz.
    static let blockCount = 240
    /// -1 dB of full scale: headroom for the encoder's overshoot.
    static let ceiling: Float = 29_204
    /// The gain's rise per block, once no peak occurred for `hold` blocks, a period of the lowest pitch: 40 dB a
    /// second.
    private static let release: Float = 1.0233
    private static let hold = 10

    private var waiting: [Int32] = []
    private var waitingGain: Float = 1
    /// The gain at the start of the waiting block.
    private var boundaryGain: Float = 1
    private var blocksUntilRelease = 0

    /// Processes a block, and appends the previous one.
    mutating func process(_ block: [Int32], into samples: inout [Int16]) {
        let peak = block.reduce(0) { max($0, $1.magnitude) }
        let maxGain = peak > 0 ? min(Self.ceiling / Float(peak), 1) : 1
        var gain = waitingGain
        if maxGain <= gain, maxGain < 1 {
            gain = maxGain
            blocksUntilRelease = Self.hold
        } else if blocksUntilRelease > 0 {
            blocksUntilRelease -= 1
        } else {
            gain = min(gain * Self.release, maxGain)
        }
        emit(min(waitingGain, gain), into: &samples)
        (waiting, waitingGain) = (block, gain)
    }

    /// Appends the last block.
    mutating func finish(into samples: inout [Int16]) {
        emit(waitingGain, into: &samples)
        waiting = []
    }

    private mutating func emit(_ end: Float, into samples: inout [Int16]) {
        if boundaryGain == 1, end == 1 {
            samples.append(contentsOf: waiting.lazy.map { Int16(clamping: $0) })
        } else {
            let step = (end - boundaryGain) / Float(max(waiting.count, 1))
            var gain = boundaryGain
            for sample in waiting {
                samples.append(Int16(clamping: Int((Float(sample) * gain).rounded())))
                gain += step
            }
        }
        boundaryGain = end
    }
}
