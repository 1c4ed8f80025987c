import Accounts
import Model
import PasswordHashing
import Testing

@Suite struct FirebaseScryptTests {
    static let signerKey = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
    /// The example of github.com/firebase/scrypt.
    static let published =
        "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=\(signerKey)$42xEC+ixf3L2lw==$"
        + "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="

    @Test func thePublishedVectorMatches() async throws {
        let hasher = Argon2Hasher(parameters: Argon2HasherTests.light, threads: 1)
        #expect(try await hasher.verify("user1password", against: Self.published) == .right(isOutdated: true))
        #expect(try await hasher.verify("user1passwore", against: Self.published) == .wrong)
        #expect(try await hasher.verify("", against: Self.published) == .wrong)
        // Others still match their own.
        let own = try await hasher.hash("user1password")
        #expect(try await hasher.verify("user1password", against: own) == .right(isOutdated: false))
        #expect(try await hasher.verify("user1passwore", against: own) == .wrong)
        #expect(try await hasher.verify("user1password", against: nil) == .wrong)
    }

    @Test(arguments: [
        "n=14,r=8", "v=2,n=14,r=8,p=1", "v=1,n=21,r=8,p=1", "v=1,n=17,r=64,p=1", "v=1,n=14,r=8,p=2", "v=1,n=0,r=8,p=1",
        "v=1,n=14,n=14,r=8,p=1",
    ])
    func otherParametersAreNoHash(parameters: String) {
        let text = Self.published.replacing("v=1,n=14,r=8,p=1", with: parameters)
        #expect(FirebaseHash(text) == nil)
    }

    @Test func aHashOfAnotherLengthIsNone() {
        #expect(FirebaseHash(Self.published) != nil)
        #expect(FirebaseHash(String(Self.published.dropLast(4))) == nil)
        #expect(FirebaseHash(Self.published + "$") == nil)
    }
}
