import OpenSSLCrypto
import STUN
import TestSupport
import Testing
import Wire

@Suite("The vectors of RFC 5769 and RFC 8489")
struct VectorTests {
    private let shortTermKey = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
    private let username = Array("\u{30DE}\u{30C8}\u{30EA}\u{30C3}\u{30AF}\u{30B9}".utf8)

    private func longTermKey(_ algorithm: PasswordAlgorithm, _ authentication: OpenSSLAuthentication) -> [UInt8] {
        algorithm.key(
            username: username.span.bytes, realm: "example.org", password: Array("TheMatrIX".utf8), authentication)?
            .copyToArray() ?? []
    }

    @Test("request with short-term credentials")
    func request() throws {
        let authentication = try #require(OpenSSLAuthentication())
        let bytes = Vectors.request
        let message = try Message(bytes.span.bytes)
        #expect(message.type == MessageType(.request, .binding))
        #expect(message.transaction == TransactionID(0xB7E7_A701, 0xBC34_D686_FA87_DFAE))
        let hasFingerprint = message.hasFingerprint
        #expect(hasFingerprint)
        let values = (
            message.text(.software), message.integer32(.priority), message.text(.username), message.integrityToCheck
        )
        #expect(values.0 == "STUN test client")
        #expect(values.1 == 0x6E00_01FF)
        #expect(values.2 == "evtj:h6vY")
        #expect(values.3 == .sha1)
        let isValid = message.hasIntegrity(.sha1, key: shortTermKey.span.bytes, authentication)
        #expect(isValid)
        let otherKey = Array("VOkJxbRl1RmTxUk/WvJxBu".utf8)
        let isWrong = message.hasIntegrity(.sha1, key: otherKey.span.bytes, authentication)
        #expect(!isWrong)
    }

    @Test(
        "responses",
        arguments: [
            (Vectors.responseIPv4, "192.0.2.1:32853"),
            (Vectors.responseIPv6, "[2001:db8:1234:5678:11:2233:4455:6677]:32853"),
        ])
    func response(bytes: [UInt8], address: String) throws {
        let authentication = try #require(OpenSSLAuthentication())
        let message = try Message(bytes.span.bytes)
        #expect(message.type == MessageType(.success, .binding))
        let mapped = message.xorAddress(.xorMappedAddress)
        #expect(mapped?.description == address)
        let isValid = message.hasIntegrity(.sha1, key: shortTermKey.span.bytes, authentication)
        #expect(isValid)
    }

    @Test("request with long-term credentials")
    func longTerm() throws {
        let authentication = try #require(OpenSSLAuthentication())
        let bytes = Vectors.longTermRequest
        let message = try Message(bytes.span.bytes)
        let key = longTermKey(.md5, authentication)
        let isValid = message.hasIntegrity(.sha1, key: key.span.bytes, authentication)
        #expect(isValid)
        let nonce = message.text(.nonce)
        #expect(nonce == "f//499k954d6OL34oL9FSTvy64sA")
    }

    @Test("request with long-term credentials and SHA-256, with erratum 6268")
    func longTermSHA256() throws {
        let authentication = try #require(OpenSSLAuthentication())
        let bytes = Vectors.longTermSHA256Request
        let message = try Message(bytes.span.bytes)
        let key = longTermKey(.sha256, authentication)
        let algorithm = message.integrityToCheck
        #expect(algorithm == .sha256)
        let isValid = message.hasIntegrity(.sha256, key: key.span.bytes, authentication)
        #expect(isValid)
        let weak = longTermKey(.md5, authentication)
        let isWrong = message.hasIntegrity(.sha256, key: weak.span.bytes, authentication)
        #expect(!isWrong)
    }

    @Test("are written again byte by byte")
    func written() throws {
        let authentication = try #require(OpenSSLAuthentication())
        var writer = MessageWriter()
        writer.begin(MessageType(.request, .binding), TransactionID(0x78AD_3433, 0xC6AD_72C0_29DA_412E))
        writer.append(.username, bytes: username)
        writer.append(.nonce, text: "f//499k954d6OL34oL9FSTvy64sA")
        writer.append(.realm, text: "example.org")
        let key = longTermKey(.md5, authentication)
        let isSigned = writer.appendIntegrity(.sha1, key: key.span.bytes, authentication)
        #expect(isSigned)
        #expect(writer.bytes == Vectors.longTermRequest)
    }

    @Test("no bit can be turned in them unnoticed")
    func brokenVariants() throws {
        let authentication = try #require(OpenSSLAuthentication())
        for bit in 0..<Vectors.request.count * 8 {
            let duplicate = Vectors.request.flippingBit(bit)
            let isAccepted: Bool
            do {
                let message = try Message(duplicate.span.bytes)
                isAccepted =
                    message.hasFingerprint && message.hasIntegrity(.sha1, key: shortTermKey.span.bytes, authentication)
            } catch {
                isAccepted = false
            }
            #expect(!isAccepted, "bit \(bit)")
        }
    }

    @Test("no truncation of them is taken for a message")
    func truncations() {
        for vector in [Vectors.request, Vectors.responseIPv6, Vectors.longTermSHA256Request] {
            for count in 0..<vector.count {
                let part = Array(vector.prefix(count))
                #expect(throws: Message.ParseError.self) { _ = try Message(part.span.bytes).type }
            }
        }
    }
}
