import Accounts
import Messaging
import Model
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Services

@Suite("Exports of members", .timeLimit(.minutes(2))) struct ConversationExportsTests {
    private struct Notes: Sendable {
        var id: ConversationID
        var user: UserID
    }

    /// Of more than one page.
    private static func notes(in store: Store) async throws -> Notes {
        try await store.write { store in
            let (commands, user) = (ConversationCommands(), UserID.make(at: store.now))
            _ = try store.insert(UserRecord(id: user, displayName: "Ann", reach: .everybody, createdAt: store.now))
            let id = try commands.createNotes(id: .make(at: store.now), by: user, in: store).found.conversation.id
            for number in 1...150 {
                let outgoing = OutgoingMessage(
                    clientID: .make(at: store.now), text: try MessageText("note \(number)"), digest: [])
                _ = try commands.send(outgoing, to: id, by: user, in: store)
            }
            return Notes(id: id, user: user)
        }.value
    }

    @Test("those that are read slowly give way to who waits, and no others")
    func slow() async throws {
        let store = Store(database: try SQLiteDatabase(path: try ScratchDirectory().database), publish: { _ in })
        try await store.prepare()
        var made: [Notes] = []
        for _ in 0..<9 { made.append(try await Self.notes(in: store)) }
        let notes = made
        let clock = Mutex(ContinuousClock.now)
        let exports = ConversationExports(exporter: Exporter(store: store)) { clock.withLock { $0 } }
        let started = Shared(0)
        let releases = (0..<8).map { _ in AsyncStream.makeStream(of: Void.self) }
        let slow = zip(notes, releases).map { note, release in
            Task {
                let pages = Shared(0)
                try await exports.begin(note.id, by: note.user) { _ in
                    pages.update { $0 += 1 }
                    guard pages.value == 1 else { return }
                    started.update { $0 += 1 }
                    for await _ in release.stream { return }
                }
            }
        }
        try await eventually { started.value == 8 }
        clock.withLock { $0 += .seconds(11) }
        // Nobody waits, though one has asked twice: it goes on, however slow.
        releases[0].continuation.yield()
        try await slow[0].value
        await #expect(throws: Problem.self) { try await exports.begin(notes[2].id, by: notes[2].user) { _ in } }
        releases[3].continuation.yield()
        try await slow[3].value
        let read = Shared(0)
        @Sendable func export() async throws {
            try await exports.begin(notes[8].id, by: notes[8].user) { bytes in read.update { $0 += bytes.count } }
        }
        try await export()
        let whole = read.value
        read.update { $0 = 0 }
        #expect(whole > 150 * 100)
        // Others take the room that was left.
        let later = (0..<2).map { _ in AsyncStream.makeStream(of: Void.self) }
        let begun = Shared(0)
        let held = zip([notes[0], notes[3]], later).map { note, release in
            Task {
                try await exports.begin(note.id, by: note.user) { _ in
                    begun.update { $0 += 1 }
                    for await _ in release.stream { return }
                }
            }
        }
        try await eventually { begun.value == 2 }
        let refused = await #expect(throws: Problem.self) { try await export() }
        #expect(refused?.kind == .unavailable && refused?.retryAfter != nil)
        releases[1].continuation.yield()
        let ended = await #expect(throws: Problem.self) { try await slow[1].value }
        #expect(ended?.kind == .unavailable)
        try await export()
        #expect(read.value == whole)
        for release in releases { release.continuation.finish() }
        for release in later { release.continuation.finish() }
        // It has begun just now, so that it is not slow.
        for task in held { try await task.value }
        for task in slow.dropFirst() { _ = await task.result }
    }
}

extension ConversationExports {
    /// Writes a whole export.
    fileprivate func begin(
        _ id: ConversationID, by user: UserID, write: ([UInt8]) async throws -> Void
    ) async throws {
        try await begin(id, by: user)(write)
    }
}
