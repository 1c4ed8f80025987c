import Accounts
import Messaging
import Model
import Storage
import TestSupport

@testable import Calls

/// A store of calls with test helpers. Every scenario runs on both implementations, so that the database must behave
/// like the plain one.
protocol StoreHarness: AnyObject {
    var store: any CallStore { get }
    /// Runs a command as a transaction: a thrown error rolls it back.
    func transact<T>(_ job: () throws -> T) throws -> T
    func add(_ user: UserID, name: String, callWaiting: Bool) throws
    func disable(_ user: UserID) throws
    /// Signs a user in.
    func open(_ signIn: SignInID, of user: UserID) throws
    func end(_ signIn: SignInID) throws
    func block(_ user: UserID, by blocker: UserID) throws
    func entries(of stream: StreamName) throws -> [StreamEntry]
    /// A new group conversation.
    func group(_ members: [UserID], id: ConversationID) throws
    func leave(_ conversation: ConversationID, by user: UserID) throws
}

final class MemoryStoreHarness: StoreHarness {
    private let memory = MemoryCallStore()
    var store: any CallStore { memory }

    func transact<T>(_ job: () throws -> T) throws -> T {
        let before = memory.state
        do {
            return try job()
        } catch {
            memory.state = before
            throw error
        }
    }

    func add(_ user: UserID, name: String, callWaiting: Bool) {
        memory.state.people[user] = .init(displayName: name, allowsCallWaiting: callWaiting)
    }

    func disable(_ user: UserID) { memory.state.people[user]?.isDisabled = true }
    func open(_ signIn: SignInID, of user: UserID) {}
    func end(_ signIn: SignInID) { memory.state.endedSignIns.insert(signIn) }
    func block(_ user: UserID, by blocker: UserID) { memory.state.blocks.insert([blocker, user]) }
    func entries(of stream: StreamName) -> [StreamEntry] { memory.state.streams[stream] ?? [] }
    func group(_ members: [UserID], id: ConversationID) { memory.state.groups[id] = Set(members) }
    func leave(_ conversation: ConversationID, by user: UserID) { memory.state.groups[conversation]?.remove(user) }
}

/// The real store, inside one transaction of a database: a command is a savepoint in it.
final class DatabaseStoreHarness: StoreHarness {
    private let transaction: StoreTransaction
    private let now: Timestamp
    var store: any CallStore { transaction }

    init(_ sql: any SQLTransaction, now: Timestamp) {
        transaction = StoreTransaction(sql, now: now)
        self.now = now
    }

    func transact<T>(_ job: () throws -> T) throws -> T {
        try transaction.sql.execute("SAVEPOINT command")
        do {
            let value = try job()
            try transaction.sql.execute("RELEASE command")
            return value
        } catch {
            try transaction.sql.execute("ROLLBACK TO command")
            try transaction.sql.execute("RELEASE command")
            throw error
        }
    }

    func add(_ user: UserID, name: String, callWaiting: Bool) throws {
        _ = try transaction.insert(
            UserRecord(id: user, displayName: name, callWaiting: callWaiting, createdAt: now))
        // Who may have a session at any moment is rung.
        try transaction.link(ExternalIdentity(issuer: "https://issuer.example", subject: user.text), to: user)
    }

    func disable(_ user: UserID) throws {
        guard var record = try transaction.user(user) else { return }
        record.disabledAt = now
        try transaction.update(record)
    }

    func open(_ signIn: SignInID, of user: UserID) throws {
        try transaction.insert(
            SignInRecord(
                id: signIn, user: user, device: .make(at: now), createdAt: now, lastUsedAt: now,
                rotation: RefreshRotation(
                    familyHash: [], used: 0, usedHash: [], usedAt: now, next: [], expiresAt: now.adding(seconds: 60))))
    }

    func end(_ signIn: SignInID) throws {
        guard var record = try transaction.signIn(signIn) else { return }
        record.endedAt = now
        record.endReason = .revoked
        try transaction.update(record)
    }

    func block(_ user: UserID, by blocker: UserID) throws { _ = try transaction.block(user, by: blocker) }

    func group(_ members: [UserID], id: ConversationID) throws {
        _ = try ConversationCommands().createServerGroup(name: nil, members: members, id: id, in: transaction)
    }

    func leave(_ conversation: ConversationID, by user: UserID) throws {
        try ConversationCommands().leave(conversation, by: user, in: transaction)
    }

    func entries(of stream: StreamName) throws -> [StreamEntry] {
        try transaction.sql.query(
            "SELECT type, data FROM changes WHERE stream = ?1 ORDER BY seq", [.text(stream.text)]
        ).map { StreamEntry(stream: stream, type: try $0.text(0), data: try $0.text(1)) }
    }
}

/// Counts the statements that pass through it.
final class CountingTransaction: SQLTransaction {
    private let inner: any SQLTransaction
    private(set) var count = 0

    init(_ inner: any SQLTransaction) { self.inner = inner }

    @discardableResult
    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        count += 1
        return try inner.execute(sql, arguments)
    }

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [SQLRow] {
        count += 1
        return try inner.query(sql, arguments)
    }

    func visit(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws {
        count += 1
        try inner.visit(sql, arguments, body)
    }
}

/// The store that a scenario runs on.
enum Backing: String, CaseIterable, Sendable {
    case memory, database

    func run(
        seed: UInt64 = 1, rules: CallRules = CallRules(), _ scenario: @escaping @Sendable (CallsHarness) throws -> Void
    )
        async throws
    {
        switch self {
        case .memory: try scenario(CallsHarness(MemoryStoreHarness(), rules: rules, seed: seed))
        case .database:
            try await Self.database { sql in
                try scenario(CallsHarness(DatabaseStoreHarness(sql, now: CallsHarness.start), rules: rules, seed: seed))
            }
        }
    }

    /// Runs a job in a transaction of a new database.
    static func database(_ job: @escaping @Sendable (any SQLTransaction) throws -> Void) async throws {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let database = try SQLiteDatabase(path: directory.database, readers: 1)
        try await Store(database: database, clock: { CallsHarness.start }, publish: { _ in }).prepare()
        try await database.submit(job)
        await database.close()
    }
}
