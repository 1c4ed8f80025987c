import Containers
import Testing
import Wire

@Suite("Opus in WebM")
struct WebMTests {
    @Test("what FFmpeg wrote, also when it did not know how long it would be", arguments: ["tone.webm", "live.webm"])
    func foreign(name: String) throws {
        let track = try Files.read(Files.named(name))
        let same = try Files.read(Files.named("tone.ogg"))
        #expect(track.packets == same.packets)
        #expect(track.head.channelCount == 1)
        #expect(track.head.preSkip == 312)
        #expect(!track.isTruncated)
        // The live one says nothing of the end of its last packet.
        #expect((60_000...60_000 + 959).contains(track.sampleCount))
    }

    @Test("it may end anywhere")
    func truncated() throws {
        let file = try Files.named("live.webm")
        let whole = try Files.read(file)
        // With the first cluster it is known what there is.
        let cluster = try #require(file.indices.first { file[$0...].starts(with: [0x1F, 0x43, 0xB6, 0x75]) }) + 12
        var counts: Set<Int> = []
        for count in 0..<file.count {
            do {
                let track = try Files.read(Array(file.prefix(count)))
                #expect(track.packets == Array(whole.packets.prefix(track.packetCount)))
                counts.insert(track.packetCount)
            } catch let error as ContainerError {
                #expect(count < cluster, "\(error)")
            }
        }
        #expect(counts.count == whole.packetCount + 1)
    }

    @Test("laced frames are apart again", arguments: Lacing.allCases)
    func lacing(lacing: Lacing) throws {
        let sizes = [Lacing.none: [60], .fixed: [60, 60, 60]]
        let frames = packets(sizes[lacing] ?? [300, 20, 510])
        let track = try Files.read(webM([(time: 0, block: lacing.block(frames))]))
        #expect(track.packets == frames)
        #expect(track.packet(frames.count - 1).start == UInt64(frames.count - 1) * 960)
    }

    @Test("a pause stays a pause, and what is rounded does not")
    func pause() throws {
        let blocks = packets([10, 11, 12]).enumerated().map { index, frame in
            (time: Int16([0, 21, 1_021][index]), block: Lacing.none.block([frame]))
        }
        let track = try Files.read(webM(blocks))
        #expect((0..<3).map { track.packet($0).start } == [0, 960, 1_021 * 48])
        #expect(track.sampleCount == 1_021 * 48 + 960)
        #expect(throws: ContainerError.tooLong(seconds: 1)) { try Files.read(webM(blocks), seconds: 1) }
    }

    @Test("what is wrong is said")
    func errors() throws {
        #expect(throws: ContainerError.noOpus) { try Files.read(webM([], codec: "A_VORBIS")) }
        #expect(throws: ContainerError.unsupported("an EBML file that is not WebM")) {
            try Files.read(webM([], type: "anything"))
        }
        #expect(throws: ContainerError.unsupported("compressed or encrypted audio in WebM")) {
            try Files.read(webM([], entry: element([0x6D, 0x80], [])))
        }
        #expect(throws: ContainerError.self) { try Files.read(webM([(time: 0, block: [0x02])])) }
        #expect(throws: ContainerError.self) { try Files.read(webM([(time: 0, block: [0x06, 9, 0xFF])])) }
        #expect(throws: ContainerError.self) { try Files.read([0x1A, 0x45, 0xDF, 0xA3]) }
    }
}

enum Lacing: UInt8, CaseIterable {
    case none = 0
    case xiph = 1
    case fixed = 2
    case ebml = 3

    func block(_ frames: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = [rawValue << 1]
        if self != .none { bytes.append(UInt8(frames.count - 1)) }
        switch self {
        case .none, .fixed: break
        case .xiph:
            for frame in frames.dropLast() {
                bytes += [UInt8](repeating: 255, count: frame.count / 255) + [UInt8(frame.count % 255)]
            }
        case .ebml:
            var last = 0
            for (index, frame) in frames.dropLast().enumerated() {
                // Two bytes each: the first as it is, the next as differences with a bias.
                let value = index == 0 ? frame.count : frame.count - last + 8_191
                bytes += [0x40 | UInt8(value >> 8), UInt8(value & 0xFF)]
                last = frame.count
            }
        }
        return bytes + frames.flatMap(\.self)
    }
}

func element(_ id: [UInt8], _ data: [UInt8]) -> [UInt8] {
    id + [
        0x10 | UInt8(data.count >> 24), UInt8(data.count >> 16 & 255), UInt8(data.count >> 8 & 255),
        UInt8(data.count & 255),
    ]
        + data
}

/// A file with one cluster. The blocks begin with their flags.
func webM(
    _ blocks: [(time: Int16, block: [UInt8])], codec: String = "A_OPUS", type: String = "webm", entry: [UInt8] = []
) -> [UInt8] {
    let track =
        element([0xD7], [1]) + element([0x86], Array(codec.utf8)) + element([0x63, 0xA2], OpusHead(preSkip: 0).bytes)
        + entry
    let cluster = blocks.reduce(element([0xE7], [0])) { bytes, one in
        let time = UInt16(bitPattern: one.time)
        return bytes + element([0xA3], [0x81, UInt8(time >> 8), UInt8(time & 255)] + one.block)
    }
    return element([0x1A, 0x45, 0xDF, 0xA3], element([0x42, 0x82], Array(type.utf8)))
        + element(
            [0x18, 0x53, 0x80, 0x67],
            element([0x16, 0x54, 0xAE, 0x6B], element([0xAE], track)) + element([0x1F, 0x43, 0xB6, 0x75], cluster))
}
