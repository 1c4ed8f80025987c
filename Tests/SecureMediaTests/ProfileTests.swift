import SecureMedia
import Testing

@Suite("SRTP profiles")
struct ProfileTests {
    @Test("the numbers and lengths of RFC 5764 and RFC 7714")
    func numbers() {
        #expect(SRTPProfile.preferred.map(\.rawValue) == [7, 8, 1])
        #expect(SRTPProfile.preferred.map(\.keyByteCount) == [16, 32, 16])
        #expect(SRTPProfile.preferred.map(\.saltByteCount) == [12, 12, 14])
        #expect(SRTPProfile.preferred.map(\.tagByteCount) == [16, 16, 10])
        #expect(SRTPProfile(rawValue: 2) == nil)
    }

    @Test("a configuration names them in its order")
    func names() throws {
        #expect(try SRTPProfile.list(["AES128-CM-SHA1-80", "AEAD-AES-256-GCM"]) == [.aes128CounterSHA1, .aeadAES256])
        #expect(try SRTPProfile(named: "SRTP_AEAD_AES_128_GCM") == .aeadAES128)
        #expect(try SRTPProfile(named: "SRTP_AES128_CM_HMAC_SHA1_80") == .aes128CounterSHA1)
        #expect(throws: SRTPProfileError.none) { try SRTPProfile.list([]) }
        #expect(throws: SRTPProfileError.unknown("AES-CM-32")) { try SRTPProfile.list(["AES-CM-32"]) }
        #expect(throws: SRTPProfileError.twice("AEAD-AES-128-GCM")) {
            try SRTPProfile.list(["AEAD-AES-128-GCM", "AEAD-AES-128-GCM"])
        }
    }

    @Test("a master key has its profile's lengths")
    func lengths() {
        #expect(SRTPMasterKey(.aeadAES128, key: [UInt8](repeating: 1, count: 16), salt: []) == nil)
        #expect(
            SRTPMasterKey(
                .aeadAES256, key: [UInt8](repeating: 1, count: 16), salt: [UInt8](repeating: 1, count: 12)) == nil)
    }
}
