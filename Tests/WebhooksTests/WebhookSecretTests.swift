import Testing

@testable import Webhooks

@Suite("Secrets of webhooks")
struct WebhookSecretTests {
    @Test("a secret has 24 to 64 bytes in Base64") func secrets() {
        let made = WebhookSecret.generate()
        #expect(made.bytes.count == 32)
        #expect(WebhookSecret(made.text) == made)
        #expect(WebhookSecret(made.text.replacing("=", with: "")) == made)
        #expect(WebhookSecret(bytes: Array(repeating: 1, count: 23)) == nil)
        #expect(WebhookSecret(bytes: Array(repeating: 1, count: 65)) == nil)
        for text in [
            "", "whsec_", "whsec_!!!!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_" + String(repeating: "A", count: 4_000),
        ] {
            #expect(WebhookSecret(text) == nil, "\(text.prefix(20))")
        }
    }
}
