import Testing
import Wire

@Suite("Wire primitives")
struct PrimitivesTests {
    @Test("integers are read in network order and never beyond the end")
    func integers() {
        let bytes: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05]
        let span = bytes.span.bytes
        #expect(span.integer(at: 0, as: UInt16.self) == 0x0102)
        #expect(span.integer(at: 1, as: UInt32.self) == 0x0203_0405)
        for offset in [-1, 2, 5, Int.max, Int.min] {
            #expect(span.integer(at: offset, as: UInt32.self) == nil)
        }
        #expect(span.byte(at: 4) == 5)
        #expect(span.byte(at: 5) == nil)
        #expect(span.byte(at: -1) == nil)
    }

    @Test("base64 follows the vectors of RFC 4648 section 10")
    func base64() {
        for (text, encoded) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let bytes = Array(text.utf8)
            #expect(String(decoding: Base64.encode(bytes.span.bytes), as: UTF8.self) == encoded)
            let back = Array(encoded.utf8)
            #expect(Base64.decode(back.span.bytes) == bytes)
        }
    }

    @Test(
        "base64 has one spelling for each value",
        arguments: ["Zg", "Zg=", "Zh==", "Z===", "====", "Zg==Zg==", "Zm9=", "Z m9v"])
    func brokenBase64(text: String) {
        let bytes = Array(text.utf8)
        #expect(Base64.decode(bytes.span.bytes) == nil)
    }

    @Test("instants saturate")
    func instants() {
        let late = Instant(nanoseconds: .max - 5)
        #expect(late.adding(seconds: .max) == .distantFuture)
        #expect(Instant(nanoseconds: 5).seconds(since: late) == 0)
        #expect(Instant(nanoseconds: 3_500_000_000).seconds(since: Instant(nanoseconds: 500_000_000)) == 3)
        #expect(Instant.distantFuture.seconds(since: Instant(nanoseconds: 0)) == .max)
    }

    @Test("digests compare by what they hold")
    func digests() {
        let bytes: [UInt8] = [1, 2, 3]
        let digest = Digest(bytes.span.bytes)
        #expect(digest == Digest(bytes.span.bytes))
        let isEqual = digest.equalsInConstantTime(bytes.span.bytes)
        #expect(isEqual)
        let longer: [UInt8] = [1, 2, 3, 0]
        #expect(digest != Digest(longer.span.bytes))
        let isLongerEqual = digest.equalsInConstantTime(longer.span.bytes)
        #expect(!isLongerEqual)
        #expect(digest.copyToArray() == bytes)
    }

    @Test("seeded chance repeats itself")
    func seeded() {
        var first = SeededRandom(seed: 7)
        var second = SeededRandom(seed: 7)
        #expect((0..<100).allSatisfy { _ in first.next() == second.next() })
    }
}
