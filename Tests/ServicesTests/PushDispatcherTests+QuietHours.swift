import Accounts
import Calls
import Messaging
import Model
import Notifications
import Storage
import TestSupport
import Testing

@testable import Services

extension PushDispatcherTests {
    /// From two hours before now to two hours after it; nil for none.
    private func setQuietHours(_ isQuiet: Bool, of user: UserID? = nil) async throws {
        let user = user ?? ben
        let minute = Int(time.now.milliseconds / 60_000 % 1_440)
        let hours = QuietHours(from: (minute + 1_320) % 1_440, to: (minute + 120) % 1_440, zone: "UTC")
        _ = try await store.write { store in
            var record = try #require(try store.user(user))
            record.quietHours = isQuiet ? hours : nil
            try store.update(record)
        }
    }

    /// Nothing is due before the end of the quiet hours, for which so many wait.
    private func waits(_ count: Int64 = 1) async throws -> Bool {
        let time = time
        return try await store.read { store in
            let waiting = try store.sql.query("SELECT COUNT(*) FROM pushes WHERE quiet_until = not_before")
            let next = try store.nextPush()
            return try waiting[0].integer(0) == count && next.map { $0 > time.now.adding(seconds: 3_600) } == true
        }
    }

    private func begin(to user: UserID) async throws -> (id: CallID, caller: Principal) {
        let (calls, caller) = (calls, Principal(user: ana, endpoint: .make(at: time.now)))
        let id = try await store.write { store in
            let request = CreateCall(clientID: .make(at: store.now), callees: [user], kind: .audio)
            return try calls.create(request, by: caller, id: .make(at: store.now), at: store.now, in: store).call.id
        }.value
        return (id, caller)
    }

    private func cancel(_ call: (id: CallID, caller: Principal)) async throws {
        let calls = calls
        _ = try await store.write { try calls.hangUp(call.id, .cancel, by: call.caller, at: $0.now, in: $0) }
    }

    @Test func messagesWaitForTheEndOfQuietHours() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        try await register(users[2], at: "https://push.example/cleo")
        let (id, other) = (try await group(), try await group("Other"))
        try await setQuietHours(true)
        let dispatcher = dispatcher(sender)
        try await running(dispatcher) {
            try await send("1", to: id)
            try await send("2", to: other)
            try await eventually { try await waits(2) && sender.messages.count == 2 }
            try await send("3", to: id)
            try await eventually { try await waits(2) && sender.messages.count == 3 }
            #expect(sender.messages(to: Self.ben).isEmpty, "others are told at once")
            // It is no outbox that stands still.
            var health = PushHealth(webKey: "key", hasContact: true)
            try await dispatcher.describe(&health)
            #expect(health.waiting == 0 && health.oldestSeconds == 0)
            time.advance(seconds: 2 * 3_600 + 60)
            try await wake()
            try await eventually { sender.messages(to: Self.ben).count == 2 }
            try await eventually { try await isIdle() }
            #expect(try Set(sender.payloads(at: Self.ben).map(\.body)) == ["3", "Ana: 2"], "one for each conversation")
        }
    }

    @Test func whatIsReadInQuietHoursIsNotPushedAfterThem() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let (id, ben, commands) = (try await group(), ben, commands)
        try await setQuietHours(true)
        try await running(dispatcher(sender)) {
            let number = try await send("1", to: id)
            try await eventually { try await waits() }
            _ = try await store.write { try commands.mark(read: number, delivered: nil, in: id, by: ben, store: $0) }
            try await setQuietHours(false)
            try await eventually { try await isIdle() }
            #expect(sender.messages.isEmpty)
        }
    }

    @Test func whatWaitsIsPushedWhenQuietHoursAreRemoved() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await setQuietHours(true)
        try await running(dispatcher(sender)) {
            try await send("1", to: id)
            try await eventually { try await waits() }
            let start = ContinuousClock.now
            try await setQuietHours(false)
            try await eventually { try await isIdle() }
            #expect(ContinuousClock.now - start < .seconds(20), "not at the next look at all rows")
            #expect(try sender.payloads(at: Self.ben).map(\.body) == ["1"])
        }
    }

    /// They are removed between reading and settling.
    @Test func hoursThatChangeMeanwhileAreReadAgain() async throws {
        try await register(ben, at: Self.ben)
        try await send("1", to: try await group())
        try await setQuietHours(true)
        let until = time.now.adding(seconds: 60)
        let push = try await store.write { store in
            let sources = try store.claimPushSources(limit: 9, until: until)
            let candidates = try store.pushCandidates(of: [self.ben])
            for source in sources {
                let due = candidates.map { (registration: $0.registration, at: store.now, onlyKnown: false) }
                _ = try store.savePushes(of: source, due: due, then: .ends(next: store.now))
            }
            return try store.claimPushes(limit: 1, until: until)[0]
        }.value
        try await setQuietHours(false)
        let time = time
        _ = try await store.write { try $0.settle([PushSettlement(push, .quiet)]) }
        let next = try #require(try await store.read { try $0.nextPush() })
        #expect(next <= time.now)
    }

    @Test func aCallInQuietHoursDoesNotRingAndIsAMissedOneAfterThem() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        try await setQuietHours(true)
        try await running(dispatcher(sender)) {
            let made = try await begin(to: ben)
            try await eventually { try await waits() }
            try await cancel(made)
            try await eventually { try await count("push_sources") == 0 }
            try await eventually { try await waits() }
            #expect(sender.messages.isEmpty)
            try await setQuietHours(false)
            try await eventually { try await isIdle() }
            #expect(try sender.payloads(at: Self.ben).map(\.kind) == ["missedCall"])
        }
    }

    @Test func aCallThatStillRingsWhenQuietHoursEndRings() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        try await setQuietHours(true)
        try await running(dispatcher(sender)) {
            _ = try await begin(to: ben)
            try await eventually { try await waits() }
            try await setQuietHours(false)
            try await eventually { sender.messages.count == 1 }
            #expect(try sender.payloads(at: Self.ben).map(\.kind) == ["ring"])
        }
    }

    @Test func aCallThatIsAnsweredElsewhereInQuietHoursIsNotPushed() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        try await setQuietHours(true)
        try await running(dispatcher(sender)) {
            let made = try await begin(to: ben)
            try await eventually { try await waits() }
            let (calls, here) = (calls, Principal(user: ben, endpoint: .make(at: time.now)))
            _ = try await store.write { try calls.accept(made.id, by: here, at: $0.now, in: $0) }
            try await eventually { try await isIdle() }
            #expect(sender.messages.isEmpty)
        }
    }

    @Test(arguments: [true, false]) func aRingFromBeforeQuietHoursEnds(isMissed: Bool) async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        try await running(dispatcher(sender)) {
            let made = try await begin(to: ben)
            try await eventually { try await store.read { try $0.nextPush() } == nil && sender.messages.count == 1 }
            try await setQuietHours(true)
            let (calls, here) = (calls, Principal(user: ben, endpoint: .make(at: time.now)))
            if isMissed {
                try await cancel(made)
            } else {
                _ = try await store.write { try calls.decline(made.id, by: here, at: $0.now, in: $0) }
            }
            try await eventually { try await isIdle() }
            let kinds = try sender.payloads(at: Self.ben).map(\.kind)
            #expect(kinds == ["ring", isMissed ? "missedCall" : "ringEnded"])
        }
    }

    /// Nobody knows whether it has arrived.
    @Test func aRingThatMayHaveArrivedBeforeQuietHoursEnds() async throws {
        let hasFailed = Shared(false)
        let sender = ScriptedPushSender { _ in
            guard !hasFailed.value else { return .delivered }
            try? await self.setQuietHours(true)
            hasFailed.update { $0 = true }
            return .unreachable("It did not respond.")
        }
        try await register(ben, at: Self.ben)
        try await running(dispatcher(sender)) {
            let made = try await begin(to: ben)
            try await eventually { try await waits() }
            #expect(sender.messages.count == 1, "it rings no more")
            let (calls, here) = (calls, Principal(user: ben, endpoint: .make(at: time.now)))
            _ = try await store.write { try calls.accept(made.id, by: here, at: $0.now, in: $0) }
            try await eventually { try await isIdle() }
            #expect(try sender.payloads(at: Self.ben).map(\.kind) == ["ring", "ringEnded"])
        }
    }

    /// A failure does not lead into the quiet hours.
    @Test func whatFailsBeforeQuietHoursIsRepeatedAfterThem() async throws {
        let hasFailed = Shared(false)
        let sender = ScriptedPushSender { _ in
            guard !hasFailed.value else { return .delivered }
            try? await self.setQuietHours(true)
            hasFailed.update { $0 = true }
            return .unreachable("It did not respond.")
        }
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await running(dispatcher(sender)) {
            try await send("1", to: id)
            try await eventually { try await waits() }
            try await send("2", to: id)
            try await eventually { try await count("push_sources") == 0 }
            #expect(try await waits())
            try await setQuietHours(false)
            try await eventually { try await isIdle() }
            #expect(try sender.payloads(at: Self.ben).map(\.body) == ["1", "2"])
        }
    }

    @Test func aZoneThatIsKnownNoMoreMakesNothingQuiet() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let (id, ben) = (try await group(), ben)
        _ = try await store.write { store in
            var record = try #require(try store.user(ben))
            record.quietHours = QuietHours(from: 0, to: 1_439, zone: "Mars/Olympus_Mons")
            try store.update(record)
            #expect(try store.user(ben)?.quietHours == record.quietHours)
        }
        try await running(dispatcher(sender)) {
            try await send("1", to: id)
            try await eventually { sender.messages.count == 1 }
        }
    }
}
