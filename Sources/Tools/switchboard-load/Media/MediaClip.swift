import RTP
import Wire

/// The synthetic media of virtual participants: packets with the sizes, the timing and all the headers of real media.
///
/// Audio is Opus of 20 ms in one frame of 80 bytes (32 kbit/s): its first byte says so (RFC 6716 section 3.1), and any
/// bytes behind it decode, to noise. Video is VP8 at 30 frames a second: payload descriptor with a picture id of 15
/// bits (RFC 7741 section 4.2), a frame tag and, in key frames, start code and size (RFC 6386 section 9.1); the rest of
/// a frame is noise. Each payload ends with a mark, from which a receiver knows the sender and the latency of a packet:
///
///     | 'S' 'L' 'M' '1' | source (32) | number (32) | sent at, ns (64) |
enum MediaClip {
    static let opusByteCount = 80
    static let opusTicks: UInt32 = 960
    /// CELT, full band, 20 ms, mono, one frame.
    private static let opusConfiguration: UInt8 = 31 << 3

    static let framesPerSecond: UInt64 = 30
    static let frameInterval: UInt64 = 1_000_000_000 / framesPerSecond
    static let frameTicks: UInt32 = 90_000 / 30
    /// The maximum size of a VP8 payload, as libwebrtc splits frames.
    static let maxPayloadByteCount = 1100
    /// How many times larger a key frame is than other frames.
    static let keyFrameFactor = 5
    private static let descriptorByteCount = 4
    private static let width: UInt16 = 1280
    private static let height: UInt16 = 720

    /// The payload without its mark: `byteCount` bytes in all.
    static func opus() -> [UInt8] {
        [opusConfiguration] + noise(opusByteCount - 1)
    }

    /// How many packets a frame of `frame` bytes needs, and how many bytes of payload each has.
    static func split(_ frame: Int) -> (count: Int, payload: Int) {
        let minimum = descriptorByteCount + 10 + MediaMark.byteCount
        let capacity = maxPayloadByteCount - descriptorByteCount
        let count = max(1, (frame + capacity - 1) / capacity)
        return (count, max(minimum, frame / count + descriptorByteCount))
    }

    /// Writes the descriptor and frame header of one packet of a frame. The other bytes may be arbitrary.
    static func writeVP8(
        isStart: Bool, isKeyFrame: Bool, picture: UInt16, frame: Int, into target: inout MutableRawSpan, at offset: Int
    ) {
        // X, and S where the frame begins; I; the picture id with M.
        target.store(UInt8(isStart ? 0x90 : 0x80), at: offset)
        target.store(UInt8(0x80), at: offset + 1)
        target.store(0x8000 | picture & 0x7FFF, at: offset + 2)
        guard isStart else { return }
        let start = offset + descriptorByteCount
        // Not a key frame, version 0, shown, and the size of the first partition in 19 bits.
        let partition = UInt32(truncatingIfNeeded: frame / 4) & 0x7FFFF
        let tag = (isKeyFrame ? 0 : 1) | 1 << 4 | partition << 5
        for index in 0..<3 { target.store(UInt8(truncatingIfNeeded: tag >> (8 * UInt32(index))), at: start + index) }
        guard isKeyFrame else { return }
        target.store(UInt8(0x9D), at: start + 3)
        target.store(UInt16(0x012A), at: start + 4)
        target.store(width.byteSwapped, at: start + 6)
        target.store(height.byteSwapped, at: start + 8)
    }

    static func noise(_ count: Int) -> [UInt8] {
        var random = SeededRandom(seed: 7)
        return (0..<max(count, 0)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}

/// The mark at the end of each payload.
struct MediaMark: Hashable {
    static let byteCount = 20
    private static let magic: UInt32 = 0x534C_4D31

    var source: UInt32
    var number: UInt32
    var sentAt: UInt64

    init(source: UInt32, number: UInt32, sentAt: UInt64) {
        self.source = source
        self.number = number
        self.sentAt = sentAt
    }

    /// Reads the mark of a received packet; nil if it was not sent by this program.
    init?(_ payload: RawSpan) {
        let start = payload.byteCount - Self.byteCount
        guard start >= 0, payload.integer(at: start, as: UInt32.self) == Self.magic,
            let source = payload.integer(at: start + 4, as: UInt32.self),
            let number = payload.integer(at: start + 8, as: UInt32.self),
            let sentAt = payload.integer(at: start + 12, as: UInt64.self)
        else { return nil }
        self.init(source: source, number: number, sentAt: sentAt)
    }

    func write(into target: inout MutableRawSpan, endingAt end: Int) {
        let start = end - Self.byteCount
        target.store(Self.magic, at: start)
        target.store(source, at: start + 4)
        target.store(number, at: start + 8)
        target.store(sentAt, at: start + 12)
    }
}
