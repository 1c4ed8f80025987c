/// Opus packets for time in which none were received, so that a file is as long as the recorded time.
package enum OpusFiller {
    /// A packet, and its duration in samples at 48 kHz.
    package struct Packet: Hashable, Sendable {
        package let bytes: [UInt8]
        package let duration: UInt32
    }

    /// 20 ms of CELT at full bandwidth, mono (RFC 6716 section 3.1); configurations of 2.5, 5 and 10 ms precede it.
    private static let longFrame: UInt32 = 960
    private static let longConfiguration: UInt8 = 31
    /// 120 ms, the longest packet.
    private static let maximumFrames: UInt32 = 6
    /// The range coder's first symbol marks the frame as silent (RFC 6716 section 4.3).
    private static let silentFrame: [UInt8] = [0xFF, 0xFE]

    /// Silence. A remainder below 2.5 ms is omitted.
    package static func silence(_ samples: UInt64) -> [Packet] { packets(samples, of: silentFrame) }

    /// Packet loss: empty frames, for which decoders run packet loss concealment (RFC 7845 section 4.1).
    package static func lost(_ samples: UInt64) -> [Packet] { packets(samples, of: []) }

    /// Whether it is a packet of `silence`.
    static func isSilence(_ packet: ArraySlice<UInt8>) -> Bool {
        guard let first = packet.first, first >> 3 > longConfiguration &- 4 else { return false }
        let rest = packet.dropFirst()
        return switch first & 7 {
        case 0: rest.elementsEqual(silentFrame)
        case 3:
            rest.first.map { rest.dropFirst().elementsEqual(repeatElement(silentFrame, count: Int($0)).joined()) }
                ?? false
        default: false
        }
    }

    private static func packets(_ samples: UInt64, of frame: [UInt8]) -> [Packet] {
        var packets: [Packet] = []
        var rest = samples
        while rest >= UInt64(longFrame) {
            let count = min(UInt32(clamping: rest / UInt64(longFrame)), maximumFrames)
            packets.append(packet(longConfiguration, count, frame))
            rest &-= UInt64(count &* longFrame)
        }
        for step: UInt8 in 1...3 {
            let duration = longFrame >> step
            guard rest >= UInt64(duration) else { continue }
            packets.append(packet(longConfiguration &- step, 1, frame))
            rest &-= UInt64(duration)
        }
        return packets
    }

    private static func packet(_ configuration: UInt8, _ count: UInt32, _ frame: [UInt8]) -> Packet {
        let step = longConfiguration &- configuration
        let duration = count &* (longFrame >> step)
        // Code 0 is one frame; code 3 is `count` frames of the same size.
        guard count > 1 else { return Packet(bytes: [configuration << 3] + frame, duration: duration) }
        var bytes: [UInt8] = [configuration << 3 | 3, UInt8(truncatingIfNeeded: count)]
        for _ in 0..<count { bytes += frame }
        return Packet(bytes: bytes, duration: duration)
    }
}
