import OpenSSLCrypto
import Testing
import Wire

@Suite("OpenSSL's codes and hashes")
struct OpenSSLAuthenticationTests {
    private func hexadecimal(_ digest: Digest?) -> String? {
        digest?.copyToArray().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("hashes of \"abc\" are those of RFC 1321 and FIPS 180")
    func hashes() throws {
        let authentication = try #require(OpenSSLAuthentication())
        let message = Array("abc".utf8)
        #expect(hexadecimal(authentication.hash(.md5, message.span.bytes)) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            hexadecimal(authentication.hash(.sha1, message.span.bytes)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hexadecimal(authentication.hash(.sha256, message.span.bytes))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("codes are those of RFC 2202 and RFC 4231, however the message is split")
    func codes() throws {
        let authentication = try #require(OpenSSLAuthentication())
        let key = Array("Jefe".utf8)
        let message = Array("what do ya want for nothing?".utf8)
        for cut in 0...message.count {
            let first = message.span.bytes.extracting(0..<cut)
            let second = message.span.bytes.extracting(cut..<message.count)
            #expect(
                hexadecimal(authentication.code(.sha1, key: key.span.bytes, first, second))
                    == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
            #expect(
                hexadecimal(authentication.code(.sha256, key: key.span.bytes, first, second))
                    == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        }
    }

    @Test("an empty key is not the key before it")
    func emptyKey() throws {
        let authentication = try #require(OpenSSLAuthentication())
        let key = Array("Jefe".utf8)
        let empty: [UInt8] = []
        let before = authentication.code(.sha256, key: empty.span.bytes, empty.span.bytes)
        _ = authentication.code(.sha256, key: key.span.bytes, key.span.bytes)
        #expect(authentication.code(.sha256, key: empty.span.bytes, empty.span.bytes) == before)
        #expect(hexadecimal(before) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test("random numbers differ")
    func random() throws {
        let first: [UInt8] = try #require(OpenSSLRandom.bytes(32))
        #expect(first != OpenSSLRandom.bytes(32))
        #expect(OpenSSLRandom.integer() != OpenSSLRandom.integer())
    }
}
