import Accounts
import Messaging
import Model
import Notifications
import TestSupport
import Testing

@testable import Storage

/// Where devices are pushed to, and what they are to be told, in the real store.
@Suite struct PushStorageTests {
    let scratch: ScratchStore
    let people: [UserID]
    let commands = ConversationCommands()
    var store: Store { scratch.store }
    var now: Timestamp { scratch.clock.now }

    init() async throws {
        let scratch = try await ScratchStore()
        self.scratch = scratch
        people = (0..<4).map { _ in UserID.make(at: scratch.clock.now) }.sorted { $0.text < $1.text }
        let people = people
        _ = try await scratch.store.write { store in
            for user in people {
                _ = try store.insert(UserRecord(id: user, displayName: "x", createdAt: store.now))
            }
        }
    }

    @discardableResult
    func write<Value: Sendable>(
        _ job: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await store.write(job).value
    }

    func count(_ table: String) async throws -> Int {
        try await store.read { try Int($0.sql.query("SELECT COUNT(*) FROM \(table)")[0].integer(0)) }
    }

    @discardableResult
    func register(
        _ user: Int, device: DeviceID? = nil, address: UInt8 = 1, isShared: Bool = false, kind: PushKind = .web
    ) async throws -> PushRegistration {
        let user = people[user]
        return try await write { store in
            try store.save(
                PushRegistration(
                    user: user, device: device ?? .make(at: store.now), kind: kind, sealed: [address, 0],
                    digest: [address], isShared: isShared, createdAt: store.now, updatedAt: store.now))
        }
    }

    func registrations(_ user: Int) async throws -> [PushRegistration] {
        let user = people[user]
        return try await store.read { try $0.pushRegistrations(of: user) }
    }

    func group(_ members: [Int]) async throws -> ConversationID {
        let (commands, people) = (commands, people)
        return try await write { store in
            let owner = people[members[0]]
            let id = try commands.createGroup(
                name: "Group", members: members.dropFirst().map { people[$0] }, id: .make(at: store.now), by: owner,
                in: store
            ).conversation.id
            for member in members.dropFirst() { _ = try commands.accept(id, by: people[member], in: store) }
            return id
        }
    }

    @discardableResult
    func send(_ text: String = "hi", to id: ConversationID, by user: Int = 0) async throws -> Int64 {
        let (commands, user) = (commands, people[user])
        return try await write { store in
            let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: try MessageText(text), digest: [])
            return try commands.send(outgoing, to: id, by: user, in: store).message.number
        }
    }

    /// Sends when the devices of the conversation are read again.
    @discardableResult
    func sendLater(to id: ConversationID) async throws -> Int64 {
        scratch.clock.advance(milliseconds: PushAudience.spacingMilliseconds)
        return try await send(to: id)
    }

    func claimSources(_ limit: Int = 10, seconds: Int64 = 60) async throws -> [PushSource] {
        let until = now.adding(seconds: seconds)
        return try await write { try $0.claimPushSources(limit: limit, until: until) }
    }

    func claimPushes(_ limit: Int = 10, seconds: Int64 = 60) async throws -> [PushRecord] {
        let until = now.adding(seconds: seconds)
        return try await write { try $0.claimPushes(limit: limit, until: until) }
    }

    /// Claims one source, and writes what it tells one device, which is due at once.
    @discardableResult
    func expand(to registration: PushRegistration, onlyKnown: Bool = false) async throws -> PushSource {
        let source = try #require(try await claimSources().first)
        try await save(source, to: registration, onlyKnown: onlyKnown)
        try await write { [now] in try $0.finish(source, next: now) }
        return source
    }

    /// Writes what a source tells one device. Returns whether its claim was current.
    @discardableResult
    func save(
        _ source: PushSource, to registration: PushRegistration, at due: Timestamp? = nil, onlyKnown: Bool = false
    ) async throws -> Bool {
        let (due, until) = (due ?? now, now.adding(seconds: 60))
        return try await write { store in
            try store.savePushes(
                of: source, due: [(registration: registration.id, at: due, onlyKnown: onlyKnown)],
                then: .continues(until: until)) == .claimed
        }
    }

    func settle(_ record: PushRecord, _ result: PushSettlement.Result) async throws {
        try await write { try $0.settle([PushSettlement(record, result)]) }
    }

    func call(version: Int64, _ id: CallID, to users: Int...) async throws {
        let users = users.map { people[$0] }
        try await write { try $0.notePush(of: id, version: version, to: users) }
    }

    func nextPush() async throws -> Timestamp? { try await store.read { try $0.nextPush() } }
}

// Pushes.
extension PushStorageTests {
    /// A device, a conversation with a message, and the push of it.
    func prepared() async throws -> (registration: PushRegistration, id: ConversationID, record: PushRecord) {
        let registration = try await register(1)
        let id = try await group([0, 1])
        try await send(to: id)
        try await expand(to: registration)
        return (registration, id, try #require(try await claimPushes().first))
    }

    @Test func aPushIsClaimedOnceAndAgainAfterItsLease() async throws {
        let (registration, id, record) = try await prepared()
        #expect(record.topic == .conversation(id) && record.registration == registration && record.fence == 1)
        #expect(record.attempt == 0 && record.sent == nil && record.upTo == record.after + 1)
        #expect(try await claimPushes().isEmpty)
        scratch.clock.advance(seconds: 60)
        let again = try #require(try await claimPushes().first)
        #expect(again.id == record.id && again.fence == 2)
        // Who held the first claim changes nothing.
        for result: PushSettlement.Result in [
            .done(next: now), .rings, .retry(at: now), .released(at: now),
        ] { try await settle(record, result) }
        #expect(try await claimPushes().isEmpty)
        try await settle(again, .done(next: now))
        #expect(try await count("pushes") == 0)
    }

    @Test func whatChangesWhileItIsSentIsDueLater() async throws {
        let (registration, id, record) = try await prepared()
        scratch.clock.advance(seconds: 1)
        try await send(to: id)
        let number = try await send(to: id)
        try await expand(to: registration)
        #expect(try await claimPushes().isEmpty, "one at a time for a device and topic")
        let next = now.adding(seconds: 2)
        try await settle(record, .done(next: next))
        #expect(try await nextPush() == next)
        scratch.clock.advance(seconds: 2)
        let again = try #require(try await claimPushes().first)
        #expect(again.after == record.upTo && again.upTo == number && again.changedAt == now.adding(seconds: -2))
        try await settle(again, .done(next: now))
        #expect(try await count("pushes") == 0)
    }

    /// The newest message is told, which may be newer than what was known when it was claimed.
    @Test func whatWasPushedAlreadyIsNotPushedAgain() async throws {
        let (registration, id, record) = try await prepared()
        let number = try await sendLater(to: id)
        try await expand(to: registration)
        try await write { [now] in try $0.settle([PushSettlement(record, .done(next: now), number: number)]) }
        #expect(try await count("pushes") == 0)
    }

    @Test func anEarlierSourceLowersNothing() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        try await send(to: id)
        let first = try #require(try await claimSources().first)
        scratch.clock.advance(seconds: 1)
        let number = try await send(to: id)
        var later = first
        (later.upTo, later.since) = (number, now)
        try await save(later, to: registration)
        try await save(first, to: registration)
        let record = try #require(try await claimPushes().first)
        #expect(record.upTo == number && record.changedAt == now)
    }

    @Test func aFailureKeepsWhatIsNewAndWaits() async throws {
        let (registration, id, record) = try await prepared()
        try await settle(record, .retry(at: now.adding(seconds: 5)))
        let number = try await sendLater(to: id)
        try await expand(to: registration)
        #expect(try await claimPushes().isEmpty, "it is not tried sooner for what is new")
        scratch.clock.advance(seconds: 5)
        let again = try #require(try await claimPushes().first)
        #expect(again.attempt == 1 && again.upTo == number && again.after == record.after)
        try await settle(again, .released(at: now.adding(seconds: 1)))
        scratch.clock.advance(seconds: 1)
        let third = try #require(try await claimPushes().first)
        #expect(third.attempt == 1, "what was not attempted does not count")
        // Somebody writes during the attempt: the count begins anew.
        try await send(to: id)
        try await expand(to: registration)
        try await settle(third, .done(next: now))
        #expect(try await claimPushes().first?.attempt == 0)
    }

    @Test func whatWaitsIsDueSoonerNotLater() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        func expand(at due: Timestamp) async throws {
            try await sendLater(to: id)
            let source = try #require(try await claimSources().first)
            try await save(source, to: registration, at: due)
            try await write { try $0.finish(source, next: due) }
        }
        let start = now
        try await expand(at: start.adding(seconds: 3))
        try await expand(at: start.adding(seconds: 5))
        #expect(try await nextPush() == start.adding(seconds: 3))
        try await expand(at: start.adding(seconds: 1))
        #expect(try await nextPush() == start.adding(seconds: 1))
        #expect(try await count("pushes") == 1)
    }

    @Test func aRingRestsUntilItEnds() async throws {
        let registration = try await register(1)
        let call = CallID.make(at: now)
        try await self.call(version: 1, call, to: 1)
        try await expand(to: registration)
        let ring = try #require(try await claimPushes().first)
        try await settle(ring, .rings)
        #expect(try await nextPush() == nil)
        scratch.clock.advance(seconds: 300)
        #expect(try await claimPushes().isEmpty)
        try await self.call(version: 2, call, to: 1)
        try await expand(to: registration, onlyKnown: true)
        let end = try #require(try await claimPushes().first)
        #expect(end.sent == .ring && end.upTo == 2 && end.id == ring.id)
        try await settle(end, .done(next: now))
        #expect(try await count("pushes") == 0)
    }

    @Test func theEndOfARingIsDueAtOnceThoughItCameWhileTheRingWasSent() async throws {
        let registration = try await register(1)
        let call = CallID.make(at: now)
        try await self.call(version: 1, call, to: 1)
        try await expand(to: registration)
        let ring = try #require(try await claimPushes().first)
        try await self.call(version: 2, call, to: 1)
        try await expand(to: registration, onlyKnown: true)
        #expect(try await claimPushes().isEmpty)
        try await settle(ring, .rings)
        #expect(try await claimPushes().first?.sent == .ring)
    }

    @Test func whoWasNotRungIsNotNotifiedOfTheEnd() async throws {
        let registration = try await register(1)
        try await call(version: 2, .make(at: now), to: 1)
        try await expand(to: registration, onlyKnown: true)
        #expect(try await count("pushes") == 0)
    }

    @Test func aRegistrationThatIsGoneGetsNoPush() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        try await send(to: id)
        let source = try #require(try await claimSources().first)
        let user = people[1]
        try await write { try $0.removePushRegistrations(of: user) }
        #expect(try await save(source, to: registration))
        try await write { [now] in try $0.finish(source, next: now) }
        #expect(try await count("pushes") == 0)
        #expect(try await nextPush() == nil)
    }

    /// A claim of what is gone does not become one of what came after it.
    @Test func aLateSettlementIsNotOfAnotherPush() async throws {
        let (_, _, record) = try await prepared()
        let user = people[1]
        try await write { try $0.removePushRegistrations(of: user) }
        scratch.clock.advance(seconds: 1)
        let other = try await register(2, address: 2)
        let id = try await group([0, 2])
        try await send(to: id)
        try await expand(to: other)
        let claimed = try #require(try await claimPushes().first)
        for result: PushSettlement.Result in [
            .done(next: now), .rings, .retry(at: now), .released(at: now), .gone,
        ] { try await settle(record, result) }
        #expect(try await claimPushes().isEmpty)
        #expect(try await registrations(2).count == 1)
        scratch.clock.advance(seconds: 60)
        let again = try #require(try await claimPushes().first)
        #expect(again.id == claimed.id && again.after == claimed.after && again.attempt == 0 && again.fence == 2)
    }

    @Test func ringsWhoseEndWasNeverNotedAreTrimmed() async throws {
        let registration = try await register(1)
        for _ in 0..<3 {
            try await call(version: 1, .make(at: now), to: 1)
            try await expand(to: registration)
            let ring = try #require(try await claimPushes().first)
            try await settle(ring, .rings)
            scratch.clock.advance(seconds: 10)
        }
        let id = try await group([0, 1])
        try await send(to: id)
        try await expand(to: registration)
        let time = now.adding(seconds: -10)
        #expect(try await write { try $0.trimPushes(before: time, limit: 1) } == 1)
        #expect(try await write { try $0.trimPushes(before: time, limit: 10) } == 1)
        #expect(try await write { try $0.trimPushes(before: time, limit: 10) } == 0)
        #expect(try await count("pushes") == 2)
    }

    /// They are read on the writer's thread: none may look at every row.
    @Test func noStatementReadsAllRows() async throws {
        let plans = try await store.read { store in
            try [
                "SELECT topic FROM push_sources WHERE is_call = 1 AND not_before <= 5 ORDER BY not_before, topic LIMIT 9",
                "SELECT not_before FROM pushes WHERE is_call = 1 AND not_before IS NOT NULL ORDER BY not_before LIMIT 1",
                "SELECT id FROM pushes WHERE not_before IS NULL AND changed_at < 5 ORDER BY changed_at LIMIT 9",
                """
                SELECT p.id FROM pushes p JOIN push_registrations r ON r.id = p.registration_id
                WHERE p.is_call = 1 AND p.not_before <= 5 ORDER BY p.not_before, p.id LIMIT 9
                """,
            ].flatMap { try store.sql.query("EXPLAIN QUERY PLAN " + $0).map { try $0.text(3) } }
        }
        #expect(plans.allSatisfy { !$0.contains("SCAN") && !$0.contains("TEMP B-TREE") }, "\(plans)")
    }
}
