import Accounts
import Model
import PasswordHashing
import Testing

@Suite struct Argon2HasherTests {
    static let light = Argon2Parameters(memory: 64, passes: 1, lanes: 1)

    @Test func theStandardIsInTheHash() async throws {
        let hasher = Argon2Hasher(threads: 1)
        let hash = try await hasher.hash("correct horse")
        #expect(hash.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        #expect(try await hasher.verify("correct horse", against: hash) == .right(isOutdated: false))
        #expect(try await hasher.verify("correct horsf", against: hash) == .wrong)
        #expect(try await hasher.verify("correct horse", against: nil) == .wrong)
    }

    /// Made with the argon2 command of the reference implementation.
    @Test func aHashOfTheReferenceImplementationMatches() async throws {
        let hasher = Argon2Hasher(parameters: Self.light, threads: 1)
        let hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
        #expect(try await hasher.verify("password", against: hash) == .right(isOutdated: true))
        #expect(try await hasher.verify("differentpassword", against: hash) == .wrong)
    }

    @Test func equalPasswordsHaveDifferentHashes() async throws {
        let hasher = Argon2Hasher(parameters: Self.light)
        #expect(try await hasher.hash("same password") != hasher.hash("same password"))
    }

    @Test func theFormOfAccentsDoesNotMatter() async throws {
        let hasher = Argon2Hasher(parameters: Self.light)
        let hash = try await hasher.hash("caf\u{E9} au lait")
        #expect(try await hasher.verify("cafe\u{301} au lait", against: hash) == .right(isOutdated: false))
    }

    @Test(arguments: ["", "nonsense", "$argon2id$v=19$m=1,t=0,p=0$x$y", "$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$AAAA"])
    func whatIsNoHashMatchesNothing(stored: String) async throws {
        let hasher = Argon2Hasher(parameters: Self.light)
        #expect(try await hasher.verify("password", against: stored) == .wrong)
    }

    @Test func aFullQueueSaysWhenToComeBack() async throws {
        let hasher = Argon2Hasher(threads: 1, queueLimit: 2)
        let problems = await withTaskGroup(of: Problem?.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    do {
                        _ = try await hasher.hash("password")
                        return nil
                    } catch { return error as? Problem }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let refused = problems.compactMap(\.self)
        #expect(!refused.isEmpty && refused.count < 40)
        #expect(refused.allSatisfy { $0.kind == .unavailable && $0.retryAfter == 1000 })
        #expect(try await hasher.hash("password").isEmpty == false)
    }
}
