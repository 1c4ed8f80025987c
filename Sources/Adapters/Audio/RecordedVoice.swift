package import RTP

/// Decodes a recording to mono PCM of the same length: packets are decoded, lost ones repaired from the next one (FEC)
/// or concealed, and gaps are silence.
package final class RecordedVoice {
    /// Concealment fades out; beyond this it is silence. In samples at 48 kHz.
    private static let maxConcealment: UInt64 = 4_800

    private let decoder: VoiceDecoder
    /// Lost samples, until the next packet arrives that may repair them.
    private var lost: UInt64 = 0
    /// Packets that Opus could not decode.
    package private(set) var damagedCount = 0

    package init(_ rate: SampleRate) throws(OpusFailure) {
        decoder = try VoiceDecoder(rate)
    }

    package func take(_ segment: AudioTimeline.Segment, into samples: inout [Int16]) {
        switch segment {
        case .lost(let count): lost &+= count
        case .silence(let count):
            concealLost(into: &samples)
            append(silence: count, into: &samples)
        case .packet(let packet, let duration):
            repairLost(with: packet.payload, duration, into: &samples)
            let before = samples.count
            if !decoder.decode(packet.payload, into: &samples) {
                damagedCount += 1
                decoder.conceal(length(UInt64(duration)), into: &samples)
            }
            // The timeline gives its duration, whatever it decoded to.
            let end = before + length(UInt64(duration))
            if samples.count < end {
                append(silence: UInt64((end - samples.count) * decoder.rate.divisor), into: &samples)
            }
            samples.removeLast(max(samples.count - end, 0))
        }
    }

    /// Ends the decoding: conceals a loss at the end.
    package func finish(into samples: inout [Int16]) {
        concealLost(into: &samples)
    }

    private func repairLost(with payload: [UInt8], _ duration: UInt32, into samples: inout [Int16]) {
        guard lost > 0 else { return }
        // A packet can only repair the one before it.
        let repaired = min(UInt64(duration), lost)
        lost -= repaired
        concealLost(into: &samples)
        decoder.repair(length(repaired), before: payload, into: &samples)
    }

    private func concealLost(into samples: inout [Int16]) {
        let concealed = min(lost, Self.maxConcealment)
        decoder.conceal(length(concealed), into: &samples)
        append(silence: lost - concealed, into: &samples)
        lost = 0
    }

    private func append(silence count: UInt64, into samples: inout [Int16]) {
        samples.append(contentsOf: repeatElement(0, count: length(count)))
    }

    private func length(_ count: UInt64) -> Int { Int(clamping: count) / decoder.rate.divisor }
}
