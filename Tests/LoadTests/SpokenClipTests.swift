import Audio
import Containers
import RTP
import Testing
import Wire

@testable import switchboard_load

@Suite("Speech of a load's publishers")
struct SpokenClipTests {
    private static func frames(_ count: Int) throws -> [[UInt8]] {
        let encoder = try VoiceEncoder(.wide)
        return try (0..<count).map { number -> [UInt8] in
            let samples = (0..<encoder.frameCount).map { index -> Int16 in
                let turn: Int = (index + number * 7) % 80
                return Int16(turn * 200 - 8_000)
            }
            return try encoder.encode(samples)
        }
    }

    private static func decode(_ packets: [[UInt8]]) throws -> [Int16] {
        let decoder = try VoiceDecoder(.wide)
        var samples: [Int16] = []
        for packet in packets { #expect(decoder.decode(packet, into: &samples)) }
        return samples
    }

    /// The same frames as packets of each code (RFC 6716 section 3.2): one frame, two of a size, two, many.
    private static func codes(_ frames: [[UInt8]]) -> [[UInt8]] {
        frames.flatMap { frame -> [[UInt8]] in
            let (first, rest) = (frame[0] & 0xFC, frame.dropFirst())
            let size = UInt8(clamping: rest.count)
            let heads: [(head: [UInt8], count: Int, padding: [UInt8])] = [
                ([first], 1, []), ([first | 1], 2, []), ([first | 2, size], 2, []), ([first | 3, 3], 3, []),
                ([first | 3, 0x82, size], 2, []), ([first | 3, 0x41, 2], 1, [0, 0]),
            ]
            return heads.map { head, count, padding in
                var packet = head
                for _ in 0..<count { packet += rest }
                return packet + padding
            }
        }
    }

    @Test("a packet with padding for the mark decodes as before, whatever the mark is")
    func padding() throws {
        let packets = Self.codes(try Self.frames(20))
        let padded = try packets.map { packet in
            let duration = try #require(OpusPayload(packet.span.bytes)?.duration)
            var payload = Array(try #require(SpokenClip.Packet(packet, duration: duration)).payload)
            #expect(OpusPayload(payload.span.bytes)?.duration == duration)
            let end = payload.count
            let mark = MediaMark(source: .max, number: 1, sentAt: .max)
            var span = payload.mutableSpan
            var target = span.mutableBytes
            mark.write(into: &target, endingAt: end)
            #expect(MediaMark(payload.span.bytes) == mark)
            return payload
        }
        #expect(try Self.decode(padded) == Self.decode(packets))
    }

    @Test("files are sent completely, followed by silence")
    func files() throws {
        var writer = OggOpusWriter(serial: 1, head: OpusHead(preSkip: 312))
        var file = writer.begin(OpusTags(vendor: "test"))
        let frames = try Self.frames(30)
        for frame in frames { file += writer.append(frame[...], duration: 960) }
        file += writer.end()
        let clip = try SpokenClip([file, file], pause: 1.5)
        #expect(clip.ends == [29, 105 + 29])
        #expect(clip.packets.count == 2 * (30 + 75))
        #expect(clip.packets.prefix(105).elementsEqual(clip.packets.suffix(105)))
        #expect(clip.packets.allSatisfy { $0.duration == 960 })
        let audio = try Self.decode(clip.packets.prefix(105).map { Array($0.payload) })
        #expect(audio.prefix(30 * 320).elementsEqual(try Self.decode(frames)))
        #expect(Waveform.level(of: audio.suffix(16_000)) == -127)
    }

    @Test("a file that is not Opus is an error")
    func broken() {
        #expect(throws: (any Error).self) { try SpokenClip([Array("RIFF".utf8)], pause: 1) }
        #expect(SpokenClip.Packet([], duration: 960) == nil)
        #expect(SpokenClip.Packet([0xFB], duration: 960) == nil)
        #expect(SpokenClip.Packet([0xFB, 0x41, 240, 1], duration: 960) == nil)
    }
}
