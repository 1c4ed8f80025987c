import Testing
import Wire

@Suite("MAC with rotating keys")
struct RotatingKeyMACTests {
    /// Not a MAC: it only depends on every byte of the key and of the message.
    private struct Checksums: MessageAuthentication {
        var works = true

        func hash(_ function: HashFunction, _ message: RawSpan) -> Digest? { nil }

        func code(_ function: HashFunction, key: RawSpan, _ first: RawSpan, _ second: RawSpan) -> Digest? {
            guard works else { return nil }
            var seed: UInt64 = 0
            for byte in key.copyToArray() + [0] + first.copyToArray() + second.copyToArray() {
                seed = (seed ^ UInt64(byte)) &* 0x0100_0000_01B3
            }
            var random = SeededRandom(seed: seed)
            var code: [UInt8] = []
            while code.count < function.byteCount { code.append(bigEndian: random.next()) }
            return Digest(code.span.bytes)
        }
    }

    private static let lifetime: UInt32 = 60
    private let checksums = Checksums()
    private let message: [UInt8] = [1, 2, 3, 4]
    private let rest: [UInt8] = [5]

    private static func key(_ name: String) -> Digest { Digest(Array(name.utf8).span.bytes) }

    private func make(byteCount: Int = 11) -> RotatingKeyMAC {
        RotatingKeyMAC(key: Self.key("first"), byteCount: byteCount, lifetime: Self.lifetime)
    }

    private func code(_ mac: RotatingKeyMAC) throws -> [UInt8] {
        let code = mac.code(of: message.span.bytes, rest.span.bytes, checksums)
        return try #require(code).copyToArray()
    }

    private func isValid(_ code: [UInt8], _ mac: RotatingKeyMAC, from seconds: UInt32 = 0, after: UInt64 = 0) -> Bool {
        mac.isValid(
            code.span.bytes, from: seconds, at: Instant(nanoseconds: after * 1_000_000_000), of: message.span.bytes,
            rest.span.bytes, checksums)
    }

    @Test("a code is the beginning of the HMAC of both parts")
    func truncation() throws {
        let whole = try code(make(byteCount: 32))
        #expect(whole.count == 32)
        for byteCount in [1, 11, 16, 31] {
            let code = try code(make(byteCount: byteCount))
            #expect(code == Array(whole.prefix(byteCount)))
            #expect(isValid(code, make(byteCount: byteCount)))
        }
        let joined = message + rest
        let same = make().code(of: joined.span.bytes, joined.span.bytes.extracting(0..<0), checksums)
        #expect(same?.copyToArray() == Array(whole.prefix(11)))
    }

    @Test("a changed, shorter or longer code, and one for another message, is rejected")
    func wrongCodes() throws {
        let mac = make()
        let code = try code(mac)
        for index in code.indices {
            var wrong = code
            wrong[index] ^= 1
            #expect(!isValid(wrong, mac))
        }
        for count in 0..<code.count { #expect(!isValid(Array(code.prefix(count)), mac)) }
        #expect(!isValid(code + [0], mac))
        let now = Instant(nanoseconds: 0)
        let swapped = mac.isValid(
            code.span.bytes, from: 0, at: now, of: rest.span.bytes, message.span.bytes, checksums)
        #expect(!swapped)
    }

    @Test("a code outlives one rotation and not two")
    func rotation() throws {
        var mac = make()
        let first = try code(mac)
        mac.rotate(to: Self.key("second"))
        let second = try code(mac)
        #expect(second != first)
        #expect(isValid(first, mac) && isValid(second, mac))
        mac.rotate(to: Self.key("third"))
        #expect(!isValid(first, mac) && isValid(second, mac))
    }

    @Test("a code is valid for its lifetime, across the end of the seconds' range too")
    func lifetime() throws {
        let mac = make()
        let code = try code(mac)
        #expect(isValid(code, mac, from: 100, after: 100))
        #expect(isValid(code, mac, from: 100, after: 159))
        #expect(!isValid(code, mac, from: 100, after: 160))
        #expect(!isValid(code, mac, from: 101, after: 100))
        let end = UInt64(UInt32.max)
        #expect(RotatingKeyMAC.seconds(at: Instant(nanoseconds: (end + 6) * 1_000_000_000)) == 5)
        #expect(isValid(code, mac, from: .max, after: end + 59))
        #expect(!isValid(code, mac, from: .max, after: end + 60))
    }

    @Test("without working cryptography there is no code, and none is valid")
    func failure() throws {
        let mac = make()
        let code = try code(mac)
        let broken = Checksums(works: false)
        let made = mac.code(of: message.span.bytes, rest.span.bytes, broken)
        #expect(made == nil)
        let isAccepted = mac.isValid(
            code.span.bytes, from: 0, at: Instant(nanoseconds: 0), of: message.span.bytes, rest.span.bytes, broken)
        #expect(!isAccepted)
    }
}
