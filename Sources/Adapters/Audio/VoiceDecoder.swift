internal import COpus

/// Decodes the Opus packets of one voice to mono PCM, and makes up what was lost (RFC 6716).
///
/// Lengths are in samples of its own rate. It is used by one task at a time.
package final class VoiceDecoder {
    /// 120 ms, which no packet is longer than.
    private static let longest = 5_760

    package let rate: VoiceRate
    private let decoder: OpaquePointer
    private var room: [Int16]

    package init(_ rate: VoiceRate) throws(OpusFailure) {
        var status: Int32 = 0
        guard let decoder = opus_decoder_create(rate.rawValue, 1, &status), status == OPUS_OK else {
            throw OpusFailure(code: status)
        }
        self.decoder = decoder
        self.rate = rate
        room = [Int16](repeating: 0, count: Self.longest / rate.divisor)
    }

    deinit { opus_decoder_destroy(decoder) }

    /// Appends what the packet holds; false when it is no packet of Opus, and nothing is appended.
    @discardableResult
    package func decode(_ packet: some Collection<UInt8>, into samples: inout [Int16]) -> Bool {
        guard !packet.isEmpty else { return false }
        return run(packet, count: room.count, isRepair: false, into: &samples)
    }

    /// Appends so many samples that sound like what came before, and fade.
    package func conceal(_ count: Int, into samples: inout [Int16]) {
        var left = count
        while left > 0 {
            // It makes them up in steps of 2.5 ms.
            let step = Int(rate.rawValue) / 400
            let part = min(left / step * step, room.count)
            guard part > 0, run([UInt8](), count: part, isRepair: false, into: &samples) else { break }
            left -= part
        }
        if left > 0 { samples.append(contentsOf: repeatElement(0, count: left)) }
    }

    /// Appends so many samples from before a packet that came, which has them in a coarser form when its encoder was told
    /// of losses (section 2.1.7), and makes them up where it has not.
    package func repair(_ count: Int, before packet: some Collection<UInt8>, into samples: inout [Int16]) {
        guard count > 0 else { return }
        guard !packet.isEmpty, count <= room.count, run(packet, count: count, isRepair: true, into: &samples) else {
            return conceal(count, into: &samples)
        }
    }

    /// What comes next has nothing to do with what came.
    package func reset() {
        _ = copus_reset(decoder)
    }

    private func run(
        _ packet: some Collection<UInt8>, count: Int, isRepair: Bool, into samples: inout [Int16]
    ) -> Bool {
        let bytes = Array(packet)
        let made = room.withUnsafeMutableBufferPointer { room in
            bytes.withUnsafeBufferPointer { bytes -> Int32 in
                guard let target = room.baseAddress else { return OPUS_BAD_ARG }
                return opus_decode(
                    decoder, bytes.isEmpty ? nil : bytes.baseAddress, Int32(clamping: bytes.count), target,
                    Int32(clamping: min(count, room.count)), isRepair ? 1 : 0)
            }
        }
        guard made >= 0 else { return false }
        samples.append(contentsOf: room.prefix(Int(made)))
        return true
    }
}
