import Model
import Testing
import Wire

@testable import Webhooks

@Suite("Addresses of webhooks")
struct WebhookAddressTests {
    private let office = WebhookAddressRules(allowed: ["10.1.0.0/16", "fd00::/8"].compactMap { AddressRange($0) })

    @Test(
        "private and special addresses are refused",
        arguments: [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
            "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fd00::1", "ff02::1", "::ffff:10.0.0.1",
            "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1%eth0", "example.org", "",
        ])
    func special(address: String) {
        #expect(!WebhookAddressRules().permits(address, isEncrypted: true))
    }

    @Test("public addresses need TLS, allowed ones do not") func ranges() {
        #expect(office.permits("198.41.0.4", isEncrypted: true))
        #expect(office.permits("2001:500:2::c", isEncrypted: true))
        #expect(!office.permits("198.41.0.4", isEncrypted: false))
        #expect(office.permits("10.1.2.3", isEncrypted: false))
        #expect(office.permits("fd00::1", isEncrypted: true))
        #expect(!office.permits("10.2.0.1", isEncrypted: true))
        #expect(!office.permits("::ffff:10.1.2.3", isEncrypted: true))
    }

    @Test("a URL is https with a plain host") func urls() throws {
        let url = try WebhookURL("HTTPS://Example.org/hook?a=1", allowing: WebhookAddressRules())
        #expect(url.text == "https://example.org/hook?a=1")
        #expect(url.host == "example.org")
        #expect(url.port == 443)
        let inside = try WebhookURL("http://[fd00::1]:8080/", allowing: office)
        #expect(inside.host == "fd00::1")
        #expect(inside.port == 8_080)
    }

    @Test(
        "any other URL is refused by the name of its field",
        arguments: [
            "", "hook", "file:///etc/passwd", "https://", "https://user@host/", "https://h%6Fst/",
            "http://example.org/",
            "https://example.org/#part", "https://example.org:0/", "https://example.org:70000/", "https://127.0.0.1/",
            "https://[::1]/", "https://[]/", "https://[1.2.3.4]/", "https://[v1.a]/",
            "https://example.org/" + String(repeating: "a", count: 2_048),
        ])
    func refused(text: String) {
        do {
            let url = try WebhookURL(text, allowing: WebhookAddressRules())
            Issue.record("\(url.text)")
        } catch {
            #expect(error.kind == .invalidRequest)
            #expect(error.field == "url")
        }
    }
}
