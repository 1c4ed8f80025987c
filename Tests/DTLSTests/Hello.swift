import DTLS
import OpenSSLCrypto
import TestSupport
import Testing
import Wire

/// ClientHellos as clients write them, and as they do not.
enum Hello {
    /// The first datagram of `openssl s_client -dtls1_2`, version 3.0.
    static let captured = hex(
        "16feff000000000000000000c0010000b400000000000000b4"
            + "fefd6552a1e628eb1962ed08bf115460fb98f14d76c192f3102207dabd92eae2d965"
            + "000000"
            + "38c02cc030009fcca9cca8ccaac02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d009c003d003c"
            + "0035002f00ff01000052000b000403000102000a000c000a001d0017001e00190018002300000016000000170000000d002a00"
            + "28040305030603080708080809080a080b080408050806040105010601030303010302040205020602")

    /// The hello's message without headers: version, random, session, cookie, and `rest` as cipher suites and so on.
    static func message(random: UInt8 = 7, session: [UInt8] = [], cookie: [UInt8] = [], rest: [UInt8] = []) -> [UInt8] {
        [0xFE, 0xFD] + [UInt8](repeating: random, count: 32) + [UInt8(session.count)] + session
            + [UInt8(cookie.count)] + cookie + rest
    }

    /// A part of a message as a record.
    static func fragment(
        of message: [UInt8], _ range: Range<Int>? = nil, messageSequence: UInt16 = 0, sequence: UInt64 = 0,
        type: UInt8 = 1
    ) -> [UInt8] {
        let range = range ?? 0..<message.count
        var handshake: [UInt8] = [type] + length(message.count)
        handshake.append(bigEndian: messageSequence)
        handshake += length(range.lowerBound) + length(range.count) + message[range]
        return record(handshake, sequence: sequence)
    }

    static func record(
        _ content: [UInt8], type: UInt8 = 22, epoch: UInt16 = 0, sequence: UInt64 = 0
    ) -> [UInt8] {
        var record: [UInt8] = [type, 0xFE, 0xFD]
        record.append(bigEndian: UInt64(epoch) << 48 | sequence)
        record.append(bigEndian: UInt16(content.count))
        return record + content
    }

    private static func length(_ count: Int) -> [UInt8] {
        [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
    }
}

/// A verifier, its clock and its clients.
final class HelloVerifierHarness {
    static let server = TransportAddress(IPAddress(ipv4: 0x0A00_0001), port: 5349)
    private(set) var verifier: HelloVerifier
    var now = Instant(nanoseconds: 1_000_000_000_000)

    init() throws {
        let key = Array("cookie key".utf8)
        verifier = HelloVerifier(
            cookies: CookieGenerator(key: Digest(key.span.bytes)), authentication: try #require(OpenSSLAuthentication())
        )
    }

    static func flow(_ client: UInt16 = 4000, address: UInt32 = 0xC000_0207) -> Flow {
        Flow(.dtls, local: server, remote: TransportAddress(IPAddress(ipv4: address), port: client))
    }

    enum Result: Equatable {
        case nothing
        case responded([UInt8])
        case verified(VerifiedHello)
    }

    func receive(_ datagram: [UInt8], on flow: Flow = HelloVerifierHarness.flow()) -> Result {
        switch verifier.receive(datagram.span.bytes, on: flow, at: now) {
        case .nothing, .refused: .nothing
        case .verified(let hello): .verified(hello)
        case .unverified(let hello): .responded(verifier.challenge(hello, of: datagram.span.bytes, at: now) ?? [])
        }
    }

    /// The cookie in the response to a message without one.
    func cookie(for message: [UInt8], on flow: Flow = HelloVerifierHarness.flow()) throws -> [UInt8] {
        guard case .responded(let response) = receive(Hello.fragment(of: message), on: flow) else {
            Issue.record("no response to a hello")
            return []
        }
        try #require(response.count == 48)
        return Array(response[28...])
    }

    func advance(seconds: UInt32) {
        now = now.adding(seconds: seconds)
        verifier.advance(to: now)
    }

    func rotate(to key: String) {
        let key = Array(key.utf8)
        verifier.cookies.rotate(to: Digest(key.span.bytes))
    }
}
