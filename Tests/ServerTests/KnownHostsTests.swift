import Testing

@testable import Server

@Suite struct KnownHostsTests {
    private let hosts = KnownHosts(["192.0.2.7", "Ops.Example.com", "[2001:db8::1]"])

    @Test(arguments: [
        "localhost", "LOCALHOST:8081", "localhost.", "127.0.0.1", "127.0.0.1:8081", "127.255.0.3", "[::1]", "[::1]:80",
        "192.0.2.7:443", "ops.example.com", "OPS.EXAMPLE.COM.:444", "[2001:DB8:0:0::1]:8081",
    ])
    func isKnown(_ authority: String) {
        #expect(hosts.contains(authority: authority))
    }

    @Test(arguments: [
        nil, "", ":", "[", "[]", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example",
        "ops.example.com.evil",
        "192.0.2.8", "0.0.0.0", "[::]:8081", "[2001:db8::2]", "a@127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1",
        " localhost",
    ])
    func isUnknown(_ authority: String?) {
        #expect(!hosts.contains(authority: authority))
    }

    @Test func aWildcardIsNobodysName() {
        let hosts = KnownHosts(["0.0.0.0", "::"])
        #expect(!hosts.contains(authority: "0.0.0.0") && !hosts.contains(authority: "[::]"))
        #expect(hosts.contains(authority: "localhost"))
    }

    @Test func loopbackIsWhatAnAddressSays() {
        #expect(["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"].allSatisfy(KnownHosts.isLoopback))
        #expect(!["", "0.0.0.0", "::", "192.0.2.1", "example.com"].contains(where: KnownHosts.isLoopback))
    }

    @Test func namesHaveNoPortAndNoPath() {
        #expect(["ops.example.com", "a_b", "192.0.2.1", "::1", "[2001:db8::1]"].allSatisfy(KnownHosts.isName))
        #expect(!["", "a:1", "a/b", "http://a", "ä.example", "a b", "*"].contains(where: KnownHosts.isName))
    }
}
