internal import COpus

/// Encodes mono PCM as Opus for speech.
package final class VoiceEncoder {
    package struct Options: Hashable, Sendable {
        /// Bits per second.
        package var bitrate: Int32
        /// In-band FEC: each packet contains a coarser copy of the previous one.
        package var repairsLoss: Bool
        /// DTX: almost nothing is sent during silence.
        package var isDiscontinuous: Bool

        package init(bitrate: Int32 = 24_000, repairsLoss: Bool = false, isDiscontinuous: Bool = false) {
            self.bitrate = bitrate
            self.repairsLoss = repairsLoss
            self.isDiscontinuous = isDiscontinuous
        }
    }

    /// Samples per packet at its rate: 20 ms.
    package let frameCount: Int
    /// The samples at 48 kHz that a decoder outputs before the first encoded one.
    package let preSkip: UInt16
    private let encoder: OpaquePointer
    private var buffer = [UInt8](repeating: 0, count: 1_500)

    package init(_ rate: SampleRate, _ options: Options = Options()) throws(OpusFailure) {
        var status: Int32 = 0
        guard let encoder = opus_encoder_create(rate.rawValue, 1, OPUS_APPLICATION_VOIP, &status), status == OPUS_OK
        else {
            throw OpusFailure(code: status)
        }
        self.encoder = encoder
        frameCount = Int(rate.rawValue) / 50
        var lookahead: Int32 = 0
        status = copus_set_bitrate(encoder, options.bitrate)
        if status == OPUS_OK { status = copus_use_dtx(encoder, options.isDiscontinuous ? 1 : 0) }
        if status == OPUS_OK {
            status = copus_use_fec(encoder, options.repairsLoss ? 1 : 0, options.repairsLoss ? 10 : 0)
        }
        if status == OPUS_OK { status = copus_lookahead(encoder, &lookahead) }
        preSkip = UInt16(clamping: Int(lookahead) * rate.divisor)
        guard status == OPUS_OK else { throw OpusFailure(code: status) }
    }

    deinit { opus_encoder_destroy(encoder) }

    /// A packet of `frameCount` samples; missing ones are silence.
    package func encode(_ samples: some Collection<Int16>) throws(OpusFailure) -> [UInt8] {
        var frame = Array(samples.prefix(frameCount))
        frame.append(contentsOf: repeatElement(0, count: frameCount - frame.count))
        let byteCount = buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let target = buffer.baseAddress else { return OPUS_BAD_ARG }
            return opus_encode(encoder, frame, Int32(clamping: frameCount), target, Int32(clamping: buffer.count))
        }
        guard byteCount > 0 else { throw OpusFailure(code: byteCount) }
        return Array(buffer.prefix(Int(byteCount)))
    }
}
