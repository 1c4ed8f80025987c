import OpenSSLCrypto
import STUN
import TestSupport
import Testing
import Wire

@Suite("STUN messages")
struct MessageTests {
    @Test("every method and class has its own bits")
    func types() {
        var seen: Set<UInt16> = []
        for method in UInt16(0)..<0x1000 {
            for messageClass: MessageType.Class in [.request, .indication, .success, .failure] {
                let type = MessageType(messageClass, Method(rawValue: method))
                #expect(type.bits & 0xC000 == 0)
                #expect(MessageType(bits: type.bits) == type)
                seen.insert(type.bits)
            }
        }
        #expect(seen.count == 0x4000)
        #expect(MessageType(bits: 0x4000) == nil)
    }

    @Test(
        "addresses come back as they were written",
        arguments: ["192.0.2.1", "0.0.0.0", "2001:db8::1", "::", "ffff::ffff"])
    func addresses(text: String) throws {
        let address = TransportAddress(try #require(IPAddress(text)), port: 0x2112)
        var writer = MessageWriter()
        writer.begin(MessageType(.success, .binding), TransactionID(1, 2))
        writer.append(.xorMappedAddress, xor: address)
        let bytes = writer.bytes
        let message = try Message(bytes.span.bytes)
        let read = message.xorAddress(.xorMappedAddress)
        #expect(read == address)
    }

    @Test("attributes of every length are padded and found")
    func lengths() throws {
        for length in 0..<20 {
            var writer = MessageWriter()
            writer.begin(MessageType(.request, .binding), TransactionID(1, 2))
            writer.append(.username, bytes: [UInt8](repeating: 7, count: length))
            writer.append(.lifetime, integer: UInt32(600))
            writer.appendFingerprint()
            let bytes = writer.bytes
            #expect(bytes.count % 4 == 0)
            let message = try Message(bytes.span.bytes)
            let found = (message.attribute(.username)?.byteCount, message.integer32(.lifetime))
            #expect(found.0 == length)
            #expect(found.1 == 600)
        }
    }

    @Test("what stands behind the integrity is not seen")
    func behindIntegrity() throws {
        let authentication = try #require(OpenSSLAuthentication())
        let key = Array("key".utf8)
        for algorithm: IntegrityAlgorithm in [.sha1, .sha256] {
            var writer = MessageWriter()
            writer.begin(MessageType(.request, .refresh), TransactionID(1, 2))
            writer.append(.username, text: "u")
            let isSigned = writer.appendIntegrity(algorithm, key: key.span.bytes, authentication)
            #expect(isSigned)
            writer.append(.lifetime, integer: UInt32(0))
            writer.append(.xorPeerAddress, xor: TransportAddress(IPAddress(ipv4: 1), port: 1))
            writer.appendFingerprint()
            let bytes = writer.bytes
            let message = try Message(bytes.span.bytes)
            let isValid = message.hasIntegrity(algorithm, key: key.span.bytes, authentication)
            #expect(isValid)
            let isSeen = message.has(.lifetime) || message.has(.xorPeerAddress)
            #expect(!isSeen)
            var visited = 0
            message.visitAttributes { _, _ in visited += 1 }
            #expect(visited == 1)
        }
    }

    @Test("both codes may stand together, and the stronger is checked")
    func bothCodes() throws {
        let authentication = try #require(OpenSSLAuthentication())
        let key = Array("key".utf8)
        var writer = MessageWriter()
        writer.begin(MessageType(.request, .binding), TransactionID(1, 2))
        let signed = [
            writer.appendIntegrity(.sha1, key: key.span.bytes, authentication),
            writer.appendIntegrity(.sha256, key: key.span.bytes, authentication),
        ]
        #expect(signed == [true, true])
        let bytes = writer.bytes
        let message = try Message(bytes.span.bytes)
        let checked = (
            message.integrityToCheck, message.hasIntegrity(.sha1, key: key.span.bytes, authentication),
            message.hasIntegrity(.sha256, key: key.span.bytes, authentication)
        )
        #expect(checked == (.sha256, true, true))
    }

    @Test(
        "an attribute that runs past the end breaks the message",
        arguments: [
            "00010004 2112a442 000000000000000000000000 00060001",
            "00010008 2112a442 000000000000000000000000 00060005 00000000",
            "00010004 2112a442 000000000000000000000000 0006ffff",
            "00010008 2112a442 000000000000000000000000 00080004 00000000",
            "00010014 2112a442 000000000000000000000000 001c0010 00000000000000000000000000000000",
        ])
    func malformed(hexadecimal: String) {
        let bytes = hex(hexadecimal)
        #expect(throws: Message.ParseError.malformedAttribute) { _ = try Message(bytes.span.bytes).type }
    }

    @Test(
        "what is not a STUN message is rejected",
        arguments: [
            "", "00", "0001000021 12a442", "80010000 2112a442 000000000000000000000000",
            "00010000 2112a443 000000000000000000000000", "00010001 2112a442 000000000000000000000000 00",
            "00010004 2112a442 000000000000000000000000", "16fefd0000000000000000000100000000000000",
        ])
    func notSTUN(hexadecimal: String) {
        let bytes = hex(hexadecimal)
        #expect(throws: Message.ParseError.notSTUN) { _ = try Message(bytes.span.bytes).type }
    }

    @Test("unknown attributes that must be understood are listed, each once")
    func unknown() throws {
        var writer = MessageWriter()
        writer.begin(MessageType(.request, .binding), TransactionID(1, 2))
        for raw in [0x0003, 0x7FFF, 0x8000, 0x0003, 0x0006] as [UInt16] {
            writer.append(AttributeType(rawValue: raw), bytes: [])
        }
        let bytes = writer.bytes
        let message = try Message(bytes.span.bytes)
        let unknown = message.unknownRequired(knowing: [.username])
        #expect(unknown.map { $0.rawValue } == [0x0003, 0x7FFF])
    }

    @Test("an error code comes back as a number")
    func errors() throws {
        var writer = MessageWriter()
        writer.begin(MessageType(.failure, .allocate), TransactionID(1, 2))
        writer.append(error: .allocationQuotaReached)
        let bytes = writer.bytes
        let message = try Message(bytes.span.bytes)
        let number = message.errorNumber
        #expect(number == 486)
    }

    @Test("random bytes never do more than fail", arguments: [1, 2, 3] as [UInt64])
    func noise(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20_000 {
            var bytes = random.bytes(Int.random(in: 0...120, using: &random))
            // Most noise is rejected at once; this gets past the header.
            if bytes.count >= 20, Bool.random(using: &random) {
                bytes[0] &= 0x3F
                bytes.replaceSubrange(
                    2..<8, with: [0, UInt8(truncatingIfNeeded: bytes.count - 20), 0x21, 0x12, 0xA4, 0x42])
            }
            guard let message = try? Message(bytes.span.bytes) else { continue }
            message.visitAttributes { _, _ in }
            _ = message.xorAddress(.xorPeerAddress)
            _ = message.errorNumber
            _ = message.unknownRequired(knowing: [])
        }
    }
}
