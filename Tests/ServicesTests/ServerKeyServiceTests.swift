import Accounts
import Logging
import Model
import Storage
import TestSupport
import Testing
import Tokens

@testable import Services

/// Keys in memory, their checks, and the audit log, over a real database.
@Suite struct ServerKeyServiceTests {
    let time: ManualClock<Timestamp>
    let store: Store
    let keys: ServerKeyService

    init() async throws {
        let scratch = try await ScratchServerKeys()
        (time, store, keys) = (scratch.time, scratch.store, scratch.keys)
    }

    private func create(
        _ scopes: [String] = ["users"], lifetime: String? = nil, addresses: [String] = []
    ) async throws -> ServerKey {
        try await keys.create(name: "back end", scopes: scopes, lifetime: lifetime, addresses: addresses).key
    }

    private func authenticate(
        _ text: String?, from address: String = "192.0.2.7", scope: ServerKeyScope = .users, foreign: Bool = false
    ) -> ServerKeyRefusal? {
        do throws(ServerKeyRefusal) {
            _ = try keys.authenticate(
                ServerKeyService.Request(
                    action: "server.users.get", authorization: text.map { "Bearer " + $0 }, address: address,
                    hasForeignOrigin: foreign, scope: scope))
            return nil
        } catch {
            return error
        }
    }

    @Test func aKeyWorksAtOnceAndARevokedOneNoLonger() async throws {
        let key = try await create()
        #expect(authenticate(key.text) == nil)
        #expect(authenticate(nil) == .missing)
        #expect(authenticate("abc") == .missing)
        #expect(authenticate(key.text + "0") == .malformed(.length))
        var generator = SystemRandomNumberGenerator()
        #expect(authenticate(ServerKey.make(using: &generator).text) == .unknown)
        // The right id with another secret.
        #expect(authenticate(ServerKey.make(id: key.id, using: &generator).text) == .unknown)
        _ = try await keys.revoke(key.id.text)
        #expect(authenticate(key.text) == .revoked)
        await #expect(throws: Problem.self) { try await keys.rotate(key.id.text) }
    }

    @Test func scopeAddressOriginAndExpiryAreChecked() async throws {
        let key = try await create(
            ["users", "tokens"], lifetime: "1h", addresses: ["192.0.2.0/24", "2001:db8:1::/48"])
        #expect(authenticate(key.text, scope: .tokens) == nil)
        #expect(authenticate(key.text, scope: .callsRead) == .wrongScope(.callsRead))
        #expect(authenticate(key.text, from: "2001:db8:1:2::/64") == nil)
        #expect(authenticate(key.text, from: "2001:db8:2::/64") == .wrongAddress)
        #expect(authenticate(key.text, from: "192.0.3.1") == .wrongAddress)
        #expect(authenticate(key.text, from: "-") == .wrongAddress)
        #expect(authenticate(key.text, foreign: true) == .foreignOrigin)
        time.advance(seconds: 3599)
        #expect(authenticate(key.text) == nil)
        time.advance(seconds: 1)
        #expect(authenticate(key.text) == .expired)
    }

    @Test func aRotatedKeyOverlaps() async throws {
        let old = try await create()
        let new = try await keys.rotate("sbk_\(old.id)").key
        #expect(new.id == old.id && new.text != old.text)
        #expect(authenticate(old.text) == nil && authenticate(new.text) == nil)
        time.advance(seconds: 86_400)
        #expect(authenticate(old.text) == .unknown && authenticate(new.text) == nil)
    }

    @Test func keysSurviveARestartAndNotARestore() async throws {
        let key = try await create()
        let again = ServerKeyService(
            database: store, secrets: SystemSecrets(), audit: keys.audit, clock: { [time] in time.now })
        try await again.load()
        let request = ServerKeyService.Request(
            action: "server.users.get", authorization: "bearer \(key.text)", address: "192.0.2.7",
            hasForeignOrigin: false, scope: .users)
        #expect(try again.authenticate(request).id == key.id)
        try await store.beginAfterRestore()
        try await again.load()
        #expect(throws: ServerKeyRefusal.revoked) { try again.authenticate(request) }
    }

    @Test func rejectionsAreCounted() async throws {
        let key = try await create()
        let wrongText = key.text.dropLast() + (key.text.hasSuffix("0") ? "1" : "0")
        for _ in 0..<10_000 where authenticate(String(wrongText)) != .malformed(.checksum) {
            Issue.record("the wrong key was not refused")
        }
        #expect(authenticate(key.text, scope: .tokens) == .wrongScope(.tokens))
        let entries = try await keys.audit.entries(since: Timestamp(milliseconds: 0), limit: 1000)
        #expect(entries.count < 10)
        #expect(entries.first?.action == "key.create" && entries.first?.subject == key.id.text)
        let scope = entries.first { $0.outcome == "wrong_scope" }
        #expect(scope?.actor == .key(key.id) && scope?.count == 1)
        let wrong = entries.filter { $0.outcome == "malformed_key" }
        #expect(wrong.count == 1 && wrong.allSatisfy { $0.count == 10_000 && $0.actor == .unknown })
        #expect(entries.allSatisfy { !$0.line.contains(key.text) && !$0.json.contains(key.text.suffix(50)) })
        // Nothing is counted twice.
        #expect(try await keys.audit.entries(since: Timestamp(milliseconds: 0), limit: 1000) == entries)
    }

    @Test func theLastUseIsWrittenWithTheRefusals() async throws {
        let key = try await create()
        #expect(try await keys.list().keys.first?.lastUsedAt == nil)
        time.advance(seconds: 5)
        #expect(authenticate(key.text) == nil)
        #expect(try await keys.list().keys.first?.lastUsedAt == time.now)
    }

    @Test func thereAreAtMostSoManyKeys() async throws {
        var last: ServerKey?
        for _ in 0..<ServerKeyRules.maxKeys { last = try await create() }
        await #expect(throws: Problem.self) { try await create() }
        _ = try await keys.revoke(#require(last).id.text)
        _ = try await create()
    }

    @Test func rangesAreCheckedByName() throws {
        #expect(
            try KeyAddresses.validated(["192.0.2.9/24", "10.1.2.3", "2001:db8::/32"])
                == ["192.0.2.0/24", "10.1.2.3/32", "2001:db8::/32"])
        for wrong in ["", "x", "192.0.2.0/33", "2001:db8::1", "2001:db8::/65", "192.0.2.0/-1"] {
            #expect(throws: Problem.self, "\(wrong)") { try KeyAddresses.validated([wrong]) }
        }
        #expect(throws: Problem.self) {
            try KeyAddresses.validated(Array(repeating: "10.0.0.0/8", count: ServerKeyRules.maxAddresses + 1))
        }
        // A range that an older or damaged row has matches nobody, instead of everybody.
        #expect(!KeyAddresses(["damaged"]).contains("192.0.2.1"))
        #expect(KeyAddresses([]).contains("192.0.2.1"))
    }
}
