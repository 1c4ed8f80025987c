import RTP
import SDP
import Testing
import Wire

@testable import switchboard_load

@Suite("What an echo sends back")
struct EchoStreamTests {
    private static let source: UInt32 = 0x1111
    private static let vp8 = EchoRoute.Codec(payloadType: 96, retransmission: 97, hasNACK: true)
    private static let opus = EchoRoute.Codec(payloadType: 111, retransmission: nil, hasNACK: false)
    private static let start = Instant(nanoseconds: 5_000_000_000)

    private let extensions: HeaderExtensionIDs
    private let stream: EchoStream

    init() {
        var extensions = HeaderExtensionIDs()
        extensions[.mediaIdentification] = 4
        extensions[.transportSequence] = 3
        self.extensions = extensions
        var random = SeededRandom(seed: 11)
        stream = EchoStream(Self.route(), extensions, &random)
    }

    private static func route(
        _ kind: MediaKind = .video, mid: String = "1", sources: [EchoRoute.Source] = [], ssrc: UInt32 = 0xAAAA
    ) -> EchoRoute {
        EchoRoute(
            kind: kind, receivedMID: mid, sources: sources, codecs: [kind == .audio ? opus : vp8], sentMID: mid,
            ssrc: ssrc, retransmissionSSRC: ssrc &+ 1, name: "echo")
    }

    private static func packet(
        _ sequence: UInt16, timestamp: UInt32 = 9000, ssrc: UInt32 = source, type: UInt8 = 96, mid: UInt8? = nil,
        payload: [UInt8] = [1, 2, 3]
    ) -> [UInt8] {
        func big(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        // A mid of one character, as an element of id 4.
        let block: [UInt8] = mid.map { [0xBE, 0xDE, 0, 1, 0x40, $0, 0, 0] } ?? []
        return [mid == nil ? 0x80 : 0x90, type] + big(UInt32(sequence), 2) + big(timestamp, 4) + big(ssrc, 4) + block
            + payload
    }

    /// A packet that is sent back.
    private struct Sent {
        let header: RTPHeader
        let payload: [UInt8]
        let mid: [UInt8]?
        let transportSequence: UInt16?
    }

    private func read(_ bytes: [UInt8], count: Int?) throws -> Sent? {
        guard let count else { return nil }
        let packet = try RTPPacket(bytes.span.bytes.extracting(0..<count))
        var mid: [UInt8]?
        if let value = packet.element(.mediaIdentification, extensions) { mid = value.copyToArray() }
        return Sent(
            header: packet.header, payload: packet.payload.copyToArray(), mid: mid,
            transportSequence: packet.transportSequence(extensions))
    }

    private func receive(_ bytes: [UInt8], isRepair: Bool = false, at now: Instant = start) throws -> Sent? {
        var values = ExtensionValues()
        values.transportSequence = 7
        var buffer = [UInt8](repeating: 0, count: 2048)
        let packet = try RTPPacket(bytes.span.bytes)
        var span = buffer.mutableSpan
        var target = span.mutableBytes
        let count = stream.receive(packet, isRepair: isRepair, values, at: now, into: &target)
        return try read(buffer, count: count)
    }

    private func resend(_ lost: UInt16) throws -> Sent? {
        var buffer = [UInt8](repeating: 0, count: 2048)
        var span = buffer.mutableSpan
        var target = span.mutableBytes
        let count = stream.resend(lost, ExtensionValues(), into: &target)
        return try read(buffer, count: count)
    }

    @Test("packets keep payload, type and distances, and get the source and the mid of what is sent")
    func rewriting() throws {
        let first = try #require(try receive(Self.packet(100, timestamp: 9000, payload: [1, 2, 3])))
        let second = try #require(try receive(Self.packet(102, timestamp: 12000, payload: [4, 5])))
        #expect(first.payload == [1, 2, 3] && second.payload == [4, 5])
        #expect(first.header.ssrc == 0xAAAA && first.header.payloadType == 96)
        #expect(first.mid == Array("1".utf8) && first.transportSequence == 7)
        #expect(second.header.sequence &- first.header.sequence == 2, "a lost packet leaves its gap")
        #expect(second.header.timestamp &- first.header.timestamp == 3000)
        #expect(stream.source == Self.source && stream.packetCount == 2)
    }

    @Test("a packet of a type that was not negotiated is not sent back")
    func otherType() throws {
        #expect(try receive(Self.packet(1, type: 98)) == nil)
        #expect(stream.source == nil && stream.packetCount == 0)
    }

    @Test("a lost packet is requested, and its retransmission fills the gap once")
    func repair() throws {
        let before = try #require(try receive(Self.packet(10)))
        _ = try receive(Self.packet(12))
        var lost: [UInt16] = []
        stream.collectLost(at: Self.start.adding(nanoseconds: 20_000_000), into: &lost)
        #expect(lost == [11])
        let repaired = try #require(try receive(Self.packet(11), isRepair: true))
        #expect(repaired.header.sequence == before.header.sequence &+ 1)
        #expect(try receive(Self.packet(11), isRepair: true) == nil)
        stream.collectLost(at: Self.start.adding(nanoseconds: 900_000_000), into: &lost)
        #expect(lost.isEmpty)
    }

    @Test("what was sent back and lost is sent again as a retransmission")
    func resending() throws {
        let sent = try #require(try receive(Self.packet(10, payload: [7, 8, 9])))
        let number = sent.header.sequence
        let first = try #require(try resend(number))
        #expect(first.header.payloadType == 97 && first.header.ssrc == 0xAAAB)
        #expect(first.payload == [UInt8(number >> 8), UInt8(truncatingIfNeeded: number), 7, 8, 9])
        let second = try #require(try resend(number))
        #expect(second.header.sequence == first.header.sequence &+ 1)
        #expect(try resend(number &+ 1) == nil, "it was not sent yet")
    }

    @Test("another source continues the stream")
    func anotherSource() throws {
        let last = try #require(try receive(Self.packet(500, timestamp: 1000)))
        let later = Self.start.adding(nanoseconds: 100_000_000)
        let next = try #require(try receive(Self.packet(20_000, timestamp: 77, ssrc: 0x2222), at: later))
        #expect(next.header.ssrc == 0xAAAA && next.header.sequence == last.header.sequence &+ 1)
        #expect(next.header.timestamp &- last.header.timestamp == 9000, "0.1 s have passed")
        #expect(stream.source == 0x2222)
    }

    @Test("requests for key frames are passed on, at most twice a second")
    func keyFrames() {
        func take(after milliseconds: UInt64) -> Bool {
            stream.takeKeyFrameRequest(at: Self.start.adding(nanoseconds: milliseconds * 1_000_000))
        }
        #expect(!take(after: 0), "nobody requested one")
        stream.requestKeyFrame()
        #expect(take(after: 0) && !take(after: 600))
        stream.requestKeyFrame()
        #expect(take(after: 600))
        stream.requestKeyFrame()
        #expect(!take(after: 800) && take(after: 1100), "an early one is passed on later")
    }

    @Test("sender reports map the timestamps that are sent to the sender's clock")
    func reports() throws {
        let report = SenderReport(
            ssrc: Self.source, ntpTime: 1 << 40, rtpTimestamp: 9500, packetCount: 40, byteCount: 4000)
        #expect(stream.report(for: report, at: Self.start) == nil, "nothing was sent back yet")
        let sent = try #require(try receive(Self.packet(10, timestamp: 9000)))
        let made = try #require(stream.report(for: report, at: Self.start))
        #expect(made.ssrc == 0xAAAA && made.ntpTime == report.ntpTime)
        #expect(made.rtpTimestamp &- sent.header.timestamp == 500)
        #expect(made.packetCount == 1 && made.byteCount == 3)
        let block = try #require(stream.reportBlock(at: Self.start))
        #expect(block.ssrc == Self.source && block.lastSenderReport == report.compactTime)
    }

    @Test("packets find their route by SSRC, mid or type")
    func demultiplexing() throws {
        let source = EchoRoute.Source(ssrc: 5, retransmission: 6)
        let routes = [
            Self.route(.audio, mid: "0"), Self.route(mid: "1", sources: [source]), Self.route(mid: "2", ssrc: 0xCCCC),
        ]
        var demultiplexer = EchoDemultiplexer(routes, extensions)
        func target(_ bytes: [UInt8]) throws -> EchoDemultiplexer.Target? {
            demultiplexer.target(of: try RTPPacket(bytes.span.bytes))
        }
        #expect(try target(Self.packet(1, ssrc: 5)) == .init(index: 1, isRepair: false))
        #expect(try target(Self.packet(1, ssrc: 6, type: 97)) == .init(index: 1, isRepair: true))
        #expect(try target(Self.packet(1, ssrc: 50, type: 111)) == .init(index: 0, isRepair: false))
        #expect(try target(Self.packet(1, ssrc: 60)) == nil, "either of two sections")
        #expect(try target(Self.packet(1, ssrc: 60, mid: UInt8(ascii: "2"))) == .init(index: 2, isRepair: false))
        #expect(try target(Self.packet(2, ssrc: 60)) == .init(index: 2, isRepair: false), "known by now")
        #expect(
            try target(Self.packet(1, ssrc: 61, type: 97, mid: UInt8(ascii: "2"))) == .init(index: 2, isRepair: true))
        #expect(try target(Self.packet(1, ssrc: 70, type: 100)) == nil)
    }
}
