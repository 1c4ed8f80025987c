import Accounts
import Calls
import Foundation
import Messaging
import Model
import Storage

/// How many commands of four statements the store commits per second, and what each costs.
///
/// A command is like a signal: one row read, one row written, one change appended (two statements). Run with
/// `DEV_SWITCHBOARD_BENCH=1 swift run -c release storage-benchmark`.
@main
struct StorageBenchmark {
    static func main() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/storage-benchmark-\(getpid())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for clients in [1, 16, 64, 512] {
            try await writes(clients: clients, total: clients == 1 ? 4000 : 60_000, in: directory)
        }
        for isTogether in [false, true] { try await sends(total: 60_000, isTogether: isTogether, in: directory) }
        try await reads(total: 40_000, in: directory)
    }

    /// Durable messages in 100 groups, 512 at once: each a job of its own, or those that wait together as the server does.
    static func sends(total: Int, isTogether: Bool, in directory: String) async throws {
        let store = try await prepared(directory + "/sends-\(isTogether).db")
        let commands = ConversationCommands()
        let users = (0..<100).map { _ in UserID.make(at: Timestamp.systemClock()) }
        let groups = try await store.write { store in
            for user in users {
                _ = try store.insert(UserRecord(id: user, displayName: "x", reach: .everybody, createdAt: store.now))
            }
            return try users.map { user in
                try commands.createServerGroup(
                    name: nil, members: [user, users[0]], id: .make(at: store.now), in: store
                ).id
            }
        }.value
        let text = try MessageText("A message of some words, as people write them to each other.")
        let name = isTogether ? "512 sends together" : "512 sends, a job each"
        try await measure(name, total) {
            try await withThrowingTaskGroup { group in
                for client in 0..<512 {
                    group.addTask {
                        for number in 0..<total / 512 {
                            let index = (client &* 31 &+ number) % groups.count
                            let (user, id) = (users[index], groups[index])
                            let message = OutgoingMessage(
                                clientID: .make(at: Timestamp.systemClock()), text: text,
                                digest: Array(repeating: 7, count: 32))
                            if isTogether {
                                _ = try await store.send(
                                    WaitingSend(to: id, by: user, commands: commands) { _, _ in message })
                            } else {
                                _ = try await store.write {
                                    try commands.send(message, to: id, by: user, in: $0).message.number
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await store.database.close()
    }

    static func writes(clients: Int, total: Int, in directory: String) async throws {
        let store = try await prepared(directory + "/writes-\(clients).db")
        let users = (0..<1000).map { _ in UserID.make(at: Timestamp.systemClock()) }
        let json =
            "{\"kind\":\"candidates\",\"generation\":3,\"payload\":\"" + String(repeating: "x", count: 400) + "\"}"
        try await measure("\(clients) writers", total) {
            try await withThrowingTaskGroup { group in
                for client in 0..<clients {
                    group.addTask {
                        for number in 0..<total / clients {
                            let user = users[(client &* 31 &+ number) % users.count]
                            _ = try await store.write { transaction in
                                _ = try transaction.sql.first(
                                    "SELECT value FROM bench WHERE name = ?1", [.text(user.text)])
                                try transaction.sql.execute(
                                    """
                                    INSERT INTO bench (name, value) VALUES (?1, 1)
                                    ON CONFLICT (name) DO UPDATE SET value = bench.value + 1
                                    """, [.text(user.text)])
                                try transaction.append([.user(user, .call, data: json)])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await store.database.close()
    }

    static func reads(total: Int, in directory: String) async throws {
        let store = try await prepared(directory + "/reads.db")
        let user = UserID.make(at: Timestamp.systemClock())
        let stream = StreamName.user(user)
        for number in 0..<20 { _ = try await store.write { try $0.append(.profile, [number], to: user) } }
        let end = try await store.read { try $0.position(of: stream) }
        let start = Position(epoch: end.epoch, sequence: end.sequence - 5)
        try await measure("16 readers", total) {
            try await withThrowingTaskGroup { group in
                for _ in 0..<16 {
                    group.addTask {
                        for _ in 0..<total / 16 {
                            _ = try await store.read { try $0.changes(of: stream, after: start) }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await store.database.close()
    }

    static func prepared(_ path: String) async throws -> Store {
        let store = Store(database: try SQLiteDatabase(path: path), publish: { _ in })
        try await store.prepare(
            DatabaseSchema.migrations + [
                Migration(9999, "benchmark", ["CREATE TABLE bench (name TEXT PRIMARY KEY, value BIGINT NOT NULL)"])
            ])
        return store
    }

    static func measure(_ name: String, _ count: Int, _ work: () async throws -> Void) async throws {
        let (processor, clock) = (processorTime(), ContinuousClock.now)
        try await work()
        let seconds = (ContinuousClock.now - clock) / .seconds(1)
        let each = (processorTime() - processor) / Double(count) * 1_000_000
        let rate = Int(Double(count) / seconds)
        print(
            "\(name.padding(toLength: 22, withPad: " ", startingAt: 0)) \(rate)/s, \(String(format: "%.1f", each)) µs of CPU each"
        )
    }

    static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
