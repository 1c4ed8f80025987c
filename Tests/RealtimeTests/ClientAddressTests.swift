import Testing
import Wire

@testable import Realtime

@Suite("Addresses of clients")
struct ClientAddressTests {
    private func hops(_ header: ForwardedHeader, _ lines: String...) -> [String] {
        header.hops(in: lines).map { $0.map(\.description) ?? "?" }
    }

    @Test("the lists of X-Forwarded-For")
    func lists() {
        #expect(
            hops(.xForwardedFor, "203.0.113.195, 2001:db8::7,198.51.100.1:443", " [2001:db8::8]:80 ")
                == ["203.0.113.195", "2001:db8::7", "198.51.100.1", "2001:db8::8"])
        #expect(hops(.xForwardedFor, "::ffff:192.0.2.1") == ["192.0.2.1"])
        #expect(hops(.xForwardedFor, "unknown, , 1.2.3, [::1, ::1]x") == ["?", "?", "?", "?", "?"])
        #expect(hops(.none, "192.0.2.1").isEmpty)
        #expect(hops(.xForwardedFor, Array(repeating: "192.0.2.1", count: 1000).joined(separator: ",")).count == 32)
    }

    @Test("the elements of Forwarded, RFC 7239 sections 4 and 7.1")
    func elements() {
        #expect(hops(.forwarded, "for=192.0.2.60;proto=http;by=203.0.113.43") == ["192.0.2.60"])
        #expect(
            hops(.forwarded, "For=\"[2001:db8:cafe::17]:4711\"; proto=https , for=198.51.100.17", "for=unknown")
                == ["2001:db8:cafe::17", "198.51.100.17", "?"])
        #expect(
            hops(.forwarded, "for=\"_gazonk\", proto=http;, for=\"192.0.2.\\4\\3:80\"") == ["?", "?", "192.0.2.43"])
        #expect(hops(.forwarded, "x=\"a,b;for=1.2.3.4\";for=192.0.2.1") == ["192.0.2.1"])
    }

    @Test("a line with invalid syntax has no hops: what a proxy appended to it cannot be distinguished")
    func broken() {
        for line in [
            "for=\"192.0.2.43, for=198.51.100.17", "for=6.6.6.6;x=\", for=\"[2001:db8::1]\"", "for=192.0.2.1 x",
            "for", "for=192.0.2.1;for=192.0.2.2", "=1", "for=\"192.0.2.1\\",
        ] {
            #expect(hops(.forwarded, line) == ["?"], "\(line)")
        }
        #expect(hops(.forwarded, "for=\"", "for=192.0.2.1") == ["?", "192.0.2.1"])
    }

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test("the client is the right-most hop that is not a trusted proxy")
    func walk() throws {
        var rules = ClientAddresses.Rules()
        rules.trustedProxies = [try #require(AddressRange("10.0.0.0/8")), try #require(AddressRange("fd00::/8"))]
        let addresses = ClientAddresses(rules)
        func client(_ peer: String, _ hops: String...) throws -> String {
            addresses.client(behind: try address(peer), hops: hops.map { IPAddress($0) }).description
        }
        #expect(try client("192.0.2.1", "198.51.100.1") == "192.0.2.1")
        #expect(try client("10.0.0.1", "198.51.100.1") == "198.51.100.1")
        #expect(try client("10.0.0.1", "6.6.6.6", "198.51.100.1", "10.0.0.2", "fd00::3") == "198.51.100.1")
        #expect(try client("10.0.0.1", "10.0.0.9", "10.0.0.8") == "10.0.0.9")
        #expect(try client("10.0.0.1", "6.6.6.6", "unknown", "10.0.0.2") == "10.0.0.2")
        #expect(try client("10.0.0.1") == "10.0.0.1")
    }

    @Test("limits count an IPv6 client by its /64")
    func prefixes() throws {
        #expect(try address("2001:db8:1:2:3:4:5:6").limitKey == "2001:db8:1:2::/64")
        #expect(try address("192.0.2.1").limitKey == "192.0.2.1")
        #expect(try address("::ffff:192.0.2.1").unmapped.limitKey == "192.0.2.1")
    }
}
