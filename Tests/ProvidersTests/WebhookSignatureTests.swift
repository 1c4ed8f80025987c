import Testing
import Webhooks

@testable import Providers

@Suite("Signatures of webhooks")
struct WebhookSignatureTests {
    private let body = Array(#"{"test": 2432232314}"#.utf8)

    /// The test vector of Standard Webhooks' own libraries.
    @Test("the signature is the one of Standard Webhooks") func standard() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = StandardWebhookSignature.sign(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: body, secret: secret.bytes)
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test("during a rotation there is a signature of each secret") func rotation() {
        let headers = StandardWebhookSignature.headers(
            id: "a", timestamp: 7, body: body, secrets: [[1], [2]])
        let signatures = [[1], [2]].map {
            StandardWebhookSignature.sign(id: "a", timestamp: 7, body: body, secret: $0)
        }
        #expect(headers.map(\.0) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers.map(\.1) == ["a", "7", signatures.joined(separator: " ")])
        #expect(signatures[0] != signatures[1])
    }

    @Test("the older signature of providers is the one of openssl") func known() {
        // printf '1700000000.hello' | openssl dgst -sha256 -hmac s3cret
        #expect(
            WebhookSignature.sign(Array("hello".utf8), at: 1_700_000_000, secret: "s3cret")
                == "v1=babfa8b593140ee3160bea38210f8fea6712e1f6e073328eb52c4e965bc0ab8d")
    }

    @Test("an id depends on each part and its length") func ids() {
        let id = StandardWebhookSignature.id(of: [[1], [2]])
        #expect(id == StandardWebhookSignature.id(of: [[1], [2]]))
        #expect(id != StandardWebhookSignature.id(of: [[1, 2]]))
        #expect(id != StandardWebhookSignature.id(of: [[], [1, 2]]))
        #expect(id.utf8.count == 32)
    }
}
