package import RTP

/// Turns what lies in a recording into mono PCM of the same length: packets are decoded, lost ones repaired from the next
/// or made up, and silence is silence.
package final class RecordedVoice {
    /// What is made up fades; beyond this it is silence. In samples at 48 kHz.
    private static let longestConcealment: UInt64 = 4_800

    private let decoder: VoiceDecoder
    /// What was lost, until the next packet is there that may repair it.
    private var lost: UInt64 = 0
    /// Packets that Opus could not make anything of.
    package private(set) var damagedCount = 0

    package init(_ rate: VoiceRate) throws(OpusFailure) {
        decoder = try VoiceDecoder(rate)
    }

    package func take(_ piece: SoundTimeline.Piece, into samples: inout [Int16]) {
        switch piece {
        case .lost(let count): lost &+= count
        case .silence(let count):
            makeUpLost(into: &samples)
            append(silence: count, into: &samples)
        case .packet(let packet, let duration):
            repairLost(with: packet.payload, duration, into: &samples)
            let before = samples.count
            if !decoder.decode(packet.payload, into: &samples) {
                damagedCount += 1
                decoder.conceal(length(UInt64(duration)), into: &samples)
            }
            // Whatever it held, it stands for so many.
            let wanted = before + length(UInt64(duration))
            if samples.count < wanted {
                append(silence: UInt64((wanted - samples.count) * decoder.rate.divisor), into: &samples)
            }
            samples.removeLast(max(samples.count - wanted, 0))
        }
    }

    /// Nothing more comes.
    package func finish(into samples: inout [Int16]) {
        makeUpLost(into: &samples)
    }

    private func repairLost(with payload: [UInt8], _ duration: UInt32, into samples: inout [Int16]) {
        guard lost > 0 else { return }
        // A packet knows of the one before it alone.
        let repaired = min(UInt64(duration), lost)
        lost -= repaired
        makeUpLost(into: &samples)
        decoder.repair(length(repaired), before: payload, into: &samples)
    }

    private func makeUpLost(into samples: inout [Int16]) {
        let concealed = min(lost, Self.longestConcealment)
        decoder.conceal(length(concealed), into: &samples)
        append(silence: lost - concealed, into: &samples)
        lost = 0
    }

    private func append(silence count: UInt64, into samples: inout [Int16]) {
        samples.append(contentsOf: repeatElement(0, count: length(count)))
    }

    private func length(_ count: UInt64) -> Int { Int(clamping: count) / decoder.rate.divisor }
}
