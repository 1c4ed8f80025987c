import Accounts
import AsyncHTTPClient
import Foundation
import Model
import PasswordHashing
import Storage
import Synchronization
import Tokens

/// A value that tests share between tasks.
final class Shared<Value: Sendable>: Sendable {
    private let box: Mutex<Value>
    init(_ value: Value) { box = Mutex(value) }
    var value: Value { box.withLock { $0 } }
    func update<T: Sendable>(_ change: (inout Value) -> T) -> T { box.withLock { change(&$0) } }
}

/// Accounts over a real database, real hashing (with little work) and real tokens, with time that a test moves.
final class ScratchAccounts: Sendable {
    let commands: AccountCommands
    let store: Store
    let tokens: AccessTokens
    let verifier: TokenVerifier
    let time = Shared(Timestamp(milliseconds: 1_800_000_000_000))
    let published = Shared<[Change]>([])
    let ended = Shared<[SignInID]>([])
    let disabled = Shared<[UserID]>([])
    let directory: String

    init(_ settings: AccountSettings = AccountSettings(), hashing: Argon2Parameters? = nil) async throws {
        directory = FileManager.default.temporaryDirectory.path + "/accounts-tests-\(UUID())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let (time, published, ended, disabled) = (time, published, ended, disabled)
        let database = try SQLiteDatabase(path: directory + "/switchboard.db")
        store = Store(database: database, clock: { time.value }, publish: { new in published.update { $0 += new } })
        try await store.prepare()
        let tokens = AccessTokens(key: .ephemeral())
        self.tokens = tokens
        let commands = AccountCommands(
            database: store,
            passwords: Argon2Hasher(parameters: hashing ?? Argon2Parameters(memory: 64, passes: 1, lanes: 1)),
            secrets: SystemSecrets(), tokens: tokens, settings: settings, uptime: { time.value.milliseconds },
            signInsEnded: { _, ids in ended.update { $0 += ids } },
            userDisabled: { user in disabled.update { $0.append(user) } })
        self.commands = commands
        verifier = TokenVerifier(
            own: tokens, external: ExternalIssuers([], client: .shared, uptime: { 0 }),
            user: { try await commands.user(of: $0) }, clock: { time.value })
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func advance(seconds: Int64) { time.update { $0 = $0.adding(seconds: seconds) } }

    @discardableResult
    func signUp(_ name: String, email: String? = nil, device: DeviceClaim? = nil) async throws -> SignedIn {
        let email = email ?? SearchTerms.terms(in: name).joined(separator: ".") + "@example.org"
        return try await commands.signUp(
            SignUpRequest(email: email, password: "correct horse", displayName: name, device: device))
    }
}

extension SignedIn {
    var principal: Principal { Principal(user: user.id, signIn: session.id) }
}

extension ScratchAccounts {
    func changes(of user: UserID) -> [Change] { published.value.filter { $0.stream == .user(user) } }
}
