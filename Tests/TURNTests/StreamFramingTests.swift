import STUN
import TURN
import TestSupport
import Testing
import Wire

@Suite("TURN in a stream of bytes")
struct StreamFramingTests {
    private static let binding: [UInt8] = [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)
    private static let attributed: [UInt8] =
        [0, 1, 0, 8, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12) + [0x80, 0x22, 0, 4, 65, 66, 67, 68]
    private static func channelData(_ count: Int) -> [UInt8] {
        [0x40, 1, UInt8(count >> 8), UInt8(count & 0xFF)] + [UInt8](repeating: 9, count: (count + 3) & ~3)
    }

    private func next(_ bytes: [UInt8]) -> StreamFraming.Next {
        StreamFraming.next(bytes.span.bytes)
    }

    /// The frames of a stream that arrives in these pieces, nil when it is malformed.
    private func frames(_ chunks: [[UInt8]]) -> [[UInt8]]? {
        var found: [[UInt8]] = []
        var held: [UInt8] = []
        for chunk in chunks {
            held += chunk
            loop: while !held.isEmpty {
                switch next(held) {
                case .frame(let count):
                    found.append(Array(held.prefix(count)))
                    held.removeFirst(count)
                case .incomplete(let byteCount):
                    #expect(byteCount > held.count)
                    break loop
                case .malformed:
                    return nil
                }
            }
        }
        return found
    }

    @Test("frames come out whole wherever the stream is cut")
    func everySplit() {
        let messages = [Self.binding, Self.channelData(5), Self.attributed, Self.channelData(0), Self.channelData(8)]
        let stream = messages.flatMap { $0 }
        for first in 0...stream.count {
            for second in stream.indices.suffix(from: min(first, stream.count - 1)) {
                let chunks = [
                    Array(stream[..<first]), Array(stream[first..<max(first, second)]),
                    Array(stream[max(first, second)...]),
                ]
                #expect(frames(chunks) == messages)
            }
        }
        #expect(frames(stream.map { [$0] }) == messages)
    }

    @Test("ChannelData is padded to a multiple of four, and its length is its payload's")
    func padding() {
        #expect(next([0x40, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0]) == .incomplete(12))
        #expect(next([0x40, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0]) == .frame(12))
        #expect(next([0x40, 0, 0, 4, 1, 2, 3, 4]) == .frame(8))
        #expect(next([0x7F, 0xFF, 0, 0]) == .frame(4))
    }

    @Test("lengths near 65,536 do not wrap")
    func largeLengths() {
        #expect(next([0x40, 0, 0xFF, 0xFF]) == .incomplete(65_540))
        #expect(next([0x40, 0, 0xFF, 0xFD]) == .incomplete(65_540))
        #expect(next([0, 1, 0xFF, 0xFC, 0x21, 0x12, 0xA4, 0x42]) == .incomplete(65_552))
        #expect(next([0, 1, 0xFF, 0xEC]) == .incomplete(65_536))
        #expect(StreamFraming.maximumByteCount == 65_552)
        let whole = [0x40, 0, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 65_536)
        #expect(next(whole) == .frame(65_540))
        #expect(next(Array(whole.dropLast())) == .incomplete(65_540))
    }

    @Test("what cannot begin a message is malformed as soon as that shows")
    func malformed() {
        #expect(next([0x80]) == .malformed)
        #expect(next([0xFF, 0, 0, 0]) == .malformed)
        #expect(next([0, 1, 0, 1]) == .malformed)
        #expect(next([0, 1, 0, 2, 0x21, 0x12, 0xA4, 0x42]) == .malformed)
        #expect(next([0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x43]) == .malformed)
        #expect(next([]) == .incomplete(4))
        #expect(next([0, 1, 0, 0, 0x21, 0x12, 0xA4]) == .incomplete(20))
    }

    @Test("random streams of messages, cut at random, come out as they went in")
    func randomStreams() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            let messages = (0..<Int(random.next() % 12)).map { _ -> [UInt8] in
                let size = Int(random.next() % 3 == 0 ? random.next() % 3000 : random.next() % 40)
                return random.next() % 2 == 0 ? Self.channelData(size) : stunMessage(size & ~3, &random)
            }
            var rest = messages.flatMap { $0 }[...]
            var chunks: [[UInt8]] = []
            while !rest.isEmpty {
                let count = 1 + Int(random.next() % 200)
                chunks.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(frames(chunks) == messages, "seed \(seed)")
        }
        // Noise: whatever it is, no frame is longer than what is there or than a message can be.
        for _ in 0..<2000 {
            var bytes = random.bytes(Int(random.next() % 64))
            if random.next() % 2 == 0, bytes.count >= 8 {
                bytes.replaceSubrange(4..<8, with: [0x21, 0x12, 0xA4, 0x42])
            }
            switch next(bytes) {
            case .frame(let count): #expect((4...bytes.count).contains(count), "seed \(seed)")
            case .incomplete(let byteCount):
                #expect((bytes.count + 1...StreamFraming.maximumByteCount).contains(byteCount), "seed \(seed)")
            case .malformed: break
            }
        }
    }

    private func stunMessage(_ size: Int, _ random: inout SeededRandom) -> [UInt8] {
        let header = [UInt8(random.next() % 0x40), 1, UInt8(size >> 8), UInt8(size & 0xFF), 0x21, 0x12, 0xA4, 0x42]
        return header + random.bytes(12 + size)
    }

    @Test("the first bytes distinguish TLS, TURN and everything else")
    func openings() {
        func opening(_ bytes: [UInt8]) -> DetectedProtocol { DetectedProtocol(bytes.span.bytes) }
        #expect(opening([]) == .incomplete)
        #expect(opening([0x16]) == .tls)
        #expect(opening([0x16, 3, 1, 2]) == .tls)
        #expect(opening([0x16, 2]) == .unknown)
        #expect(opening(Self.binding) == .turn)
        for count in 1..<8 { #expect(opening(Array(Self.binding.prefix(count))) == .incomplete) }
        #expect(opening(Array("GET / HTTP/1.1\r\n".utf8)) == .unknown)
        #expect(opening(Array("\r\n\r\n\0\r\nQUIT\n".utf8)) == .unknown)
        #expect(opening([0, 1, 0, 0, 1, 2, 3, 4]) == .unknown)
        #expect(opening(Self.channelData(4)) == .unknown)
        #expect(opening([0x80]) == .unknown)
    }
}
