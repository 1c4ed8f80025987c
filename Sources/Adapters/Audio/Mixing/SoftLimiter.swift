/// Keeps a sum of voices within 16 bits without a crackle: where it would be too loud all of it is turned down, smoothly
/// and just before, and up again slowly.
///
/// It works in blocks, and each comes out when the next is known. The gain goes in a straight line from one edge of a
/// block to the other; both are at most what the block can bear, and so is all between them.
struct SoftLimiter {
    /// 5 ms at 48 kHz.
    static let blockCount = 240
    /// -1 dB of full scale: what an encoder adds has room.
    static let ceiling: Float = 29_204
    /// In each block, once nothing was too loud for as long as the lowest pitch needs for a period: 40 dB a second.
    private static let rise: Float = 1.0233
    private static let hold = 10

    private var waiting: [Int32] = []
    private var waitingGain: Float = 1
    /// The gain where the waiting block begins.
    private var edge: Float = 1
    private var blocksUntilRise = 0

    /// Takes a block, and appends the one before it.
    mutating func take(_ block: [Int32], into samples: inout [Int16]) {
        let peak = block.reduce(0) { max($0, $1.magnitude) }
        let bearable = peak > 0 ? min(Self.ceiling / Float(peak), 1) : 1
        var gain = waitingGain
        if bearable <= gain, bearable < 1 {
            gain = bearable
            blocksUntilRise = Self.hold
        } else if blocksUntilRise > 0 {
            blocksUntilRise -= 1
        } else {
            gain = min(gain * Self.rise, bearable)
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
        if edge == 1, end == 1 {
            samples.append(contentsOf: waiting.lazy.map { Int16(clamping: $0) })
        } else {
            let step = (end - edge) / Float(max(waiting.count, 1))
            var gain = edge
            for sample in waiting {
                samples.append(Int16(clamping: Int((Float(sample) * gain).rounded())))
                gain += step
            }
        }
        edge = end
    }
}
