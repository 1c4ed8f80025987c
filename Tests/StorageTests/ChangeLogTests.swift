import Model
import Storage
import Testing

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
        var next: String? = nil
        var removed = 0
        repeat {
            let from = next
            let progress = try await scratch.store.write { try $0.trim(before: cutoff, from: from, count: 2) }.value
            removed += progress.removed
            next = progress.next
        } while next != nil
        #expect(removed == 15)
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
        let appended = try await scratch.store.write { try $0.append("next", [3], to: streams[1]) }.value
        #expect(appended.sequence == 4)
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
