import OpenSSLCrypto
import TestSupport
import Testing
import Wire

@Suite("AES-GCM")
struct OpenSSLDecryptionTests {
    private func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], associated: [UInt8]
    ) throws -> [UInt8]? {
        try #require(OpenSSLDecryption()).open(
            sealed.span.bytes, key: key.span.bytes, nonce: nonce.span.bytes, associated: associated.span.bytes)
    }

    /// Test cases 4 and 16 of McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B.
    @Test(
        "opens the vectors, and no broken twin",
        arguments: [
            (
                "feffe9928665731c6d6a8f9467308308",
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
                    + "1ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47"
            ),
            (
                "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                    + "c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
            ),
        ])
    func vectors(key: String, sealed: String) throws {
        let plain = hex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
                + "b16aedf5aa0de657ba637b39")
        let associated = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let nonce = hex("cafebabefacedbaddecaf888")
        #expect(try open(hex(sealed), key: hex(key), nonce: nonce, associated: associated) == plain)
        for bit in 0..<sealed.count * 4 {
            #expect(try open(hex(sealed).flippingBit(bit), key: hex(key), nonce: nonce, associated: associated) == nil)
        }
        #expect(try open(hex(sealed), key: hex(key), nonce: nonce, associated: Array(associated.dropLast())) == nil)
        #expect(try open(hex(sealed), key: hex(key), nonce: Array(nonce.dropLast()), associated: associated) == nil)
    }

    @Test("sizes that make no sense open nothing")
    func sizes() throws {
        let key = [UInt8](repeating: 0, count: 32)
        for count in [0, 1, 15] {
            #expect(try open([UInt8](repeating: 0, count: count), key: key, nonce: key, associated: []) == nil)
        }
        #expect(try open(key, key: [1], nonce: key, associated: []) == nil)
        #expect(try open(key, key: key, nonce: [], associated: []) == nil)
    }
}
