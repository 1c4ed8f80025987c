import Accounts
import AsyncHTTPClient
import Model
import PasswordHashing
import Storage
import TestSupport
import Testing
import Tokens

/// Accounts over a real database, real hashing (with little work) and real tokens, with time that a test moves.
final class ScratchAccounts: Sendable {
    let commands: AccountCommands
    let store: Store
    let tokens: AccessTokens
    let verifier: TokenVerifier
    let time = ManualClock<Timestamp>()
    let published = Shared<[Change]>([])
    let ended = Shared<[SignInID]>([])
    let disabled = Shared<[UserID]>([])

    init(_ settings: AccountSettings = AccountSettings(), hashing: Argon2Parameters? = nil) async throws {
        let (time, published, ended, disabled) = (time, published, ended, disabled)
        let database = try SQLiteDatabase(path: try ScratchDirectory().database)
        store = Store(database: database, clock: { time.now }, publish: { new in published.update { $0 += new } })
        try await store.prepare()
        let tokens = AccessTokens(key: .ephemeral())
        self.tokens = tokens
        let commands = AccountCommands(
            database: store,
            passwords: Argon2Hasher(parameters: hashing ?? Argon2Parameters(memory: 64, passes: 1, lanes: 1)),
            secrets: SystemSecrets(), tokens: tokens, settings: settings, uptime: { time.now.milliseconds },
            signInsEnded: { _, ids in ended.update { $0 += ids } },
            userDisabled: { user in disabled.update { $0.append(user) } })
        self.commands = commands
        verifier = TokenVerifier(
            own: tokens, external: ExternalIssuers([], client: .shared, uptime: { 0 }),
            user: { try await commands.user(of: $0) }, clock: { time.now })
    }

    func advance(seconds: Int64) { time.advance(seconds: seconds) }

    @discardableResult
    func signUp(_ name: String, email: String? = nil, device: DeviceClaim? = nil) async throws -> SignedIn {
        let email = email ?? SearchTerms.terms(in: name).joined(separator: ".") + "@example.org"
        return try await commands.signUp(
            SignUpRequest(email: email, password: "correct horse", displayName: name, device: device))
    }
}

/// The problem with which some work must end.
func problem(_ work: () async throws -> Void) async -> Problem? {
    await #expect(throws: Problem.self) { try await work() }
}

extension ScratchAccounts {
    /// As `FriendCommands.block` does it.
    func block(_ user: UserID, by principal: Principal) async throws -> [StreamName: Position] {
        try await store.write { try $0.addBlock(of: user, by: principal) }.positions
    }
}

extension SignedIn {
    var principal: Principal { Principal(user: user.id, signIn: session.id) }
}

extension ScratchAccounts {
    func changes(of user: UserID) -> [Change] { published.value.filter { $0.stream == .user(user) } }
}
