import RTP
import TestSupport
import Testing
import Wire

@Suite("Payload descriptors")
struct PayloadTests {
    @Test("VP8: every field of the descriptor, by hand")
    func vp8() {
        let full: [UInt8] = [0x90, 0xF0, 0x92, 0x34, 0x56, 0x60, 0x10]
        let descriptor = VP8Descriptor(full.span.bytes)
        #expect(descriptor?.byteCount == 6)
        #expect(descriptor?.isKeyFrame == true)
        #expect(descriptor?.pictureID == 0x1234)
        #expect(descriptor?.hasLongPictureID == true)
        #expect(descriptor?.baseLayerIndex == 0x56)
        #expect(descriptor?.temporalLayer == 1)
        #expect(descriptor?.isLayerSync == true)
        for length in 0..<full.count {
            let cut = Array(full.prefix(length))
            #expect(VP8Descriptor(cut.span.bytes) == nil, "cut at \(length)")
        }
        let short: [UInt8] = [0x80, 0x80, 0x12, 0x01]
        #expect(VP8Descriptor(short.span.bytes)?.pictureID == 0x12)
        #expect(VP8Descriptor(short.span.bytes)?.isStart == false)
        let bare: [UInt8] = [0x10, 0x01]
        #expect(VP8Descriptor(bare.span.bytes)?.isStart == true)
        #expect(VP8Descriptor(bare.span.bytes)?.isKeyFrame == false)
        let partition: [UInt8] = [0x11, 0x00]
        #expect(VP8Descriptor(partition.span.bytes)?.isKeyFrame == false, "the start of another partition")
    }

    @Test("VP8: replaced numbers keep their width")
    func vp8Rewriting() throws {
        func rewritten(_ payload: [UInt8]) throws -> [UInt8] {
            let read = VP8Descriptor(payload.span.bytes)
            let descriptor = try #require(read)
            var bytes: [UInt8] = [0xAA, 0xBB] + payload
            var span = bytes.mutableSpan
            var raw = span.mutableBytes
            descriptor.set(pictureID: 0x7ABC, baseLayerIndex: 0x99, in: &raw, at: 2)
            return Array(bytes.dropFirst(2))
        }
        #expect(
            try rewritten([0x90, 0xF0, 0x92, 0x34, 0x56, 0x60, 0x10]) == [0x90, 0xF0, 0xFA, 0xBC, 0x99, 0x60, 0x10])
        #expect(try rewritten([0x80, 0x80, 0x12, 0x01]) == [0x80, 0x80, 0x3C, 0x01])
        #expect(try rewritten([0x80, 0x40, 0x12, 0x01]) == [0x80, 0x40, 0x99, 0x01])
        #expect(try rewritten([0x10, 0x01]) == [0x10, 0x01])
    }

    @Test(
        "key frames of VP9, H.264 and AV1",
        arguments: [
            (VideoCodec.vp9, [0x08, 0x00], true),
            (.vp9, [0x48, 0x00], false),
            (.vp9, [0x00, 0x00], false),
            (.vp9, [0xA8, 0x81, 0x23, 0x00], true),
            (.vp9, [0xA8, 0x01, 0x02], false),
            (.vp9, [0xA8], false),
            (.h264, [0x65, 0x88], true),
            (.h264, [0x67, 0x42], true),
            (.h264, [0x41, 0x9A], false),
            (.h264, [0x78, 0x00, 0x02, 0x67, 0x42, 0x00, 0x02, 0x68, 0xCE], true),
            (.h264, [0x78, 0x00, 0x02, 0x06, 0x42, 0x00, 0x02, 0x65, 0xCE], true),
            (.h264, [0x78, 0x00, 0x02, 0x06, 0x42], false),
            (.h264, [0x78, 0x00, 0x00, 0x67], false),
            (.h264, [0x7C, 0x85, 0x88], true),
            (.h264, [0x7C, 0x05, 0x88], false),
            (.h264, [0x7C], false),
            (.av1, [0x18, 0x0A], true),
            (.av1, [0x98, 0x0A], false),
            (.av1, [0x10, 0x0A], false),
            (.vp8, [0x10, 0x00], true),
            (.vp8, [], false), (.vp9, [], false), (.h264, [], false), (.av1, [], false),
        ] as [(VideoCodec, [UInt8], Bool)])
    func keyFrames(codec: VideoCodec, payload: [UInt8], isKey: Bool) {
        #expect(codec.beginsKeyFrame(payload.span.bytes) == isKey)
    }

    @Test("AV1's dependency descriptor says key frame and number")
    func dependencyDescriptor() {
        func read(_ bytes: [UInt8]) -> DependencyDescriptor? { DependencyDescriptor(bytes.span.bytes) }
        #expect(read([0x80, 0x01, 0x02, 0x80])?.beginsKeyFrame == true)
        #expect(read([0xC1, 0x01, 0x02])?.beginsKeyFrame == false)
        #expect(read([0x40, 0x01, 0x02, 0x80])?.beginsKeyFrame == false)
        #expect(read([0xC1, 0x01, 0x02])?.frameNumber == 0x0102)
        #expect(read([0xC1, 0x01]) == nil)
        let (plain, structure): ([UInt8], [UInt8]) = ([0x18, 0x0A], [0xC1, 0x01, 0x02])
        let isKey = VideoCodec.av1.beginsKeyFrame(plain.span.bytes, dependencyDescriptor: structure.span.bytes)
        #expect(!isKey, "the descriptor has the say")
    }

    @Test(
        "Opus: duration and silence",
        arguments: [
            ([0x78, 1, 2, 3], 960, false), ([0xF8, 0xFF, 0xFE], 960, false), ([0x18, 1, 2], 2880, false),
            ([0x7B, 0x03, 1], 2880, false), ([0x79, 1, 2], 1920, false), ([0x80, 1, 2], 120, false),
            ([0x78], 960, true), ([0x0B, 0x01], 960, true),
        ] as [([UInt8], UInt32, Bool)])
    func opus(payload: [UInt8], duration: UInt32, isSilence: Bool) {
        let read = OpusPayload(payload.span.bytes)
        #expect(read?.duration == duration)
        #expect(read?.isSilence == isSilence)
    }

    @Test("payloads that are not Opus or RED are rejected")
    func malformedAudio() {
        func opus(_ bytes: [UInt8]) -> OpusPayload? { OpusPayload(bytes.span.bytes) }
        func red(_ bytes: [UInt8]) -> [UInt8]? {
            RedundantAudio.newest(in: bytes.span.bytes).map { [$0.payloadType] + bytes[$0.range] }
        }
        #expect(opus([]) == nil)
        #expect(opus([0x1B]) == nil)
        #expect(opus([0x1B, 0x00]) == nil, "no frame")
        #expect(opus([0x1B, 0x03]) == nil, "180 ms")
        #expect(red([0xEF, 0x0F, 0x00, 0x02, 0x6F, 1, 2, 3, 4]) == [0x6F, 3, 4])
        #expect(red([0x6F, 3, 4]) == [0x6F, 3, 4])
        #expect(red([0xEF, 0x0F, 0x00, 0x09, 0x6F, 1, 2]) == nil)
        #expect(red([0xEF, 0x0F]) == nil)
        #expect(red([]) == nil)
    }

    @Test("every block of redundant audio is found, with the packet that it was sent in first")
    func blocks() {
        func blocks(_ bytes: [UInt8]) -> [[Int]] {
            var found: [[Int]] = []
            RedundantAudio.visit(bytes.span.bytes) { block in
                found.append([Int(block.age), Int(block.timestampOffset)] + bytes[block.range].map { Int($0) })
            }
            return found
        }
        // Offsets of 1,920 and 960, lengths of 2 and 1.
        let two: [UInt8] = [0xEF, 0x1E, 0x00, 0x02, 0xEF, 0x0F, 0x00, 0x01, 0x6F, 1, 2, 3, 4, 5]
        #expect(blocks(two) == [[2, 1920, 1, 2], [1, 960, 3], [0, 0, 4, 5]])
        #expect(blocks([0xEF, 0x0F, 0x00, 0x00, 0x6F, 4]) == [[0, 0, 4]], "an empty one is left out")
        #expect(blocks([0xEF, 0x0F, 0x00, 0x01, 0x6F, 4]) == [[1, 960, 4]])
        #expect(blocks([0xEF, 0x0F, 0x00, 0x02, 0x6F, 4]).isEmpty)
    }

    @Test("random payloads never trap")
    func noise() {
        var random = SeededRandom(seed: 0x5EED_0006)
        for _ in 0..<20_000 {
            let bytes = random.bytes(Int.random(in: 0...24, using: &random))
            for codec in VideoCodec.allCases {
                _ = codec.beginsKeyFrame(bytes.span.bytes, dependencyDescriptor: nil)
                _ = codec.beginsKeyFrame(bytes.span.bytes, dependencyDescriptor: bytes.span.bytes)
            }
            _ = OpusPayload(bytes.span.bytes)
            if let newest = RedundantAudio.newest(in: bytes.span.bytes) {
                #expect(newest.range.upperBound == bytes.count)
            }
            RedundantAudio.visit(bytes.span.bytes) { #expect($0.range.upperBound <= bytes.count && !$0.range.isEmpty) }
        }
    }
}
