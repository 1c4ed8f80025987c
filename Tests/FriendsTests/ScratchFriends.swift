import Accounts
import Friends
import Model
import Storage
import TestSupport
import Testing
import Tokens
import Webhooks

/// Friends over a real database, with time that a test moves.
final class ScratchFriends: Sendable {
    let time = ManualClock<Timestamp>(Timestamp(milliseconds: 1_800_000_000_000))
    let published = Shared<[Change]>([])
    let store: Store
    let commands: FriendCommands

    init() async throws {
        let (time, published) = (time, published)
        store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { time.now },
            publish: { new in published.update { $0 += new } })
        try await store.prepare()
        commands = FriendCommands(database: store, secrets: SystemSecrets())
    }

    func user(_ name: String, reach: Reach = .everybody) async throws -> Principal {
        let id = UserID.make(at: time.now)
        let record = UserRecord(id: id, displayName: name, reach: reach, createdAt: time.now)
        let inserted = try await store.write { try $0.insert(record) }.value
        #expect(inserted)
        return Principal(user: id)
    }

    func users(_ names: String...) async throws -> [Principal] {
        var users: [Principal] = []
        for name in names { users.append(try await user(name)) }
        return users
    }

    func clientID() -> ClientID { .make(at: time.now) }

    @discardableResult
    func ask(_ user: Principal, by principal: Principal, note: String? = nil) async throws -> FriendCommands.Requested {
        try await commands.request(
            .init(clientID: clientID(), user: user.user, note: note), by: principal
        ).value
    }

    func befriend(_ one: Principal, _ other: Principal) async throws {
        try await ask(other, by: one)
        _ = try await commands.accept(one.user, by: other)
    }

    /// The states that the user sees, by user.
    func states(of principal: Principal) async throws -> [UserID: String] {
        let page = try await commands.list(of: principal, limit: 100)
        return Dictionary(uniqueKeysWithValues: page.items.map { ($0.user.id, $0.state) })
    }

    func changes(of principal: Principal) -> [Change] {
        published.value.filter { $0.stream == .user(principal.user) && $0.type.hasPrefix("friend") }
    }
}

/// The problem with which some work must end.
func problem(_ work: () async throws -> Void) async -> Problem? {
    await #expect(throws: Problem.self) { try await work() }
}
