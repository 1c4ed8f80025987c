import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct ChangeLogTests {
    struct Refused: Error {}
    static func user(_ seed: UInt64) -> UserID {
        var generator = SystemRandomNumberGenerator()
        return UserID.make(at: Timestamp(milliseconds: Int64(seed)), using: &generator)
    }

    @Test func sequencesAreDenseAndPublishedInOrder() async throws {
        let scratch = try await ScratchStore()
        let streams = (0..<3).map { StreamName.user(Self.user($0)) }
        let store = scratch.store
        await withTaskGroup { group in
            for number in 0..<600 {
                group.addTask {
                    let stream = streams[number % 3]
                    let written = try? await store.write { transaction in
                        let position = try transaction.append("number", ["n": number], to: stream)
                        if number % 7 == 0 { throw Refused() }
                        return position
                    }
                    #expect((written == nil) == (number % 7 == 0))
                    #expect(written?.positions == written.map { [stream: $0.value] })
                }
            }
        }
        let published = scratch.published
        #expect(published.count == (0..<600).filter { $0 % 7 != 0 }.count)
        for stream in streams {
            let sequences = published.filter { $0.stream == stream }.map(\.position.sequence)
            #expect(sequences == Array(1...Int64(sequences.count)))
            let position = try await store.read { try $0.position(of: stream) }
            #expect(position.sequence == Int64(sequences.count))
            let start = Position(epoch: position.epoch, sequence: 0)
            let logged = try await store.read { try $0.changes(of: stream, after: start, limit: 1000) }
            #expect(logged == .changes(published.filter { $0.stream == stream }, upTo: position, isComplete: true))
        }
    }

    @Test func aListenerResumesWhereItWas() async throws {
        let scratch = try await ScratchStore()
        let stream = StreamName.user(Self.user(1))
        let start = try await scratch.store.read { try $0.position(of: stream) }
        #expect(start.sequence == 0)
        for number in 1...5 { _ = try await scratch.store.write { try $0.append("n", [number], to: stream) } }
        let published = scratch.published
        #expect(published.map(\.data) == ["[1]", "[2]", "[3]", "[4]", "[5]"])
        func resume(_ sequence: Int64, limit: Int = 10) async throws -> Resumption {
            try await scratch.store.read {
                try $0.changes(of: stream, after: Position(epoch: start.epoch, sequence: sequence), limit: limit)
            }
        }
        let end = published[4].position
        #expect(try await resume(0) == .changes(published, upTo: end, isComplete: true))
        #expect(try await resume(3) == .changes(Array(published[3...]), upTo: end, isComplete: true))
        #expect(try await resume(5) == .changes([], upTo: end, isComplete: true))
        #expect(
            try await resume(1, limit: 2)
                == .changes(Array(published[1...2]), upTo: published[2].position, isComplete: false))
        #expect(try await resume(6) == .reset(.gap))
        #expect(try await resume(-1) == .reset(.gap))
        let other = try await scratch.store.read {
            try $0.changes(of: stream, after: Position(epoch: "other", sequence: 2))
        }
        #expect(other == .reset(.epoch))
    }

    @Test func whatWasTrimmedIsAGap() async throws {
        let scratch = try await ScratchStore()
        let streams = (0..<5).map { StreamName.user(Self.user($0)) }
        for _ in 0..<3 {
            for stream in streams { _ = try await scratch.store.write { try $0.append("old", [1], to: stream) } }
        }
        scratch.clock.advance(seconds: 100)
        _ = try await scratch.store.write { try $0.append("new", [2], to: streams[0]) }
        let cutoff = scratch.clock.now.adding(seconds: -50)
        var removed: [Int] = []
        repeat {
            removed.append(try await scratch.store.write { try $0.trim(before: cutoff, limit: 4) }.value)
        } while removed.last != 0
        #expect(removed == [4, 4, 4, 3, 0])
        let current = try await scratch.store.read { try $0.position(of: streams[0]) }
        #expect(current.sequence == 4)
        let resumptions = try await scratch.store.read { transaction in
            try [2, 3, 4].map {
                try transaction.changes(of: streams[0], after: Position(epoch: current.epoch, sequence: $0))
            }
        }
        #expect(resumptions[0] == .reset(.gap))
        #expect(resumptions[1] == .changes([scratch.published[15]], upTo: current, isComplete: true))
        #expect(resumptions[2] == .changes([], upTo: current, isComplete: true))
    }

    /// What a client has of a stream's earlier life is never continued with its later one.
    @Test func aStreamThatReturnsHasANewEpoch() async throws {
        let scratch = try await ScratchStore()
        let (gone, staying) = (StreamName.user(Self.user(1)), StreamName.user(Self.user(2)))
        let before = try await scratch.store.write { try $0.append("old", [1], to: gone) }.value
        scratch.clock.advance(seconds: 100)
        let stays = try await scratch.store.write { try $0.append("new", [1], to: staying) }.value
        let cutoff = scratch.clock.now.adding(seconds: -50)
        #expect(try await scratch.store.write { try $0.trim(before: cutoff) }.value == 1)
        let rows = try await scratch.store.read {
            try $0.sql.query("SELECT name FROM streams").map { try $0.stream(0) }
        }
        #expect(rows == [staying])
        #expect(try await scratch.store.read { try $0.changes(of: gone, after: before) } == .reset(.epoch))
        let after = try await scratch.store.write { try $0.append("back", [2], to: gone) }.value
        #expect(after.epoch != before.epoch && after.sequence == 1)
        #expect(try await scratch.store.read { try $0.changes(of: gone, after: before) } == .reset(.epoch))
        // The others go on as they are, and one whose epoch is an older one changes nothing.
        #expect(
            try await scratch.store.read { try $0.changes(of: staying, after: stays) }
                == .changes([], upTo: stays, isComplete: true))
        scratch.clock.advance(seconds: 100)
        let third = try await scratch.store.write { try $0.append("new", [1], to: .user(Self.user(3))) }.value
        #expect(third.epoch == after.epoch)
    }

    @Test func trimmingCostsWhatItRemoves() async throws {
        let scratch = try await ScratchStore()
        for number in 0..<40 {
            _ = try await scratch.store.write { transaction in
                for _ in 0..<50 { try transaction.append("n", [number], to: .user(Self.user(UInt64(number)))) }
            }
        }
        // Nothing is old enough: one row is looked at.
        let plan = try await scratch.store.read { transaction in
            try transaction.sql.query(
                "EXPLAIN QUERY PLAN SELECT id, stream, seq, at FROM changes ORDER BY id LIMIT 500"
            ).map { try $0.text(3) }.joined()
        }
        #expect(!plan.contains("TEMP B-TREE"))
        let cutoff = scratch.clock.now.adding(seconds: -50)
        #expect(try await scratch.store.write { try $0.trim(before: cutoff) }.value == 0)
    }

    @Test func catchingUpIsBoundedInBytes() async throws {
        let scratch = try await ScratchStore()
        let stream = StreamName.user(Self.user(1))
        for _ in 0..<10 {
            _ = try await scratch.store.write { try $0.append("n", json: "\"0123456789\"", to: stream) }
        }
        let start = Position(epoch: scratch.published[0].position.epoch, sequence: 0)
        for (limit, expected) in [(0, 1), (12, 1), (30, 2), (119, 9), (120, 10)] {
            let resumption = try await scratch.store.read { try $0.changes(of: stream, after: start, byteLimit: limit) }
            guard case .changes(let changes, let reached, let isComplete) = resumption else {
                Issue.record("Nothing came.")
                continue
            }
            #expect(changes.count == expected && reached.sequence == Int64(expected))
            #expect(isComplete == (expected == 10))
        }
    }

    @Test func aRebuiltLogHasANewEpoch() async throws {
        let scratch = try await ScratchStore()
        let stream = StreamName.user(Self.user(1))
        let before = try await scratch.store.write { try $0.append("a", [1], to: stream) }.value
        scratch.clock.advance(seconds: 1)
        try await scratch.store.rebuildLog()
        #expect(try await scratch.store.read { try $0.changes(of: stream, after: before) } == .reset(.epoch))
        let after = try await scratch.store.write { try $0.append("a", [2], to: stream) }.value
        #expect(after.epoch != before.epoch)
        #expect(after.sequence == 2)
    }

    /// What others listen to goes on when a stream that nobody writes to any more is forgotten.
    @Test func aForgottenStreamChangesTheEpochOfNewStreamsAlone() async throws {
        let scratch = try await ScratchStore()
        let stream = StreamName.user(Self.user(1))
        let before = try await scratch.store.write { try $0.append("a", [1], to: stream) }.value
        let (inbox, events) = try await scratch.store.read { (try $0.inboxPosition(), try $0.eventPositions().epoch) }
        scratch.clock.advance(seconds: 10)
        let now = scratch.clock.now
        #expect(try await scratch.store.write { try $0.trim(before: now) }.value == 1)
        let after = try await scratch.store.read { (try $0.position(of: stream), try $0.inboxPosition()) }
        #expect(after.0.epoch != before.epoch && after.0.sequence == 0)
        #expect(try await scratch.store.write { try $0.append("a", [2], to: stream) }.value.epoch == after.0.epoch)
        #expect(after.1.epoch == inbox.epoch && events == inbox.epoch)
        #expect(try await scratch.store.read { try $0.eventPositions().epoch } == events)
    }

    @Test func ephemeralStreamsKeepNothing() async throws {
        let scratch = try await ScratchStore()
        let presence = StreamName.presence(Self.user(1))
        await #expect(throws: SQLError.self) {
            _ = try await scratch.store.write { try $0.append("x", [1], to: presence) }
        }
        #expect(try await scratch.store.read { try $0.position(of: presence) } == Position(epoch: "", sequence: 0))
        #expect(scratch.published.isEmpty)
    }

    @Test func clientIDsAreRemembered() async throws {
        let scratch = try await ScratchStore()
        let (user, other) = (Self.user(1), Self.user(2))
        let client = ClientID.make(at: scratch.clock.now)
        func remember(_ user: UserID, _ body: UInt8, _ entity: String, scope: String? = nil) async throws
            -> ClientIDMemory
        {
            try await scratch.store.write {
                try $0.remember(clientID: client, user: user, bodyHash: [body], entity: entity, scope: scope)
            }.value
        }
        #expect(try await remember(user, 1, "a") == .new)
        #expect(try await remember(user, 1, "b") == .same(entity: "a"))
        #expect(try await remember(user, 2, "b") == .reused)
        #expect(try await remember(other, 2, "c", scope: "call") == .new)
        _ = try await scratch.store.write { try $0.forgetClientIDs(scope: "call") }
        #expect(try await remember(other, 3, "d") == .new)
        #expect(try await remember(user, 1, "e") == .same(entity: "a"))
    }
}
