import Containers
import Testing
import Wire

@Suite("Opus in Ogg")
struct OggTests {
    private func write(
        _ packets: [[UInt8]], leavingOut samples: UInt64 = 0, tags: OpusTags = OpusTags(vendor: "Switchboard")
    ) -> [UInt8] {
        var writer = OggOpusWriter(serial: 7, head: OpusHead(preSkip: 312))
        var file = writer.begin(tags)
        for packet in packets { file += writer.append(packet[...], duration: 960) }
        return file + writer.end(leavingOut: samples)
    }

    @Test("what FFmpeg wrote", arguments: [("tone.ogg", 1, 60_000), ("stereo.ogg", 2, 72_000)])
    func foreign(name: String, channels: Int, samples: UInt64) throws {
        let track = try Files.read(Files.named(name))
        #expect(track.head.channelCount == channels)
        #expect(track.head.preSkip == 312)
        #expect(track.sampleCount == samples)
        #expect(!track.isTruncated)
        #expect(track.packetCount == Int(samples + 312 + 959) / 960)
    }

    @Test("written is what is read, also packets that fill segments and pages")
    func roundTrip() throws {
        let written = packets([1, 2, 254, 255, 256, 510, 1_275, 3] + (0..<400).map { 40 + $0 % 300 })
        let file = write(written, leavingOut: 100)
        let track = try Files.read(file)
        #expect(track.packets == written)
        #expect(track.sampleCount == UInt64(written.count) * 960 - 312 - 100)
        #expect(track.head == OpusHead(preSkip: 312))
        #expect(!track.isTruncated)
        #expect(track.packet(5).start == 4_800)
    }

    @Test("comments of any length", arguments: [0, 230, 255, 65_024, 65_025, 65_026, 140_000])
    func comments(count: Int) throws {
        // What is in front of the comment's text.
        let text = String(repeating: "x", count: max(0, count - 8 - 4 - 2 - 4 - 4))
        let file = write(packets([30]), tags: OpusTags(vendor: "ab", comments: [text]))
        #expect(try Files.read(file).packetCount == 1)
    }

    @Test("a writer that is killed leaves all but its last page")
    func truncated() throws {
        let written = packets((0..<120).map { 50 + $0 % 9 })
        var writer = OggOpusWriter(serial: 7, head: OpusHead(preSkip: 312))
        var file = writer.begin(OpusTags(vendor: "Switchboard"))
        var pages: [Int] = []
        for packet in written {
            let page = writer.append(packet[...], duration: 960)
            file += page
            if !page.isEmpty { pages.append(file.count) }
        }
        #expect(pages.count == 2, "a page for each second")
        let whole = try Files.read(file)
        #expect(whole.isTruncated)
        #expect(whole.packets == Array(written.prefix(100)))
        // In the middle of a page, all before it is there.
        for end in (pages[0] + 1)..<pages[1] {
            let part = try Files.read(Array(file.prefix(end)))
            #expect(part.isTruncated)
            #expect(part.packetCount == 50)
        }
        var damaged = file
        damaged[pages[1] - 5] ^= 1
        #expect(try Files.read(damaged).packetCount == 50)
        #expect(try Files.read(file + writer.flush()).packetCount == 120)
    }

    @Test("a stream that was joined begins where it was joined")
    func joined() throws {
        var file = write(packets([30, 31, 32]))
        // The page behind those of the head and the comments says that a second went before it.
        let start = pageStarts(file)[2]
        file[start + 7] += 0xBB
        file[start + 6] += 0x80
        seal(&file, at: start)
        let track = try Files.read(file)
        #expect(track.sampleCount == 3 * 960 - 312)
    }

    @Test("a file with video besides the audio")
    func others() throws {
        let file = write(packets([30, 31, 32]))
        let starts = pageStarts(file)
        var beside = Array(file[starts[1]..<starts[2]])
        beside[14] = 9
        seal(&beside, at: 0)
        let mixed = Array(file[..<starts[1]]) + beside + Array(file[starts[1]...])
        #expect(try Files.read(mixed).packetCount == 3)
    }

    @Test("a page that says it is the last, and is not, ends nothing")
    func endInTheMiddle() throws {
        let sent = packets((0..<150).map { 50 + $0 % 9 })
        var file = write(sent, leavingOut: 100)
        let whole = try Files.read(file)
        let starts = pageStarts(file)
        for start in starts[2..<4] {
            file[start + 5] |= 4
            seal(&file, at: start)
        }
        let track = try Files.read(file)
        #expect(track.packets == sent && track.sampleCount == whole.sampleCount && !track.isTruncated)
        let cut = Array(file[..<starts[4]])
        #expect(try Files.read(cut).packetCount == 100 && !Files.read(cut).isTruncated)
        // What goes on after it goes on without a gap.
        #expect(throws: ContainerError.malformed("an Ogg page is missing", at: starts[3])) {
            try Files.read(Array(file[..<starts[3]] + file[starts[4]...]))
        }
        var stream = OggOpusStream(limit: OpusLimit(seconds: 60))
        stream.append(file)
        var packets: [[UInt8]] = []
        while let page = try stream.nextPage() { packets += page.map(\.bytes) }
        #expect(packets == sent && stream.sampleCount == whole.sampleCount)
    }

    @Test("what is wrong is said")
    func errors() throws {
        #expect(throws: ContainerError.unknownFormat) { try Files.read([]) }
        #expect(throws: ContainerError.unknownFormat) { try Files.read(Array("RIFF and so on".utf8)) }
        let file = write(packets([30, 31, 32]))
        let starts = pageStarts(file)
        #expect(throws: ContainerError.malformed("the Ogg page ends too early", at: 0)) {
            try Files.read(Array(file.prefix(40)))
        }
        #expect(throws: ContainerError.malformed("the file ends before its audio", at: starts[1])) {
            try Files.read(Array(file.prefix(starts[1])))
        }
        #expect(throws: ContainerError.malformed("an Ogg page is missing", at: starts[1])) {
            try Files.read(Array(file[..<starts[1]] + file[starts[2]...]))
        }
        var damaged = file
        damaged[starts[1] + 30] ^= 1
        #expect(throws: ContainerError.malformed("the Ogg page is damaged", at: starts[1])) {
            try Files.read(damaged)
        }
        // Chained files: the second would not be played.
        #expect(throws: ContainerError.unsupported("a second stream after the first")) { try Files.read(file + file) }
        #expect(try Files.read(file + Array("and so on".utf8)).packetCount == 3)
    }

    @Test("no more than is allowed is read, however few bytes it is")
    func limit() throws {
        // A byte for 60 ms.
        let file = write([[UInt8]](repeating: [0x18], count: 100))
        #expect(try Files.read(file, seconds: 6).packetCount == 100)
        #expect(throws: ContainerError.tooLong(seconds: 5)) { try Files.read(file, seconds: 5) }
    }
}
