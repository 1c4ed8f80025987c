import Model
import TestSupport
import Testing
import Wire

@testable import Accounts

@Suite struct ServerKeyTests {
    /// A key whose checksum was computed with Python's zlib.
    @Test func aKnownKeyIsRead() throws {
        let text = "sbk_0123456789ABCDEF_" + String(repeating: "a", count: 43) + "_3xmzmS"
        #expect(try ServerKey(text).id.text == "0123456789ABCDEF")
    }

    @Test func theChecksumIsThatOfTheStandard() {
        // The check value of CRC-32/ISO-HDLC.
        #expect(Checksum.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(Checksum.crc32([]) == 0)
    }

    @Test func numbersHaveLeadingZeros() {
        #expect(String(decoding: Base62.encode(0, count: 6), as: UTF8.self) == "000000")
        #expect(String(decoding: Base62.encode(61, count: 6), as: UTF8.self) == "00000z")
        #expect(String(decoding: Base62.encode(UInt64(UInt32.max), count: 6), as: UTF8.self) == "4gfFC3")
    }

    @Test func aKeyThatWasMadeIsRead() throws {
        var generator = SeededRandom(seed: 7)
        var seen: Set<String> = []
        for _ in 0..<200 {
            let key = ServerKey.make(using: &generator)
            #expect(key.text.utf8.count == ServerKey.length)
            #expect(try ServerKey(key.text) == key)
            #expect(seen.insert(key.text).inserted)
            #expect(!"\(key)".contains(key.text.dropFirst(21).prefix(43)))
        }
    }

    @Test func everyWrongByteIsFound() throws {
        var generator = SeededRandom(seed: 8)
        let key = ServerKey.make(using: &generator)
        let bytes = Array(key.text.utf8)
        for index in bytes.indices {
            for byte in Set(Base62.digits + [UInt8(ascii: "_"), UInt8(ascii: " "), 0]) where byte != bytes[index] {
                var wrong = bytes
                wrong[index] = byte
                #expect(throws: ServerKey.Malformation.self) { try ServerKey(String(decoding: wrong, as: UTF8.self)) }
            }
        }
    }

    @Test func malformationsAreDistinguished() {
        var generator = SeededRandom(seed: 9)
        let text = ServerKey.make(using: &generator).text
        #expect(throws: ServerKey.Malformation.length) { try ServerKey("") }
        #expect(throws: ServerKey.Malformation.length) { try ServerKey(text + "0") }
        #expect(throws: ServerKey.Malformation.length) { try ServerKey(String(text.dropLast())) }
        #expect(throws: ServerKey.Malformation.characters) { try ServerKey("x" + text.dropFirst()) }
        // 71 bytes of other characters.
        #expect(throws: ServerKey.Malformation.characters) {
            try ServerKey("sbk_" + String(repeating: "é", count: 33) + "0")
        }
        let swapped = String(text.dropLast(6)) + (text.hasSuffix("000000") ? "000001" : "000000")
        #expect(throws: ServerKey.Malformation.checksum) { try ServerKey(swapped) }
    }

    @Test func aRotationOverlapsForADay() throws {
        let start = Timestamp(milliseconds: 1_700_000_000_000)
        var record = Self.record(at: start, expiresIn: 90 * 86_400)
        try record.rotate(to: [2], at: start)
        #expect(record.accepts([1], at: start.adding(seconds: 86_399)))
        #expect(!record.accepts([1], at: start.adding(seconds: 86_400)))
        #expect(record.accepts([2], at: start.adding(seconds: 86_400)))
        // Twice within a day: only the latest two.
        try record.rotate(to: [3], at: start)
        #expect(!record.accepts([1], at: start) && record.accepts([2], at: start) && record.accepts([3], at: start))
        #expect(!record.accepts([], at: start) && !record.accepts([3, 3], at: start))
        record.revoke(at: start)
        #expect(record.state(at: start) == .revoked && !record.accepts([2], at: start))
        #expect(throws: Problem.self) { try record.rotate(to: [4], at: start) }
    }

    @Test func aKeyExpiresOnTime() throws {
        let start = Timestamp(milliseconds: 1_700_000_000_000)
        var record = Self.record(at: start, expiresIn: 60)
        #expect(record.state(at: start.adding(milliseconds: 59_999)) == .active)
        #expect(record.state(at: start.adding(seconds: 60)) == .expired)
        #expect(throws: Problem.self) { try record.rotate(to: [2], at: start.adding(seconds: 60)) }
    }

    @Test func valuesAreCheckedByName() throws {
        #expect(try ServerKeyRules.lifetime("90d") == 90 * 86_400)
        #expect(try ServerKeyRules.lifetime("1s") == 1)
        #expect(try ServerKeyRules.lifetime("3650d") == 3650 * 86_400)
        for wrong in ["", "d", "0s", "-1d", "3651d", "9999999999d", "1w", "1.5h", "90", "٣d", "999999999d"] {
            #expect(throws: Problem.self, "\(wrong)") { try ServerKeyRules.lifetime(wrong) }
        }
        #expect(try ServerKeyRules.scopes(["users, tokens", "calls:read"]) == [.users, .tokens, .callsRead])
        #expect { try ServerKeyRules.scopes(["everything"]) } throws: { error in
            let problem = error as? Problem
            return problem?.field == "scope" && problem?.detail.contains("calls:write, conversations:read") == true
        }
        #expect(throws: Problem.self) { try ServerKeyRules.scopes([]) }
        #expect(throws: Problem.self) { try ServerKeyRules.scopes([","]) }
    }

    @Test func usersAreNamedByEitherID() throws {
        let id = UserID.make(at: Timestamp(milliseconds: 0))
        #expect(try UserReference(id.text, field: "user") == .id(id))
        #expect(try UserReference("ext:42", field: "user") == .external("42"))
        #expect(try UserReference("ext:auth0%7C4%32", field: "user") == .external("auth0|42"))
        #expect(try UserReference("ext%3Aa:b", field: "user") == .external("a:b"))
        let long = String(repeating: "x", count: UserReference.maxLength)
        #expect(try UserReference("ext:" + long, field: "user") == .external(long))
        for wrong in [
            "", "42", "ext:", "ext:\(long)x", "ext:a/b", "ext:a%2Fb", "ext:%", "ext:%4", "ext:%zz", "ext:é", "EXT:1",
        ] {
            #expect(throws: Problem.self, "\(wrong)") { try UserReference(wrong, field: "user") }
        }
    }

    private static func record(at now: Timestamp, expiresIn seconds: Int64) -> ServerKeyRecord {
        var generator = SeededRandom(seed: 1)
        return ServerKeyRecord(
            id: .make(using: &generator), name: "back end", hash: [1], scopes: [.users], createdAt: now,
            expiresAt: now.adding(seconds: seconds))
    }
}

@Suite struct RejectionCounterTests {
    @Test func anAttackIsAFewEntries() {
        var counter = RejectionCounter(capacity: 16)
        for number in 0..<10_000 {
            counter.add(
                AuditEntry(
                    actor: .unknown, action: "server.users.get", outcome: "unknown_key", address: "10.0.0.\(number)"))
        }
        let entries = counter.removeAll()
        #expect(entries.count == 17)
        #expect(entries.reduce(0) { $0 + $1.count } == 10_000)
        #expect(counter.isEmpty)
    }

    @Test func equalRefusalsAreOneEntry() {
        var counter = RejectionCounter()
        let entry = AuditEntry(actor: .unknown, action: "hello", outcome: "misplaced_key", address: "192.0.2.1")
        for _ in 0..<3 { counter.add(entry) }
        var counted = entry
        counted.count = 3
        #expect(counter.removeAll() == [counted])
        // What could not be written is added again.
        counter.add(counted)
        #expect(counter.removeAll() == [counted])
    }

    @Test func theLastRequestIsKept() {
        var counter = RejectionCounter()
        let requests = [RequestID.make(), RequestID.make()]
        for request in requests {
            counter.add(AuditEntry(actor: .unknown, action: "hello", outcome: "misplaced_key", request: request))
        }
        let entries = counter.removeAll()
        #expect(entries.map(\.count) == [2] && entries.map(\.request) == [requests[1]])
    }
}
