import Testing
import Wire

@Suite("Addresses")
struct IPAddressTests {
    @Test(
        "are read and printed in one canonical form",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
            ("::1", "::1"), ("2001:DB8::1", "2001:db8::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("::ffff:127.0.0.1", "::ffff:127.0.0.1"),
            ("64:ff9b::10.0.0.1", "64:ff9b::a00:1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("fe80::", "fe80::"),
        ])
    func roundTrip(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(
        "that are not spelled right are refused",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "+1.2.3.4", "1..2.3", ":", ":::", "1::2::3",
            "1:2",
            "12345::", "g::", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1.2.3.4.5", "1.2.3.4::", "+1::", "::-1",
            "fe80::1%lo",
        ])
    func refused(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("of different families are never equal")
    func families() {
        #expect(IPAddress("1.2.3.4") != IPAddress("::ffff:1.2.3.4"))
        #expect(IPAddress("0.0.0.0") != IPAddress("::"))
    }
}

@Suite("Address ranges")
struct AddressRangeTests {
    @Test(
        "hold exactly their addresses",
        arguments: [
            ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"), ("0.0.0.0/0", "255.1.2.3", "::"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"), ("172.16.0.0/12", "172.31.255.255", "172.32.0.0"),
            // Ranges that do not end on a byte: comparing whole bytes let coturn block too little.
            ("100.64.0.0/10", "100.127.255.255", "100.128.0.0"), ("fc00::/7", "fdff::1", "fe00::"),
            ("2001:10::/28", "2001:1f:ffff::", "2001:20::"), ("::/0", "ffff::", "1.2.3.4"),
            ("2001:db8::1/128", "2001:db8::1", "2001:db8::2"), ("::ffff:0:0/96", "::ffff:9.9.9.9", "::fffe:9.9.9.9"),
        ])
    func contains(text: String, inside: String, outside: String) throws {
        let range = try #require(AddressRange(text))
        #expect(range.contains(try #require(IPAddress(inside))))
        #expect(!range.contains(try #require(IPAddress(outside))))
    }

    @Test(
        "that make no sense are refused",
        arguments: ["", "/8", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/", "x/8"])
    func refused(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test("forget bits beyond the prefix")
    func canonical() {
        #expect(AddressRange("10.1.2.3/8")?.description == "10.0.0.0/8")
    }
}
