import ICE
import Testing
import Wire

@Suite("Host candidates and framing")
struct CandidateAndFramingTests {
    @Test("UDP before TCP, external addresses first, else in the order given, as clients see them")
    func candidates() throws {
        let four = try #require(IPAddress("10.0.0.5"))
        let six = try #require(IPAddress("2001:db8::5"))
        let externalAddress = try #require(IPAddress("203.0.113.5"))
        let local = try #require(IPAddress("fe80::1"))
        let udp = [six, four, local, four, IPAddress(ipv4: 0)].map { TransportAddress($0, port: 3480) }
        let tcp = [TransportAddress(four, port: 3480)]
        let made = HostCandidate.all(udp: udp, tcp: tcp, external: [four: externalAddress])
        #expect(made.map(\.address.address) == [externalAddress, six, externalAddress])
        #expect(made.map(\.transport) == [.udp, .udp, .tcp])
        // RFC 8445 section 5.1.2.1: 2^24 * 126 + 2^8 * 65535 + 255.
        #expect(made[0].priority == 2_130_706_431 && made[1].priority == 2_130_706_175)
        // RFC 6544 section 4.2: type 90, 2^13 * 4 + 8191.
        #expect(made[2].priority == 90 << 24 | 40959 << 8 | 255)
        #expect(Set(made.map(\.foundation)).count == 3)
        let own = HostCandidate.all(udp: udp, tcp: tcp)
        #expect(own.map(\.address.address) == [six, four, four])
    }

    @Test("packets in a stream have their length before them")
    func framing() {
        let stream: [UInt8] = [0, 3, 1, 2, 3, 0, 0, 0xFF, 0xFF, 9]
        #expect(next(stream) == .packet(2..<5))
        let rest = Array(stream.dropFirst(5))
        #expect(next(rest) == .packet(2..<2))
        let last = Array(stream.dropFirst(7))
        #expect(next(last) == .incomplete(65537))
        for count in 0..<5 {
            let part = Array(stream.prefix(count))
            #expect(next(part) == .incomplete(count < 2 ? 2 : 5))
        }
        var header: [UInt8] = [0, 0]
        var (fits, isTooLong) = (false, false)
        header.withUnsafeMutableBytes { bytes in
            var target = MutableRawSpan(_unsafeBytes: bytes)
            fits = PacketFraming.writeHeader(payload: 0x1234, into: &target)
            isTooLong = !PacketFraming.writeHeader(payload: 65536, into: &target)
        }
        #expect(fits && isTooLong && header == [0x12, 0x34])
    }

    private func next(_ bytes: [UInt8]) -> PacketFraming.Next {
        PacketFraming.next(bytes.span.bytes)
    }
}
