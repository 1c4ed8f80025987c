import RTP
import TestSupport
import Testing
import Wire

/// Packets built by hand, byte for byte.
enum PacketBytes {
    /// One contributor, one-byte extensions 1 (level 0x85), 3 (two bytes) between padding, 4 bytes of payload, 3 of
    /// padding.
    static let full: [UInt8] = [
        0xB1, 0xE0, 0x12, 0x34, 0x00, 0x01, 0x02, 0x03, 0xCA, 0xFE, 0xBA, 0xBE,
        0x11, 0x22, 0x33, 0x44,
        0xBE, 0xDE, 0x00, 0x02, 0x10, 0x85, 0x00, 0x31, 0xAA, 0xBB, 0x00, 0x00,
        0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0x00, 0x03,
    ]
    /// Two-byte extensions: 1 empty, 16 of 3 bytes.
    static let twoByte: [UInt8] = [
        0x90, 0x6F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x01,
        0x10, 0x05, 0x00, 0x02, 0x01, 0x00, 0x10, 0x03, 0x0A, 0x0B, 0x0C, 0x00,
        0x77,
    ]
}

@Suite("RTP packets")
struct PacketTests {
    @Test("every field is where RFC 3550 puts it")
    func fields() throws {
        let bytes = PacketBytes.full
        let packet = try RTPPacket(bytes.span.bytes)
        let header = packet.header
        let (payload, padding, contributors) = (
            packet.payload.copyToArray(), packet.paddingByteCount,
            (packet.contributor(at: 0), packet.contributor(at: 1))
        )
        #expect(
            header
                == RTPHeader(payloadType: 96, marker: true, sequence: 0x1234, timestamp: 0x10203, ssrc: 0xCAFE_BABE))
        #expect(payload == [0xDE, 0xAD, 0xBE, 0xEF])
        #expect(padding == 3)
        #expect(contributors.0 == 0x1122_3344)
        #expect(contributors.1 == nil)
    }

    @Test("elements of one and of two bytes are found, padding skipped")
    func elements() throws {
        func all(_ bytes: [UInt8]) throws -> [UInt8: [UInt8]] {
            var found: [UInt8: [UInt8]] = [:]
            let packet = try RTPPacket(bytes.span.bytes)
            packet.visitElements { found[$0] = $1.copyToArray() }
            return found
        }
        #expect(try all(PacketBytes.full) == [1: [0x85], 3: [0xAA, 0xBB]])
        #expect(try all(PacketBytes.twoByte) == [1: [], 16: [0x0A, 0x0B, 0x0C]])
        var stopped = PacketBytes.full
        stopped[20] = 0xF0
        #expect(try all(stopped) == [:], "id 15 ends the list")
        var overlong = PacketBytes.full
        overlong[23] = 0x3F
        #expect(try all(overlong) == [1: [0x85]], "an element beyond the block ends the list")
        var private16 = PacketBytes.full
        private16[16] = 0x12
        #expect(try all(private16) == [:])
    }

    @Test("malformed packets are rejected with their reason")
    func broken() {
        func failure(_ bytes: [UInt8]) -> RTPPacket.ParseError? {
            do throws(RTPPacket.ParseError) {
                _ = try RTPPacket(bytes.span.bytes)
                return nil
            } catch {
                return error
            }
        }
        #expect(failure(PacketBytes.full) == nil)
        #expect(failure([]) == .notRTP)
        #expect(failure(Array(PacketBytes.full.prefix(11))) == .notRTP)
        #expect(failure([0x40] + PacketBytes.full.dropFirst()) == .notRTP)
        #expect(failure(Array(PacketBytes.full.prefix(14))) == .malformedHeader)
        #expect(failure(Array(PacketBytes.full.prefix(18))) == .malformedHeader)
        #expect(failure(Array(PacketBytes.full.prefix(24))) == .malformedHeader)
        #expect(failure(PacketBytes.full.dropLast() + [0]) == .malformedPadding)
        #expect(failure(PacketBytes.full.dropLast() + [8]) == .malformedPadding)
        #expect(failure(PacketBytes.full.dropLast() + [7]) == nil)
    }

    @Test("RTP is distinguished from the other protocols on its port")
    func demultiplexing() {
        func isLikely(_ bytes: [UInt8]) -> Bool { RTPPacket.isLikely(bytes.span.bytes) }
        var bytes = PacketBytes.full
        #expect(isLikely(bytes))
        bytes[1] = 200
        #expect(!isLikely(bytes), "a sender report")
        bytes[0] = 22
        #expect(!isLikely(bytes), "DTLS")
        bytes[0] = 0
        #expect(!isLikely(bytes), "STUN")
        #expect(!isLikely([0x80, 0]))
    }

    @Test("random bytes, and real ones with random damage, never trap")
    func noise() {
        var random = SeededRandom(seed: 0x5EED_0001)
        for round in 0..<20_000 {
            var bytes: [UInt8]
            if round % 2 == 0 {
                bytes = random.bytes(Int.random(in: 0...60, using: &random))
                if !bytes.isEmpty { bytes[0] = bytes[0] & 0x3F | 0x80 }
            } else {
                bytes = round % 4 == 1 ? PacketBytes.full : PacketBytes.twoByte
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                bytes.removeLast(Int.random(in: 0...3, using: &random))
            }
            guard let packet = try? RTPPacket(bytes.span.bytes) else { continue }
            var total = 0
            packet.visitElements { total += $1.byteCount }
            let sum = packet.payloadRange.count + packet.paddingByteCount + total
            #expect(sum <= bytes.count)
        }
    }
}
