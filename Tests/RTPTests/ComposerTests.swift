import RTP
import TestSupport
import Testing
import Wire

@Suite("Composing packets")
struct ComposerTests {
    static func compose(
        _ composer: PacketComposer, _ source: [UInt8], _ header: RTPHeader, _ values: ExtensionValues = .init(),
        originalSequence: UInt16? = nil, space: Int = 1500
    ) throws -> [UInt8]? {
        var target = [UInt8](repeating: 0xEE, count: space)
        let packet = try RTPPacket(source.span.bytes)
        var span = target.mutableSpan
        var bytes = span.mutableBytes
        let composed = composer.write(
            packet, header: header, values: values, originalSequence: originalSequence, into: &bytes)
        return composed.map { Array(target.prefix($0.byteCount)) }
    }

    private let header = RTPHeader(payloadType: 100, marker: true, sequence: 7, timestamp: 8, ssrc: 9)

    @Test("extensions are mapped, stripped and set, byte for byte")
    func mapped() throws {
        var source = HeaderExtensionIDs()
        source[.audioLevel] = 1
        source[.transportSequence] = 3
        var target = HeaderExtensionIDs()
        target[.audioLevel] = 14
        target[.transportSequence] = 5
        target[.absoluteSendTime] = 2
        target[.mediaIdentification] = 4
        var values = ExtensionValues()
        values.transportSequence = 0x0102
        values.absoluteSendTime = 0x0A0B0C
        values.mediaIdentification = Array("s1".utf8)
        let written = try Self.compose(PacketComposer(from: source, to: target), PacketBytes.full, header, values)
        #expect(
            written == [
                0x91, 0xE4, 0x00, 0x07, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x09,
                0x11, 0x22, 0x33, 0x44,
                0xBE, 0xDE, 0x00, 0x03, 0xE0, 0x85, 0x51, 0x01, 0x02, 0x22, 0x0A, 0x0B, 0x0C, 0x41, 0x73, 0x31,
                0xDE, 0xAD, 0xBE, 0xEF,
            ])
    }

    @Test("the playout delay is bounded, and the capture time is converted to our clock")
    func adapted() throws {
        func written(_ kind: HeaderExtension, _ value: [UInt8], _ values: ExtensionValues = .init()) throws -> [UInt8] {
            var ids = HeaderExtensionIDs()
            ids[kind] = 6
            var block = [0x60 | UInt8(value.count - 1)] + value
            while block.count % 4 != 0 { block.append(0) }
            let source = [0x90, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xBE, 0xDE, 0, UInt8(block.count / 4)] + block + [7]
            let bytes = try #require(try Self.compose(PacketComposer(from: ids, to: ids), source, header, values))
            let packet = try RTPPacket(bytes.span.bytes)
            guard let element = packet.element(kind, ids) else { return [] }
            return element.copyToArray()
        }
        // 10 s at least and 40.95 s at most; 500 and 510 ms; none.
        #expect(try written(.playoutDelay, [0x3E, 0x8F, 0xFF]) == [0x03, 0x2F, 0xFF])
        #expect(try written(.playoutDelay, [0x03, 0x20, 0x33]) == [0x03, 0x20, 0x33])
        #expect(try written(.playoutDelay, [0, 0, 0]) == [0, 0, 0])
        var values = ExtensionValues()
        values.captureClockOffset = -2
        let time: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        #expect(
            try written(.absoluteCaptureTime, time + [0, 0, 0, 0, 0, 0, 0, 1], values)
                == time + [UInt8](repeating: 0xFF, count: 8))
        #expect(try written(.absoluteCaptureTime, time, values) == time)
        #expect(try written(.colorSpace, [1, 1, 1, 0]) == [1, 1, 1, 0])
    }

    @Test("without common extensions the block is omitted, and a retransmission begins with the sequence number")
    func stripped() throws {
        let composer = PacketComposer(from: HeaderExtensionIDs(), to: HeaderExtensionIDs())
        let written = try Self.compose(composer, PacketBytes.full, header, originalSequence: 0x1234)
        #expect(
            written == [
                0x81, 0xE4, 0x00, 0x07, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x09, 0x11, 0x22, 0x33, 0x44,
                0x12, 0x34, 0xDE, 0xAD, 0xBE, 0xEF,
            ])
    }

    @Test("elements too large for one-byte headers use two-byte headers if allowed, and are left out otherwise")
    func twoByte() throws {
        var source = HeaderExtensionIDs()
        source[.dependencyDescriptor] = 16
        for allows in [true, false] {
            var target = HeaderExtensionIDs(allowsTwoByte: allows)
            target[.dependencyDescriptor] = 20
            target[.transportSequence] = 5
            var values = ExtensionValues()
            values.transportSequence = 1
            values.frameNumber = 0xABCD
            let written = try #require(
                try Self.compose(PacketComposer(from: source, to: target), PacketBytes.twoByte, header, values))
            let packet = try RTPPacket(written.span.bytes)
            let (descriptor, sequence) = (
                packet.element(.dependencyDescriptor, target)?.copyToArray(), packet.transportSequence(target)
            )
            #expect(descriptor == (allows ? [0x0A, 0xAB, 0xCD] : nil))
            #expect(sequence == 1)
        }
    }

    @Test("what does not fit the buffer is not written")
    func space() throws {
        let composer = PacketComposer(from: HeaderExtensionIDs(), to: HeaderExtensionIDs())
        for space in 0..<22 {
            #expect(try Self.compose(composer, PacketBytes.full, header, originalSequence: 1, space: space) == nil)
        }
        #expect(try Self.compose(composer, PacketBytes.full, header, originalSequence: 1, space: 22) != nil)
    }

    @Test("a retransmission unwraps to the packet that was lost")
    func retransmission() throws {
        var random = SeededRandom(seed: 0x5EED_0002)
        for _ in 0..<1_000 {
            let payload = random.bytes(Int.random(in: 0...1_000, using: &random))
            let lost = RTPHeader(
                payloadType: 96, marker: .random(using: &random), sequence: .random(in: 0...65535, using: &random),
                timestamp: .random(in: 0...UInt32.max, using: &random), ssrc: 1)
            let source: [UInt8] = [
                0x80, lost.payloadType | (lost.marker ? 0x80 : 0), UInt8(lost.sequence >> 8),
                UInt8(lost.sequence & 255),
                UInt8(lost.timestamp >> 24), UInt8(lost.timestamp >> 16 & 255), UInt8(lost.timestamp >> 8 & 255),
                UInt8(lost.timestamp & 255), 0, 0, 0, 1,
            ]
            let composer = PacketComposer(from: HeaderExtensionIDs(), to: HeaderExtensionIDs())
            var repair = lost
            (repair.payloadType, repair.sequence, repair.ssrc) = (97, 555, 2)
            var wrapped = try #require(
                try Self.compose(composer, source + payload, repair, originalSequence: lost.sequence))
            var span = wrapped.mutableSpan
            var bytes = span.mutableBytes
            let range = try #require(Retransmission.unwrap(&bytes, payloadType: 96, ssrc: 1))
            #expect(Array(wrapped[range]) == source + payload)
        }
    }

    @Test("padding that probes unwraps to nothing")
    func padding() throws {
        var ids = HeaderExtensionIDs()
        ids[.transportSequence] = 5
        let composer = PacketComposer(from: HeaderExtensionIDs(), to: ids)
        var values = ExtensionValues()
        values.transportSequence = 0xABCD
        var target = [UInt8](repeating: 0xEE, count: 300)
        var span = target.mutableSpan
        var bytes = span.mutableBytes
        let composed = try #require(composer.writePadding(200, header: header, values: values, into: &bytes))
        var probe = Array(target.prefix(composed.byteCount))
        let written = probe
        let packet = try RTPPacket(written.span.bytes)
        let (count, padding, sequence) = (
            packet.payloadRange.count, packet.paddingByteCount, packet.transportSequence(ids)
        )
        #expect(count == 0)
        #expect(padding == 200)
        #expect(sequence == 0xABCD)
        var probeSpan = probe.mutableSpan
        var probeBytes = probeSpan.mutableBytes
        #expect(Retransmission.unwrap(&probeBytes, payloadType: 1, ssrc: 1) == nil)
    }

    @Test("every extension has a URI of its own and a number of its own")
    func names() {
        #expect(Set(HeaderExtension.allCases.map(\.uri)).count == HeaderExtension.allCases.count)
        var ids = HeaderExtensionIDs()
        for (number, kind) in HeaderExtension.allCases.enumerated() {
            #expect(HeaderExtension(uri: kind.uri) == kind)
            ids[kind] = UInt8(number + 1)
        }
        for kind in HeaderExtension.allCases { #expect(ids.kind(of: ids[kind]) == kind) }
        #expect(ids.kind(of: 0) == nil)
        #expect(HeaderExtension(uri: "urn:unknown") == nil)
    }
}
