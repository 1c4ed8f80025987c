import Containers
import Testing
import Wire

@Suite("Opus in Ogg, as it comes")
struct OggStreamTests {
    private func read(_ file: [UInt8], by step: Int) throws -> (stream: OggOpusStream, packets: [[UInt8]]) {
        var stream = OggOpusStream(limit: OpusLimit(seconds: 60))
        var packets: [[UInt8]] = []
        for start in stride(from: 0, to: file.count, by: step) {
            stream.append(Array(file[start..<min(start + step, file.count)]))
            while let page = try stream.nextPage() { packets += page.map(\.bytes) }
        }
        return (stream, packets)
    }

    private func written(_ count: Int) -> (file: [UInt8], packets: [[UInt8]]) {
        let sent = packets([1, 254, 255, 256, 510, 1_275, 3] + (0..<count).map { 40 + $0 % 300 })
        var writer = OggOpusWriter(serial: 7, head: OpusHead(preSkip: 312))
        var file = writer.begin(OpusTags(vendor: "Switchboard"))
        for packet in sent { file += writer.append(packet[...], duration: 960) }
        return (file + writer.end(leavingOut: 100), sent)
    }

    @Test("in pieces of any size it is what the whole is", arguments: [1, 26, 27, 1_000, 1_000_000])
    func chunks(step: Int) throws {
        for file in [try Files.named("tone.ogg"), try Files.named("stereo.ogg"), written(300).file] {
            let whole = try Files.read(file)
            let (stream, packets) = try read(file, by: step)
            #expect(packets == whole.packets)
            #expect(stream.sampleCount == whole.sampleCount)
            #expect(stream.head == whole.head)
        }
    }

    @Test("a page is given before the next one is there")
    func early() throws {
        let (file, sent) = written(300)
        let starts = pageStarts(file)
        var stream = OggOpusStream(limit: OpusLimit(seconds: 60))
        stream.append(Array(file[..<starts[3]]))
        #expect(try stream.nextPage() == [], "the comments")
        let first = try #require(try stream.nextPage())
        #expect(first.map(\.bytes) == Array(sent.prefix(50)) && first.allSatisfy { $0.duration == 960 })
        #expect(try stream.nextPage() == nil)
        #expect(stream.sampleCount == nil)
    }

    @Test("it ends where the file is cut off or damaged, and what comes behind the end is nothing")
    func ends() throws {
        let (file, sent) = written(300)
        let starts = pageStarts(file)
        #expect(try read(Array(file[..<(starts[3] + 100)]), by: 500).packets == Array(sent.prefix(50)))
        var damaged = file
        damaged[starts[3] + 50] ^= 1
        #expect(try read(damaged, by: 500).packets == Array(sent.prefix(50)))
        #expect(try read(file + file, by: 500).packets == sent)
    }

    @Test("what is wrong is said")
    func errors() throws {
        let (file, _) = written(1)
        let starts = pageStarts(file)
        #expect(throws: ContainerError.malformed("an Ogg page is missing", at: starts[1])) {
            try read(Array(file[..<starts[1]] + file[starts[2]...]), by: 1_000_000)
        }
        #expect(throws: ContainerError.malformed("there is no Ogg page", at: 0)) {
            try read([UInt8](repeating: 1, count: 60), by: 7)
        }
        #expect(throws: ContainerError.tooLong(seconds: 60)) { try read(written(3_001).file, by: 4_000) }
    }
}
