import RTP
import TestSupport
import Testing
import Wire

@Suite("RTCP")
struct RTCPTests {
    /// A sender report with one block, the name "ab", by hand.
    static let compound: [UInt8] = [
        0x81, 200, 0x00, 0x0C, 0x00, 0x00, 0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
        0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x0A, 0x00, 0x00, 0x03, 0xE8,
        0x00, 0x00, 0x00, 0x02, 0x40, 0xFF, 0xFF, 0xFE, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x07,
        0xAA, 0xBB, 0xCC, 0xDD, 0x00, 0x01, 0x00, 0x00,
        0x81, 202, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x01, 0x02, 0x61, 0x62, 0x00, 0x00, 0x00, 0x00,
    ]
    static let report = SenderReport(
        ssrc: 1, ntpTime: 0x0102_0304_0506_0708, rtpTimestamp: 0x1000, packetCount: 10, byteCount: 1000)
    static let block = ReportBlock(
        ssrc: 2, fractionLost: 0x40, cumulativeLost: -2, highestSequence: 0x1_0002, jitter: 7,
        lastSenderReport: 0xAABB_CCDD, delaySinceSenderReport: 0x1_0000)

    /// Everything in a datagram, in words; nil when it is refused.
    static func describe(_ bytes: [UInt8]) -> [String]? {
        guard var compound = try? RTCPCompound(bytes.span.bytes) else { return nil }
        var found: [String] = compound.isReducedSize ? ["reduced"] : []
        while let packet = compound.next() {
            switch packet.kind {
            case .senderReport: found.append("SR \(packet.senderReport.map(\.ssrc) ?? 0)")
            case .receiverReport: found.append("RR \(packet.sender ?? 0)")
            case .nack: found.append("NACK \(packet.mediaSource ?? 0)")
            case .pictureLoss: found.append("PLI \(packet.mediaSource ?? 0)")
            case .estimatedMaximumBitrate: found.append("REMB \(packet.estimatedMaximumBitrate ?? 0)")
            case .transportFeedback:
                guard let feedback = TransportFeedback(packet) else {
                    found.append("bad TWCC")
                    break
                }
                var text = "TWCC \(feedback.number) \(feedback.referenceTime)"
                feedback.visit { text += " \($0):\($1.map(String.init) ?? "-")" }
                found.append(text)
            case .sourceDescription, .goodbye, .fullIntraRequest, .applicationDefined, .extendedReport, .other: break
            }
            packet.visitReportBlocks { found.append("block \($0.ssrc)") }
            packet.visitNames { found.append("name \($0) " + String(decoding: $1.copyToArray(), as: UTF8.self)) }
            packet.visitGoodbyes { found.append("bye \($0)") }
            packet.visitLost { found.append("lost \($0)") }
            packet.visitFullIntraRequests { found.append("FIR \($0) \($1)") }
        }
        return found
    }

    @Test("a compound by hand is read, and written byte for byte")
    func compound() throws {
        var writer = RTCPWriter()
        writer.begin()
        writer.append(Self.report, blocks: [Self.block])
        writer.appendName(Array("ab".utf8), of: 1)
        let written = writer.bytes
        #expect(written == Self.compound)
        let bytes = Self.compound
        var compound = try RTCPCompound(bytes.span.bytes)
        guard let packet = compound.next() else {
            Issue.record("no packet")
            return
        }
        let report = packet.senderReport
        #expect(report == Self.report)
        packet.visitReportBlocks { #expect($0 == Self.block) }
        #expect(Self.describe(bytes) == ["SR 1", "block 2", "name 1 ab"])
    }

    @Test("malformed compounds are rejected as a whole")
    func broken() {
        let good = Self.compound
        #expect(Self.describe([]) == nil)
        #expect(Self.describe(Array(good.prefix(3))) == nil)
        for length in stride(from: 1, to: good.count, by: 1) where length != 52 {
            #expect(Self.describe(Array(good.prefix(length))) == nil, "cut at \(length)")
        }
        var version = good
        version[52] = 0x41
        #expect(Self.describe(version) == nil)
        var length = good
        length[55] = 4
        #expect(Self.describe(length) == nil)
        var padded = good
        padded[0] |= 0x20
        padded[51] = 0
        #expect(Self.describe(padded) == nil, "padding of no bytes, in the middle")
        padded[51] = 49
        #expect(Self.describe(padded) == nil, "more padding than there is packet")
        var last = good
        last[52] |= 0x20
        #expect(Self.describe(last) == nil, "padding of no bytes")
        last[67] = 4
        #expect(Self.describe(last) != nil)
        last[67] = 16
        #expect(Self.describe(last) == nil)
        #expect(Self.describe(PacketBytes.full) == nil, "RTP")
    }

    /// As Chromium sends it: padded, though not in whole words, and with another packet behind it.
    @Test("transport-wide feedback of browsers is read")
    func browserFeedback() throws {
        let feedback: [UInt8] = [
            0xAF, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 9, 0x10, 0x00, 0, 3, 0, 0, 2, 7, 0x20, 3, 4, 8, 12, 0, 0, 3,
        ]
        var writer = RTCPWriter()
        writer.begin()
        writer.appendPictureLoss(of: 9, from: 1)
        let bytes = feedback + writer.bytes
        var compound = try RTCPCompound(bytes.span.bytes)
        guard let first = compound.next(), let read = TransportFeedback(first) else {
            Issue.record("no feedback")
            return
        }
        var arrivals: [UInt16: Int64?] = [:]
        read.visit { arrivals[$0] = $1 }
        #expect(arrivals == [0x1000: 516, 0x1001: 524, 0x1002: 536])
        let second = compound.next()?.kind
        #expect(second == .pictureLoss)
    }

    @Test("feedback is written and read: NACK, PLI, FIR, REMB, BYE, reduced size")
    func feedback() {
        var writer = RTCPWriter()
        writer.begin()
        let lost: [UInt16] = [65534, 65535, 0, 14, 15, 100]
        let written = writer.appendNACK(lost, of: 9, from: 1)
        writer.appendPictureLoss(of: 9, from: 1)
        writer.appendFullIntraRequest(of: 9, number: 3, from: 1)
        writer.appendEstimatedMaximumBitrate(1_000_000, of: [9], from: 1)
        writer.appendGoodbye([7, 8])
        let bytes = writer.bytes
        #expect(written == 6)
        #expect(
            Array(bytes.prefix(24)) == [
                0x81, 205, 0x00, 0x05, 0, 0, 0, 1, 0, 0, 0, 9,
                // 65534 and the bits for +1, +2 and +16; then 15; then 100.
                0xFF, 0xFE, 0x80, 0x03, 0x00, 0x0F, 0x00, 0x00, 0x00, 0x64, 0x00, 0x00,
            ])
        #expect(
            Self.describe(bytes) == [
                "reduced", "NACK 9", "lost 65534", "lost 65535", "lost 0", "lost 14", "lost 15", "lost 100", "PLI 9",
                "FIR 9 3", "REMB 1000000", "bye 7", "bye 8",
            ])
    }

    @Test("REMB rounds down and saturates", arguments: [0, 1, 262_143, 262_144, 1_234_567_890, UInt64.max])
    func bitrate(value: UInt64) {
        var writer = RTCPWriter()
        writer.begin()
        writer.appendEstimatedMaximumBitrate(value, of: [], from: 1)
        let bytes = writer.bytes
        guard var compound = try? RTCPCompound(bytes.span.bytes), let packet = compound.next(),
            let read = packet.estimatedMaximumBitrate
        else {
            Issue.record("not read")
            return
        }
        #expect(read <= value)
        #expect(Double(value - read) <= Double(value) / 131_072)
        var huge = bytes
        (huge[17], huge[18], huge[19]) = (0xFF, 0xFF, 0xFF)
        #expect(Self.describe(huge) == ["reduced", "REMB \(UInt64.max)"])
    }

    @Test("what does not fit the datagram is not written, or in part")
    func limits() {
        var writer = RTCPWriter(limit: 24)
        writer.begin()
        let written = writer.appendNACK([1, 100, 200, 300, 400], of: 1, from: 2)
        let (more, count) = (writer.appendPictureLoss(of: 1, from: 2), writer.bytes.count)
        #expect(written == 3)
        #expect(!more)
        #expect(count == 24)
        let bytes = writer.bytes
        #expect(Self.describe(bytes) == ["reduced", "NACK 1", "lost 1", "lost 100", "lost 200"])
    }

    @Test("the round trip follows from a report block")
    func roundTrip() {
        var block = Self.block
        block.lastSenderReport = 0xFFFF_8000
        block.delaySinceSenderReport = 0x8000
        #expect(block.roundTrip(at: 0x0000_8000) == 500_000_000)
        #expect(block.roundTrip(at: 0xFFFF_0000) == nil)
        block.lastSenderReport = 0
        #expect(block.roundTrip(at: 1) == nil)
    }

    @Test("random bytes, and real ones with random damage, never trap")
    func noise() {
        var random = SeededRandom(seed: 0x5EED_0003)
        var writer = RTCPWriter()
        writer.append(Self.report, blocks: [Self.block])
        writer.appendName(Array("abc".utf8), of: 1)
        writer.appendNACK([1, 2, 3], of: 9, from: 1)
        writer.appendEstimatedMaximumBitrate(1_000_000, of: [9], from: 1)
        var log = ArrivalLog()
        for sequence in 0..<40 where sequence % 7 != 3 {
            log.record(UInt16(sequence), at: Instant(nanoseconds: UInt64(sequence) * 3_000_000))
        }
        _ = log.write(into: &writer, from: 1, of: 2)
        let good = writer.bytes
        #expect(Self.describe(good) != nil)
        for round in 0..<20_000 {
            var bytes = good
            if round % 3 == 0 {
                bytes = random.bytes(Int.random(in: 0...60, using: &random))
                if bytes.count > 1 { (bytes[0], bytes[1]) = (0x80 | bytes[0] & 31, 200 + bytes[1] % 8) }
                if bytes.count > 3 { (bytes[2], bytes[3]) = (0, UInt8(bytes.count / 4 - 1)) }
            } else {
                for _ in 0..<3 {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
            }
            _ = Self.describe(bytes)
        }
    }
}
