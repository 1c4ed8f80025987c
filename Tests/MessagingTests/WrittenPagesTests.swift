import Accounts
import Foundation
import Model
import TestSupport
import Testing

@testable import Messaging
@testable import Storage

/// What a commit writes: each page of the database goes through the write-ahead log once, and then to the disk.
@Suite("Written pages", .serialized, .timeLimit(.minutes(5)))
struct WrittenPagesTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let commands = ConversationCommands()

    /// Groups of three with messages, so that no tree is one page.
    private final class Harness: Sendable {
        let store: Store
        let path: String
        let people: [UserID]
        let groups: [ConversationID]

        init() async throws {
            path = try ScratchDirectory().database
            store = Store(database: try SQLiteDatabase(path: path), clock: { now }, publish: { _ in })
            try await store.prepare()
            let people = (0..<3).map { _ in UserID.make(at: now) }
            self.people = people
            groups = try await store.write { store in
                for user in people {
                    _ = try store.insert(
                        UserRecord(id: user, displayName: "x", reach: .everybody, createdAt: store.now))
                }
                return try (0..<40).map { _ in
                    let made = try commands.createServerGroup(
                        name: nil, members: people, id: .make(at: store.now), in: store)
                    return made.id
                }
            }.value
            for number in 0..<100 {
                let people = people
                // Of different length, so that their pages are not full at the same time.
                let groups = groups.enumerated().filter { index, _ in number >= index }.map(\.element)
                _ = try await store.write { store in
                    for group in groups {
                        let user = people[number % 3]
                        _ = try commands.send(message(), to: group, by: user, in: store)
                        if number % 10 == 0 {
                            let last = try store.conversation(group)?.lastNumber ?? 1
                            _ = try commands.mark(
                                read: last, delivered: nil, in: group, by: people[1], store: store)
                            _ = try commands.react(
                                with: ReactionEmoji("👍"), to: last, in: group, by: people[2], store: store)
                        }
                    }
                }
            }
        }

        /// The tables and indexes of the pages that a write of its own has written, of 15 in different groups the fewest: a
        /// page that is full is split, which writes its neighbours too.
        func pages(
            _ job: @escaping @Sendable (StoreTransaction, ConversationID, Int64) throws -> Void
        ) async throws -> [String] {
            var written: [[String]] = []
            for index in 0..<15 {
                let group = groups[index]
                try await store.database.checkpointAfterReads()
                _ = try await store.write { store in
                    let last = try store.conversation(group)?.lastNumber ?? 0
                    try job(store, group, last)
                }
                written.append(try await tables(of: try frames()))
            }
            return written.min { $0.count < $1.count } ?? []
        }

        /// The numbers of the pages in the log: it has a header of 32 bytes, then pages with 24 bytes each, of which the
        /// first four are the number (Database File Format, section 4.1).
        func frames() throws -> [Int] {
            let log = try [UInt8](Data(contentsOf: URL(filePath: path + "-wal")))
            return stride(from: 32, to: log.count, by: 4096 + 24).map { start in
                log[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            }
        }

        private func tables(of pages: [Int]) async throws -> [String] {
            let names = try await store.read { store in
                try store.sql.query("SELECT pageno, name FROM dbstat").map { (try $0.int(0), try $0.text(1)) }
            }
            let byPage = Dictionary(names) { first, _ in first }
            return pages.map { byPage[$0] ?? "free or map" }.sorted()
        }
    }

    private static func message() throws -> OutgoingMessage {
        OutgoingMessage(
            clientID: .make(at: Timestamp.systemClock()), text: try MessageText("a message of some words"),
            digest: Array(repeating: 7, count: 32))
    }

    @Test("a send, a mark, a reaction and an edit write few pages")
    func counts() async throws {
        let harness = try await Harness()
        let (ann, ben) = (harness.people[0], harness.people[1])
        let commands = Self.commands
        let sends = try await harness.pages { store, group, _ in
            _ = try commands.send(Self.message(), to: group, by: ann, in: store)
        }
        let marks = try await harness.pages { store, group, last in
            _ = try commands.mark(read: last - 1, delivered: last, in: group, by: ben, store: store)
        }
        let reactions = try await harness.pages { store, group, last in
            _ = try commands.react(with: ReactionEmoji("🎉"), to: last, in: group, by: ben, store: store)
        }
        let edits = try await harness.pages { store, group, last in
            _ = try commands.edit(
                last, in: group, text: MessageText("another text of other words"), basedOn: nil, by: ann, store: store)
        }
        for (name, pages) in [("send", sends), ("mark", marks), ("reaction", reactions), ("edit", edits)] {
            print("\(name): \(pages.count) pages:", pages.joined(separator: ", "))
        }
        // Of each table and index mostly one; how many are split depends on where the random ids of this run are.
        #expect((1...5).contains(Set(sends).count))
        #expect((1...6).contains(Set(marks).count))
        #expect((1...8).contains(Set(reactions).count))
        #expect((1...5).contains(Set(edits).count))
    }

    @Test("sends that are stored together share pages")
    func together() async throws {
        let harness = try await Harness()
        let (store, ann, group) = (harness.store, harness.people[0], harness.groups[0])
        try await store.database.checkpointAfterReads()
        let sends = try (0..<64).map { _ in
            let message = try Self.message()
            return WaitingSend(to: group, by: ann, commands: Self.commands) { _, _ in message }
        }
        let outcome = try await store.database.submit { try store.runSends(sends, $0) }
        #expect(outcome.results.count == 64 && outcome.committed.count == 1)
        let pages = try harness.frames().count
        print("64 sends together: \(pages) pages")
        #expect(pages < 64)
    }
}
