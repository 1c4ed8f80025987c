import Accounts
import Calls
import Logging
import Messaging
import Model
import Notifications
import ServiceLifecycle
import Storage
import Synchronization
import TestSupport
import Testing
import Tokens
import Webhooks

@testable import Services

/// Pushes over a real database, with a sender that the test answers for.
@Suite(.timeLimit(.minutes(2))) struct PushDispatcherTests {
    /// The system's clock, which a test can set forward.
    final class Clock: Sendable {
        private let offset = Mutex(Int64(0))

        var now: Timestamp { Timestamp.systemClock().adding(milliseconds: offset.withLock { $0 }) }
        func advance(seconds: Int64) { offset.withLock { $0 += seconds * 1_000 } }
    }

    static let ana = "https://push.example/ana"
    static let ben = "https://push.example/ben"

    let time = Clock()
    let store: Store
    let key = PushKey.ephemeral()
    let commands = ConversationCommands()
    let calls = CallCommands()
    let users: [UserID]
    var ana: UserID { users[0] }
    var ben: UserID { users[1] }

    init() async throws {
        let time = time
        store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { time.now }, publish: { _ in })
        users = (0..<3).map { _ in UserID.make(at: time.now) }
        let users = users
        try await store.prepare()
        _ = try await store.write { store in
            for (user, name) in zip(users, ["Ana", "Ben", "Cleo"]) {
                var record = UserRecord(id: user, displayName: name, languages: ["en"], createdAt: store.now)
                record.messageRequests = .accept
                _ = try store.insert(record)
            }
        }
    }

    func dispatcher(
        _ sender: any PushSender, key: PushKey? = nil, isConnected: Bool = false,
        silence: Duration? = nil, kinds: Set<PushKind> = [.web],
        _ change: (inout PushDispatcher.Limits) -> Void = { _ in }
    ) -> PushDispatcher {
        var limits = PushDispatcher.Limits()
        limits.interval = .milliseconds(100)
        limits.confirmation = .milliseconds(300)
        change(&limits)
        return PushDispatcher(
            store: store, composer: NotificationComposer(commands: commands), sender: sender, sealer: key ?? self.key,
            presence: .init(isConnected: { _ in isConnected }, silence: { _ in silence }), kinds: kinds,
            limits: limits,
            clock: { [time] in time.now }, random: { 0.5 },
            logger: Logger(label: "push") { _ in SwiftLogNoOpLogHandler() })
    }

    func running(_ dispatcher: PushDispatcher, _ body: () async throws -> Void) async throws {
        let task = Task { await dispatcher.run() }
        defer { task.cancel() }
        try await body()
    }

    /// - Parameter endpoint: of the browser, and of the client in it, if it has one.
    @discardableResult
    func register(
        _ user: UserID, at endpoint: String, client: EndpointID? = nil
    ) async throws -> PushRegistration {
        let key = key
        let address = PushAddress.web(
            WebPushAddress(
                endpoint: try #require(WebhookURL(endpoint)), publicKey: [4] + Array(repeating: 1, count: 64),
                authSecret: Array(repeating: 2, count: 16)))
        return try await store.write { store in
            let device = DeviceID.make(at: store.now)
            return try store.save(
                PushRegistration(
                    user: user, device: device, kind: .web,
                    sealed: try key.seal(address.bytes, for: user, on: device, "web"),
                    digest: key.digest(address.identity), endpoint: client, createdAt: store.now,
                    updatedAt: store.now))
        }.value
    }

    /// An iPhone: its notifications and its calls.
    func registerPhone(of user: UserID) async throws {
        let key = key
        _ = try await store.write { store in
            let device = DeviceID.make(at: store.now)
            for (isVoIP, token) in [(false, "00aa"), (true, "00bb")] {
                let address = PushAddress.apns(APNsAddress(token: token, environment: .production, isVoIP: isVoIP))
                _ = try store.save(
                    PushRegistration(
                        user: user, device: device, kind: address.kind,
                        sealed: try key.seal(address.bytes, for: user, on: device, address.kind.rawValue),
                        digest: key.digest(address.identity), endpoint: nil, createdAt: store.now, updatedAt: store.now)
                )
            }
        }
    }

    /// A group of all, or of some.
    func group(_ name: String? = nil, of members: [Int] = [0, 1, 2]) async throws -> ConversationID {
        let (commands, users) = (commands, members.map { self.users[$0] })
        return try await store.write { store in
            let id = try commands.createGroup(
                name: name, members: Array(users.dropFirst()), id: .make(at: store.now), by: users[0], in: store
            ).conversation.id
            for user in users.dropFirst() { _ = try commands.accept(id, by: user, in: store) }
            return id
        }.value
    }

    @discardableResult
    func send(_ text: String, to id: ConversationID, by user: Int = 0) async throws -> Int64 {
        let (commands, user) = (commands, users[user])
        return try await store.write { store in
            let outgoing = OutgoingMessage(clientID: .make(at: store.now), text: try MessageText(text), digest: [])
            return try commands.send(outgoing, to: id, by: user, in: store).message.number
        }.value
    }

    func count(_ table: String) async throws -> Int64 {
        try await store.read { try $0.sql.query("SELECT COUNT(*) FROM \(table)")[0].integer(0) }
    }

    /// Everything is told that there was to tell.
    func isIdle() async throws -> Bool {
        let sources = try await count("push_sources")
        return try await sources + count("pushes") == 0
    }

    /// The dispatcher sleeps by the system's clock: it is woken by something new, of which nobody is told.
    func wake() async throws {
        let user = users[2]
        try await register(user, at: "https://push.example/wakes")
        _ = try await store.write { try $0.notePush(of: .make(at: $0.now), version: 1, to: [user]) }
    }
}

// Outcomes.
extension PushDispatcherTests {
    @Test func aFailureIsRepeated() async throws {
        let outcomes = Shared<[PushOutcome]>([
            .unreachable("It did not respond."), .retry(after: .seconds(1), "429"), .delivered,
        ])
        let sender = ScriptedPushSender { _ in outcomes.update { $0.removeFirst() } }
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await running(dispatcher(sender)) {
            let start = ContinuousClock.now
            try await send("1", to: id)
            try await eventually { try await isIdle() && sender.messages.count == 3 }
            // After 1 s and 5 s, and not only when all rows are looked at.
            #expect((.seconds(5) ..< .seconds(30)).contains(ContinuousClock.now - start))
            #expect(Set(sender.messages.map(\.payload)).count == 1)
        }
    }

    @Test func whatIsRefusedIsDropped() async throws {
        let sender = ScriptedPushSender { _ in .rejected("413") }
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await running(dispatcher(sender)) {
            try await send("1", to: id)
            try await eventually { try await isIdle() && sender.messages.count == 1 }
            #expect(try await count("push_registrations") == 1)
        }
    }

    @Test func aDeviceThatIsGoneIsForgotten() async throws {
        let sender = ScriptedPushSender { _ in .gone("410") }
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await running(dispatcher(sender)) {
            try await send("1", to: id)
            try await eventually { try await count("push_registrations") == 0 }
            #expect(try await isIdle())
        }
    }

    @Test func whyPushesFailIsKnownUntilAServiceTakesOne() async throws {
        let outcomes = Shared<[PushOutcome]>([.rejected("413"), .rejected("400"), .gone("410")])
        let sender = ScriptedPushSender { _ in outcomes.update { $0.removeFirst() } }
        try await register(ben, at: Self.ben)
        let id = try await group()
        let dispatcher = dispatcher(sender)
        func failure(after count: Int) async throws -> PushHealth.Failure? {
            try await send("\(count)", to: id)
            try await eventually { try await isIdle() && sender.messages.count == count }
            var health = PushHealth(webKey: "key", hasContact: true)
            try await dispatcher.describe(&health)
            #expect(health.kinds.map(\.kind) == PushKind.allCases)
            #expect(health.kinds.dropFirst().allSatisfy { $0 == PushHealth.Kind($0.kind) }, "nothing of others")
            #expect(health.registrations == (count < 3 ? 1 : 0))
            return health.kinds[0].failure
        }
        try await running(dispatcher) {
            let first = try #require(try await failure(after: 1))
            #expect(first.reason == "413")
            time.advance(seconds: 60)
            let second = try #require(try await failure(after: 2))
            #expect(second.reason == "400" && second.since == first.since)
            // The service works: it knows its devices.
            #expect(try await failure(after: 3) == nil)
        }
    }

    @Test func anAddressThatAnotherKeySealedIsForgotten() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await running(dispatcher(sender, key: .ephemeral())) {
            try await send("1", to: id)
            try await eventually { try await count("push_registrations") == 0 }
            #expect(sender.messages.isEmpty)
        }
    }

    @Test func hostsThatHangHoldUpNoOther() async throws {
        let sender = ScriptedPushSender { message in
            guard message.endpoint == Self.ben else {
                try? await Task.sleep(for: .seconds(3_600))
                return .cancelled
            }
            return .delivered
        }
        for index in 0..<60 { try await register(users[2], at: "https://hangs\(index % 3).example/\(index)") }
        for index in 0..<60 { try await register(ana, at: "https://hangs\(index).example/a\(index)") }
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await running(dispatcher(sender)) {
            try await send("1", to: id, by: 1)
            try await eventually { sender.messages.count == 2 * PushLanes.Limits().user }
            try await send("2", to: id)
            try await eventually { sender.messages(to: Self.ben).count == 1 }
            #expect(sender.messages.count <= 1 + 2 * PushLanes.Limits().user)
        }
    }

    /// Large groups have their pages by turns, and the pushes of other conversations do not wait for those.
    @Test func largeGroupsHoldUpNoOther() async throws {
        let sender = ScriptedPushSender()
        let (page, count) = (4, PushQueue.Limits().expansions + 8)
        for index in 0...page { try await register(ben, at: "\(Self.ben)\(index)") }
        try await register(users[2], at: "https://push.example/cleo")
        var large: [ConversationID] = []
        for _ in 0..<count { large.append(try await group(of: [0, 1])) }
        let small = try await group(of: [0, 2])
        // A page of a large group in four seconds.
        let dispatcher = dispatcher(sender) { ($0.page, $0.devicesPerSecond) = (page, 1) }
        for id in large { try await send("1", to: id) }
        try await running(dispatcher) {
            try await eventually { sender.messages(to: "\(Self.ben)0").count >= count }
            try await send("2", to: small)
            try await eventually { sender.messages(to: "https://push.example/cleo").count == 1 }
            #expect(sender.messages(to: "\(Self.ben)\(page)").count < count / 2)
        }
    }

    /// More large groups than are told at a time.
    @Test func largeGroupsThatAreTooManyWait() async throws {
        let sender = ScriptedPushSender()
        for index in 0...2 { try await register(ben, at: "\(Self.ben)\(index)") }
        let ids = [try await group(of: [0, 1]), try await group(of: [0, 1])]
        let dispatcher = dispatcher(sender) { ($0.page, $0.devicesPerSecond) = (2, 1) }
        for _ in 0..<PushQueue.Limits().largeGroups - 1 {
            dispatcher.state.withLock { state in
                let work = state.queue.work(at: time.now)
                if let work { state.queue.complete(work, sources: 1, pushes: 0, next: time.now, at: time.now) }
                _ = state.queue.becomeLarge()
            }
        }
        try await running(dispatcher) {
            for id in ids { try await send("1", to: id) }
            try await eventually { sender.messages(to: "\(Self.ben)2").count == 1 }
            #expect(try await count("push_sources") == 1)
            // Half a minute later it is tried again.
            time.advance(seconds: 31)
            try await wake()
            try await eventually { sender.messages(to: "\(Self.ben)2").count == 2 }
        }
    }

    @Test func whatAnEarlierProcessHadClaimedIsPushedAtOnce() async throws {
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await send("1", to: id)
        let until = time.now.adding(seconds: 60)
        let lost = try await store.write { try $0.claimPushSources(limit: 9, until: until) }.value
        #expect(lost.count == 1)
        let sender = ScriptedPushSender()
        try await running(dispatcher(sender)) {
            try await eventually { sender.messages.count == 1 }
            // Its late end changes nothing.
            try await send("2", to: id)
            _ = try await store.write { store in for source in lost { try store.finish(source, next: store.now) } }
            try await eventually { try await isIdle() }
            #expect(try sender.payloads(at: Self.ben).map(\.body) == ["1", "2"])
        }
    }

    /// A claim of this process that was forgotten.
    @Test func aClaimThatIsLostComesAgainAfterItsLease() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let (id, ben) = (try await group(), ben)
        try await running(dispatcher(sender)) {
            try await send("1", to: id)
            try await eventually { try await isIdle() }
            let until = time.now.adding(seconds: 30)
            _ = try await store.write { store in
                try store.notePush(of: .make(at: store.now), version: 1, to: [ben])
                _ = try store.claimPushSources(limit: 9, until: until)
            }
            try await wake()
            try await eventually { try await count("push_sources") == 1 }
            time.advance(seconds: 31)
            try await wake()
            try await eventually { try await isIdle() }
        }
    }

    @Test func aKindThatIsTurnedOffIsNotSent() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await send("1", to: id)
        try await running(dispatcher(sender, kinds: [])) {
            try await eventually { try await isIdle() }
            #expect(sender.messages.isEmpty)
            #expect(try await count("push_registrations") == 1)
        }
    }

    /// One row that cannot be composed holds up none of those that are composed with it.
    @Test func whatCannotBeComposedHoldsUpNothing() async throws {
        let sender = ScriptedPushSender()
        let broken = try await register(users[2], at: "https://push.example/broken")
        let id = try await group()
        try await send("1", to: id, by: 1)
        let user = users[2]
        _ = try await store.write { store in
            try store.sql.execute("UPDATE users SET created_at = 'x' WHERE id = ?1", [.id(user)])
        }
        for index in 0..<5 { try await register(ben, at: "\(Self.ben)\(index)") }
        try await running(dispatcher(sender)) {
            try await send("2", to: id)
            try await eventually { sender.messages.count == 5 }
            try await eventually { try await count("pushes") == 1 }
            let left = try await store.read { try $0.sql.query("SELECT registration_id FROM pushes")[0].integer(0) }
            #expect(left == broken.id)
        }
    }

    @Test func stoppingReleasesWhatIsInFlight() async throws {
        let sender = ScriptedPushSender { _ in
            try? await Task.sleep(for: .seconds(3_600))
            return .cancelled
        }
        try await register(ben, at: Self.ben)
        let id = try await group()
        let group = ServiceGroup(
            services: [dispatcher(sender) { $0.grace = .milliseconds(50) }],
            logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
        let task = Task { try await group.run() }
        try await send("1", to: id)
        try await eventually { sender.messages.count == 1 }
        await group.triggerGracefulShutdown()
        try await task.value
        let next = try #require(try await store.read { try $0.nextPush() })
        #expect(next <= time.now)
        let again = ScriptedPushSender()
        try await running(dispatcher(again)) { try await eventually { again.messages.count == 1 } }
    }
}
