import Testing

@testable import Languages

@Suite struct SensitiveTextTests {
    private func found(_ text: String) -> [String] {
        let units = Array(text.utf16)
        return SensitiveText.ranges(in: text).map { String(decoding: units[$0], as: UTF16.self) }
    }

    @Test(arguments: [
        ("mail ann.abel+x@example.org.", "ann.abel+x@example.org"),
        ("call +49 (0)30 1234-5678, please", "+49 (0)30 1234-5678"),
        ("card 4111 1111 1111 1111!", "4111 1111 1111 1111"),
        ("IBAN DE89 3704 0044 0532 0130 00 today", "DE89 3704 0044 0532 0130 00"),
        ("GB33BUKB20201555555555 is it", "GB33BUKB20201555555555"),
        ("at 192.168.10.1:8080, yes", "192.168.10.1:8080"),
        ("at 2001:db8::1.", "2001:db8::1"),
        ("key sk-abcdefghijklmnop ok", "sk-abcdefghijklmnop"),
        ("token a1b2c3d4e5f6a7b8c9d0 ok", "a1b2c3d4e5f6a7b8c9d0"),
    ])
    func leavesNoServer(text: String, expected: String) { #expect(found(text) == [expected]) }

    @Test(arguments: [
        "at 10:30:15 on 24.12.", "2 or 3 of 456", "covid-19-vaccination-centre in town", "x@y", "1.2.3", "256.1.1.1",
        "DE00 and so on", "so:many:colons", "Donaudampfschifffahrtsgesellschaft", "",
    ])
    func staysAText(text: String) { #expect(found(text) == []) }

    @Test func severalAreApart() {
        #expect(found("a@b.org 0301234567 c@d.org") == ["a@b.org", "0301234567", "c@d.org"])
    }

    @Test func isLinear() {
        // As many starts as characters.
        #expect(found(String(repeating: "AA11 ", count: 20_000)).count < 2)
        #expect(found(String(repeating: "1 ", count: 30_000)).count == 1)
    }
}
