import Crypto
import Testing
import Tokens

@testable import Push

@Suite("Encryption of Web Push")
struct WebPushEncryptionTests {
    private let subscription = Subscription()

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

    private func encryption() throws -> WebPushEncryption {
        try WebPushEncryption(publicKey: subscription.publicKey, authSecret: subscription.authSecret)
    }

    @Test("it is the one of RFC 8291 section 5 and appendix A") func vector() throws {
        let encryption = try WebPushEncryption(
            publicKey: bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
            authSecret: bytes("BTBZMqHH6r4Tts7J_aSIgg"))
        let body = try encryption.encrypt(
            Array("When I grow up, I want to be a watermelon".utf8), paddedTo: 0,
            salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"),
            senderKey: P256.KeyAgreement.PrivateKey(
                rawRepresentation: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))
        #expect(
            Base64URL.encode(body)
                == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w"
                + "EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
    }

    @Test(
        "payloads are padded to one of four sizes",
        arguments: [
            (0, 512), (1, 512), (512, 512), (513, 1024), (1024, 1024), (1025, 2048), (2049, 3993), (3993, 3993),
        ])
    func sizes(count: Int, size: Int) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let body = try encryption().encrypt(payload)
        #expect(body.count == 86 + size + 1 + 16)
        #expect(body.count <= 4096)
        #expect(try subscription.open(body) == payload + [2] + [UInt8](repeating: 0, count: size - count))
    }

    @Test("no push has the salt or the key of another") func fresh() throws {
        let encryption = try encryption()
        let bodies = try (0..<20).map { _ in try encryption.encrypt([1]) }
        #expect(Set(bodies.map { Array($0[..<16]) }).count == 20)
        #expect(Set(bodies.map { Array($0[21..<86]) }).count == 20)
    }

    @Test("a subscription of its own decrypts what it was sent, and nothing else") func decryption() throws {
        let known = WebPushSubscription(
            try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")),
            authSecret: try bytes("BTBZMqHH6r4Tts7J_aSIgg"))
        let watermelon = try bytes(
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
                + "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
        #expect(known.decrypt(watermelon) == Array("When I grow up, I want to be a watermelon".utf8))
        let own = WebPushSubscription()
        let encryption = try WebPushEncryption(publicKey: own.publicKey, authSecret: own.authSecret)
        for payload: [UInt8] in [[], [0], [2, 0, 2], Array("short".utf8), [UInt8](repeating: 0, count: 3993)] {
            let body = try encryption.encrypt(payload)
            #expect(own.decrypt(body) == payload)
            #expect(WebPushSubscription().decrypt(body) == nil)
        }
        let body = try encryption.encrypt([1, 2, 3])
        for count in Array(0...120) + [body.count - 1] { #expect(own.decrypt(Array(body.prefix(count))) == nil) }
        // The record size is not authenticated, and there is but one record.
        for index in body.indices where !(16..<20).contains(index) {
            var changed = body
            changed[index] ^= 0x41
            #expect(own.decrypt(changed) == nil, "byte \(index)")
        }
    }

    @Test("a payload that is too large is refused") func tooLarge() throws {
        #expect(throws: WebPushError.payloadTooLarge(limit: 3993)) {
            try encryption().encrypt([UInt8](repeating: 0, count: 3994))
        }
    }

    @Test("what is no key is refused") func badKeys() throws {
        let (key, secret) = (subscription.publicKey, subscription.authSecret)
        var offTheCurve = key
        offTheCurve[64] ^= 1
        let compressed = Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation)
        let zeros = [UInt8](repeating: 0, count: 65)
        let hybrid: [UInt8] = [6 + key[64] & 1] + key.dropFirst()
        let lengths: [[UInt8]] = [[], [0], Array(key.dropLast()), key + [0], compressed]
        for wrong in lengths + [offTheCurve, zeros, [4] + zeros.dropLast(), hybrid] {
            #expect(throws: WebPushError.invalidPublicKey) {
                try WebPushEncryption(publicKey: wrong, authSecret: secret)
            }
        }
        for wrong in [[], Array(secret.dropLast()), secret + [0]] {
            #expect(throws: WebPushError.invalidAuthSecret) {
                try WebPushEncryption(publicKey: key, authSecret: wrong)
            }
        }
    }
}
