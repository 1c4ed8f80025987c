import OpenSSLCrypto
import TestSupport
import Testing

@testable import SecureMedia

@Suite("Vectors of the RFCs")
struct VectorTests {
    @Test("RFC 3711 appendix B.2: the keystream of AES-CM")
    func keystream() throws {
        guard let cipher = CounterCipher.make(key: hex("2B7E151628AED2A6ABF7158809CF4F3C")) else {
            Issue.record("no cipher")
            return
        }
        var stream = [UInt8](repeating: 0, count: 0xFF02 * 16)
        let counter = UInt128(bigEndian: hex("F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000"))
        let isDone = stream.withUnsafeMutableBytes { cipher.apply(to: $0, counter: counter) }
        #expect(isDone)
        let start = "E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0"
        #expect(Array(stream.prefix(48)) == hex(start))
        let end = "EC8CDF7398607CB0F2D21675EA9EA1E4 362B7C3C6773516318A077D7FC5073AE 6A2CC3787889374FBEB4C81B17BA6C44"
        #expect(Array(stream.suffix(48)) == hex(end))
    }

    @Test("RFC 3711 appendix B.3: session keys from a master key")
    func derivation() throws {
        let key = try #require(
            SRTPMasterKey(
                .aes128CounterSHA1, key: hex("E1F97A0D3E018BE0D64FA32C06DE4139"),
                salt: hex("0EC675AD498AFEEBB6960B3AABE6")))
        let session = try #require(key.derive(.rtp))
        #expect(session.key == hex("C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(session.salt == hex("30CBBC08863D8C85D49DB34A9AE1"))
        #expect(session.authentication == hex("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
        let long = """
            CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE E049646C43D9327AD175578EF7227098 \
            6371C10C9A369AC2F94A8C5FBCDDDC25 6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2
            """
        #expect(key.derive(1, 94) == hex(long))
    }

    private static let salt = hex("517569642070726F2071756F")
    private static let rtp = hex(
        "8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472 6573"
    )
    private static let rtcp = hex(
        "81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef"
    )

    struct Sealed: CustomTestStringConvertible, Sendable {
        let profile: SRTPProfile
        let rtp: String
        let rtcp: String
        var testDescription: String { profile.name }
    }

    @Test(
        "RFC 7714 sections 16 and 17: packets under given session keys",
        arguments: [
            Sealed(
                profile: .aeadAES128,
                rtp: """
                    8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b \
                    36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce
                    """,
                rtcp: """
                    81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 \
                    86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
                    """),
            Sealed(
                profile: .aeadAES256,
                rtp: """
                    8040f17b 8041f8d3 5501a0b2 32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02 76ffae0f \
                    1ba63799 b87b7aa3 db36dfff d6b0f9bb 7878d7a7 6c13
                    """,
                rtcp: """
                    81c8000d 4d617273 d50ae4d1 f5ce5d30 4ba297e4 7d470c28 2c3ece5d bffe0a50 a2eaa5c1 110555be 8415f658 \
                    c61de047 6f1b6fad 1d1eb30c 4446839f 57ff6f6c b26ac3be 800005d4
                    """),
        ])
    func packets(_ sealed: Sealed) throws {
        let key = (0..<sealed.profile.keyByteCount).map { UInt8($0) }
        let keys = SRTPSessionKeys(profile: sealed.profile, key: key, authentication: [], salt: Self.salt)
        let ends = try Ends(session: keys)
        #expect(ends.protectRTP(Self.rtp) == .success(hex(sealed.rtp)))
        #expect(ends.unprotectRTP(hex(sealed.rtp)) == .success(Self.rtp))
        // The vector's compound is the sender's 1492nd.
        for _ in 0..<0x5D4 { _ = ends.protectRTCP(Self.rtcp) }
        #expect(ends.protectRTCP(Self.rtcp) == .success(hex(sealed.rtcp)))
        #expect(ends.unprotectRTCP(hex(sealed.rtcp)) == .success(Self.rtcp))
    }

    @Test("RFC 5764 section 4.2: both keys, then both salts")
    func keyingMaterial() throws {
        let exported = (0..<60).map { UInt8($0) }
        let material = try #require(SRTPKeyingMaterial(.aes128CounterSHA1, exported: exported))
        #expect(material.client.key == Array(0..<16))
        #expect(material.server.key == Array(16..<32))
        #expect(material.client.salt == Array(32..<46))
        #expect(material.server.salt == Array(46..<60))
        #expect(SRTPKeyingMaterial(.aeadAES128, exported: exported) == nil)
        #expect(SRTPProfile.preferred.map(SRTPKeyingMaterial.byteCount(for:)) == [56, 88, 60])
    }
}
