import RTP
import TestSupport
import Testing
import Wire

@Suite("Frame sizes")
struct PictureSizeTests {
    /// What encoders wrote, named above each.
    private static let frames: [(codec: VideoCodec, payload: [UInt8], width: UInt32, height: UInt32)] = [
        // libvpx, a descriptor of one byte
        (.vp8, hex("107034009d012a82026a010047088585888584880202000619"), 642, 362),
        // the same with a picture id
        (.vp8, hex("908081237034009d012a82026a010047088585888584880202000619"), 642, 362),
        // libvpx, without a scalability structure
        (.vp9, hex("8881238249834200281016960038241c184a10002860fa2fd00000"), 642, 362),
        // profile 1
        (.vp9, hex("08a2498342000282016ac007048383094000066000004381a3"), 322, 182),
        // a scalability structure as libwebrtc writes it
        (.vp9, hex("8a812318050002d00140a2498342"), 1280, 720),
        // x264, baseline
        (.h264, hex("6742c01eda0290bf889210000003001000000303c8f162ea"), 642, 362),
        // the same behind another unit
        (.h264, hex("18000468ce0fc800186742c01eda0290bf889210000003001000000303c8f162ea"), 642, 362),
        // x264, high
        (.h264, hex("6742c028da01e0089ea684000003000400000300f23c60ca80"), 1918, 1078),
        // the same behind another unit
        (.h264, hex("18000468ce0fc800196742c028da01e0089ea684000003000400000300f23c60ca80"), 1918, 1078),
        // interlaced
        (.h264, hex("674d401ff405a12684000003000400000300f07c58ba80"), 720, 576),
        // SVT-AV1, two elements
        (.av1, hex("280c080000000cc5036912be40103010008c2081450820400000"), 642, 362),
        // the same with all lengths
        (.av1, hex("080c080000000cc5036912be4010063010008c2081"), 642, 362),
    ]

    @Test("of key frames of each codec", arguments: frames.indices)
    func sizes(index: Int) {
        let frame = Self.frames[index]
        let size = frame.codec.pictureSize(frame.payload.span.bytes)
        #expect(size == PictureSize(width: frame.width, height: frame.height))
        // Truncated anywhere, it gives the same size or none.
        for count in frame.payload.indices {
            let cut = Array(frame.payload.prefix(count))
            let size = frame.codec.pictureSize(cut.span.bytes)
            #expect(size == nil || size == PictureSize(width: frame.width, height: frame.height), "cut at \(count)")
        }
    }

    @Test("any bytes are parsed safely, and delta frames have no size", arguments: VideoCodec.allCases)
    func noise(codec: VideoCodec) {
        var random = SeededRandom(seed: 5)
        for _ in 0..<5_000 {
            let bytes = random.bytes(Int.random(in: 0...60, using: &random))
            _ = codec.pictureSize(bytes.span.bytes)
            _ = LayersAllocation(bytes.span.bytes)
        }
        let frame: [UInt8] = [0x10, 0x01, 0, 0, 0x9D, 0x01, 0x2A, 1, 0, 1, 0]
        #expect(VideoCodec.vp8.pictureSize(frame.span.bytes) == nil)
    }
}
