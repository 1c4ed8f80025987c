import Testing
import Wire

@Suite("PROXY protocol, version 2")
struct ProxyHeaderTests {
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    private func header(
        command: UInt8 = 0x21, kind: UInt8 = 0x11, length: Int? = nil, _ content: [UInt8]
    ) -> [UInt8] {
        let length = length ?? content.count
        return Self.signature + [command, kind, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }

    private func read(_ bytes: [UInt8]) -> ProxyHeader {
        ProxyHeader(bytes.span.bytes)
    }

    private static let ipv4: [UInt8] = [203, 0, 113, 7, 192, 0, 2, 1, 0xC3, 0x50, 0x0D, 0x96]

    @Test("the source of TCP over IPv4 and IPv6 is read, whatever TLVs follow")
    func sources() throws {
        let source = TransportAddress(try #require(IPAddress("203.0.113.7")), port: 50_000)
        #expect(read(header(Self.ipv4)) == .whole(byteCount: 28, source: source))
        #expect(read(header(Self.ipv4 + [4, 0, 1, 0])) == .whole(byteCount: 32, source: source))
        #expect(read(header(Self.ipv4) + [1, 2, 3]) == .whole(byteCount: 28, source: source))
        let address = try #require(IPAddress("2001:db8::7"))
        let bytes = [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7]
        #expect(
            read(header(kind: 0x21, bytes + bytes + [0, 80, 1, 2]))
                == .whole(byteCount: 52, source: TransportAddress(address, port: 80)))
    }

    @Test("a balancer that speaks for itself names nobody")
    func local() {
        #expect(read(header(command: 0x20, kind: 0, [])) == .whole(byteCount: 16, source: nil))
        #expect(read(header(command: 0x20, Self.ipv4)) == .whole(byteCount: 28, source: nil))
        #expect(read(header(command: 0x21, kind: 0, [])) == .whole(byteCount: 16, source: nil))
    }

    @Test("every beginning is incomplete, and every other byte in its place malformed")
    func cuts() {
        let whole = header(Self.ipv4)
        for count in whole.indices { #expect(read(Array(whole.prefix(count))) == .incomplete) }
        for index in 0..<12 {
            var broken = Array(whole.prefix(index + 1))
            broken[index] ^= 1
            #expect(read(broken) == .malformed)
        }
    }

    @Test("other versions, commands, families and lengths are malformed")
    func broken() {
        #expect(read(header(command: 0x11, Self.ipv4)) == .malformed)
        #expect(read(header(command: 0x22, Self.ipv4)) == .malformed)
        #expect(read(header(kind: 0x12, Self.ipv4)) == .malformed)
        #expect(read(header(kind: 0x31, Self.ipv4)) == .malformed)
        #expect(read(header(Array(Self.ipv4.dropLast()))) == .malformed)
        #expect(read(header(kind: 0x21, Self.ipv4)) == .malformed)
        #expect(read(header(length: 0xFFFF, Self.ipv4)) == .malformed)
        #expect(read(header(length: 2033, Self.ipv4)) == .malformed)
        #expect(read(Array("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n".utf8)) == .malformed)
    }
}
