import Accounts
import Logging
import Model
import Storage
import TestSupport
import Testing
import Tokens

@testable import Services

/// Sessions of operators, and keys that operators make, over a real database.
@Suite struct OperatorTests {
    let time: ManualClock<Timestamp>
    let store: Store
    let keys: ServerKeyService
    let sessions: OperatorSessions

    init() async throws {
        let scratch = try await ScratchServerKeys()
        (time, store, keys) = (scratch.time, scratch.store, scratch.keys)
        let time = time
        sessions = OperatorSessions(keys: keys, secrets: SystemSecrets(), clock: { time.now })
    }

    private func makeOperator(
        _ scopes: [String] = ["operator"], lifetime: String? = nil, addresses: [String] = []
    ) async throws -> KeyPrincipal {
        let made = try await keys.create(name: "Olga", scopes: scopes, lifetime: lifetime, addresses: addresses)
        return KeyPrincipal(id: made.key.id, scopes: made.record.scopes, address: "192.0.2.7")
    }

    private func refusal(_ token: String?, from address: String = "192.0.2.7") -> Problem.Kind? {
        do {
            _ = try sessions.find(token, from: address)
            return nil
        } catch {
            return (error as? Problem)?.kind
        }
    }

    @Test func aSessionLastsTwelveHours() async throws {
        let key = try await makeOperator()
        let opened = sessions.open(by: key)
        #expect(try sessions.find(opened.token, from: "192.0.2.7").id == key.id)
        for other in [nil, "", "sbo_", opened.token + "0", String(repeating: "a", count: 100_000)] {
            #expect(refusal(other) == .unauthenticated)
        }
        time.advance(seconds: 12 * 3600 - 1)
        #expect(refusal(opened.token) == nil)
        time.advance(seconds: 1)
        #expect(refusal(opened.token) == .unauthenticated && sessions.count == 0)
    }

    @Test func aSessionEndsWithItsKey() async throws {
        let brief = try await makeOperator(lifetime: "1h")
        let other = try await makeOperator()
        let (one, two) = (sessions.open(by: brief), sessions.open(by: other))
        time.advance(seconds: 3600)
        #expect(refusal(one.token) == .unauthenticated && refusal(two.token) == nil)
        _ = try await keys.revoke(other.id.text)
        #expect(refusal(two.token) == .unauthenticated && sessions.count == 0)
    }

    @Test func eachRequestOfASessionThatEndedHasTheSameReason() async throws {
        let revoked = try await makeOperator()
        let tokens = (0..<OperatorSessions.maxPerKey).map { _ in sessions.open(by: revoked).token }
        _ = try await keys.revoke(revoked.id.text)
        for token in tokens + tokens {
            let problem = #expect(throws: Problem.self) { try sessions.find(token, from: "192.0.2.7") }
            #expect(problem?.detail.contains("revoked") == true)
        }
        let brief = sessions.open(by: try await makeOperator())
        time.advance(seconds: OperatorSessions.lifetime)
        for _ in 0..<2 {
            let problem = #expect(throws: Problem.self) { try sessions.find(brief.token, from: "192.0.2.7") }
            #expect(problem?.detail.contains("12 hours") == true)
        }
        #expect(sessions.count == 0)
    }

    @Test func sessionsThatEndedAreForgottenInTheEnd() async throws {
        var tokens: [String] = []
        for _ in 0..<5 {
            let key = try await makeOperator()
            tokens += (0..<OperatorSessions.maxPerKey).map { _ in sessions.open(by: key).token }
            _ = try await keys.revoke(key.id.text)
        }
        for token in tokens { #expect(refusal(token) == .unauthenticated) }
        let known = tokens.filter { token in
            let problem = #expect(throws: Problem.self) { try sessions.find(token, from: "192.0.2.7") }
            return problem?.detail.contains("revoked") == true
        }
        #expect(known == tokens.suffix(OperatorSessions.maxEnded))
    }

    @Test func aRotatedKeyKeepsItsSessions() async throws {
        let key = try await makeOperator()
        let opened = sessions.open(by: key)
        _ = try await keys.rotate(key.id.text)
        #expect(refusal(opened.token) == nil)
    }

    @Test func theAddressIsCheckedEachTime() async throws {
        let opened = sessions.open(by: try await makeOperator(addresses: ["192.0.2.0/24"]))
        #expect(refusal(opened.token, from: "198.51.100.1") == .forbidden)
        #expect(refusal(opened.token) == nil)
    }

    @Test func sessionsOfAKeyAreBounded() async throws {
        let (key, other) = (try await makeOperator(), try await makeOperator())
        let kept = sessions.open(by: other)
        let opened = (0..<40).map { _ in sessions.open(by: key).token }
        #expect(
            opened.map { refusal($0) == nil } == Array(repeating: false, count: 24) + Array(repeating: true, count: 16))
        #expect(refusal(kept.token) == nil && sessions.count == 17)
        time.advance(seconds: OperatorSessions.lifetime)
        _ = sessions.open(by: key)
        #expect(sessions.count == 1, "what is over goes")
    }

    @Test func signingOutTwiceChangesNothing() async throws {
        let opened = sessions.open(by: try await makeOperator())
        sessions.end(opened.token)
        sessions.end(opened.token)
        #expect(refusal(opened.token) == .unauthenticated)
    }

    @Test func aRepeatedRequestHasTheSameKey() async throws {
        let (one, other) = (try await makeOperator(), try await makeOperator())
        let request = ClientID.make(at: time.now)
        func create(_ key: KeyPrincipal, name: String = "shop", _ request: ClientID) async throws -> MadeKey {
            try await keys.create(
                name: name, scopes: ["users"], lifetime: "1d", addresses: [], by: .operator(key, request: request))
        }
        let made = try await create(one, request)
        time.advance(seconds: 5)
        let again = try await create(one, request)
        #expect(!made.isDuplicate && again.isDuplicate && made.key == again.key)
        #expect(try await create(other, request).key != made.key)
        #expect(try await create(one, .make(at: time.now)).key != made.key)
        await #expect(throws: Problem.self) { try await create(one, name: "another", request) }
        #expect(try await keys.list().keys.count == 5)
        _ = try await keys.revoke(made.key.id.text)
        await #expect(throws: Problem.self) { try await create(one, request) }
    }

    @Test func aRepeatedRotationRotatesOnce() async throws {
        let key = try await makeOperator()
        let made = try await keys.create(name: "shop", scopes: ["users"], lifetime: nil, addresses: [])
        let first = KeyAdministrator.operator(key, request: .make(at: time.now))
        let new = try await keys.rotate(made.key.id.text, by: first)
        let again = try await keys.rotate(made.key.id.text, by: first)
        #expect(new.key == again.key && new.key != made.key && again.isDuplicate)
        #expect(new.record.previous?.hash == made.record.hash && again.record == new.record)
        _ = try await keys.rotate(made.key.id.text, by: .operator(key, request: .make(at: time.now)))
        await #expect(throws: Problem.self) { try await keys.rotate(made.key.id.text, by: first) }
    }

    @Test func everyChangeNamesTheOperator() async throws {
        let key = try await makeOperator()
        let administrator = KeyAdministrator.operator(key, request: .make(at: time.now))
        let made = try await keys.create(
            name: "shop", scopes: ["users"], lifetime: nil, addresses: [], by: administrator)
        _ = try await keys.create(name: "shop", scopes: ["users"], lifetime: nil, addresses: [], by: administrator)
        _ = try await keys.revoke(made.key.id.text, by: .operator(key))
        let entries = try await keys.audit.entries(before: nil, limit: 10)
        #expect(entries.map(\.action) == ["admin.keys.revoke", "admin.keys.create", "key.create"])
        #expect(entries.map(\.actor) == [.key(key.id), .key(key.id), .commandLine])
        #expect(entries.prefix(2).allSatisfy { $0.subject == made.key.id.text && $0.address == "192.0.2.7" })
    }

    @Test func theAuditLogIsReadInPages() async throws {
        for number in 1...5 {
            try await keys.audit.write(AuditEntry(actor: .commandLine, action: "test.\(number)"))
        }
        let first = try await keys.audit.entries(before: nil, limit: 2)
        #expect(first.map(\.action) == ["test.5", "test.4"])
        let rest = try await keys.audit.entries(before: first.last?.id, limit: 10)
        #expect(rest.map(\.action) == ["test.3", "test.2", "test.1"])
        keys.audit.refused("test.refused", by: .unknown, because: "no_session", from: nil)
        #expect(try await keys.audit.entries(before: nil, limit: 1).map(\.action) == ["test.refused"])
    }

    @Test func derivedNumbersFollowFromTheirLabel() {
        var (one, same) = (
            DerivedNumbers(secret: keys.repetitionSecret, label: "a"),
            DerivedNumbers(secret: keys.repetitionSecret, label: "a")
        )
        var other = DerivedNumbers(secret: keys.repetitionSecret, label: "b")
        let numbers = (0..<100).map { _ in one.next() }
        #expect(numbers == (0..<100).map { _ in same.next() })
        #expect(Set(numbers).count == 100 && Set(numbers).isDisjoint(with: (0..<100).map { _ in other.next() }))
    }
}
