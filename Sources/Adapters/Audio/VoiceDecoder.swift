internal import COpus

/// Decodes the Opus packets of one source to mono PCM, and conceals losses (RFC 6716).
///
/// Lengths are in samples of its own rate. It is used by one task at a time.
package final class VoiceDecoder {
    /// 120 ms, the longest packet.
    private static let maxSampleCount = 5_760

    package let rate: SampleRate
    private let decoder: OpaquePointer
    private var buffer: [Int16]

    package init(_ rate: SampleRate) throws(OpusFailure) {
        var status: Int32 = 0
        guard let decoder = opus_decoder_create(rate.rawValue, 1, &status), status == OPUS_OK else {
            throw OpusFailure(code: status)
        }
        self.decoder = decoder
        self.rate = rate
        buffer = [Int16](repeating: 0, count: Self.maxSampleCount / rate.divisor)
    }

    deinit { opus_decoder_destroy(decoder) }

    /// Appends the samples of the packet; false, without appending any, when it is not a valid Opus packet.
    @discardableResult
    package func decode(_ packet: some Collection<UInt8>, into samples: inout [Int16]) -> Bool {
        guard !packet.isEmpty else { return false }
        return run(packet, count: buffer.count, isRepair: false, into: &samples)
    }

    /// Appends `count` samples of concealment, which continue the previous audio and fade out.
    package func conceal(_ count: Int, into samples: inout [Int16]) {
        var left = count
        while left > 0 {
            // Concealment works in steps of 2.5 ms.
            let step = Int(rate.rawValue) / 400
            let part = min(left / step * step, buffer.count)
            guard part > 0, run([UInt8](), count: part, isRepair: false, into: &samples) else { break }
            left -= part
        }
        if left > 0 { samples.append(contentsOf: repeatElement(0, count: left)) }
    }

    /// Appends `count` samples that were lost before a packet, from its in-band FEC (section 2.1.7), or concealed if it
    /// has none.
    package func repair(_ count: Int, before packet: some Collection<UInt8>, into samples: inout [Int16]) {
        guard count > 0 else { return }
        guard !packet.isEmpty, count <= buffer.count, run(packet, count: count, isRepair: true, into: &samples) else {
            return conceal(count, into: &samples)
        }
    }

    /// Resets the decoder for another stream.
    package func reset() {
        _ = copus_reset(decoder)
    }

    private func run(
        _ packet: some Collection<UInt8>, count: Int, isRepair: Bool, into samples: inout [Int16]
    ) -> Bool {
        let bytes = Array(packet)
        let decoded = buffer.withUnsafeMutableBufferPointer { buffer in
            bytes.withUnsafeBufferPointer { bytes -> Int32 in
                guard let target = buffer.baseAddress else { return OPUS_BAD_ARG }
                return opus_decode(
                    decoder, bytes.isEmpty ? nil : bytes.baseAddress, Int32(clamping: bytes.count), target,
                    Int32(clamping: min(count, buffer.count)), isRepair ? 1 : 0)
            }
        }
        guard decoded >= 0 else { return false }
        samples.append(contentsOf: buffer.prefix(Int(decoded)))
        return true
    }
}
