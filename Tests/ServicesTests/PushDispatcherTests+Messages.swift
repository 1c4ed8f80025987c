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

extension PushDispatcherTests {
    @Test func aMessageIsPushedOnceAndNotToItsAuthor() async throws {
        let sender = ScriptedPushSender()
        try await register(ana, at: Self.ana)
        try await register(ben, at: Self.ben)
        let id = try await group("Friends")
        try await running(dispatcher(sender)) {
            let number = try await send("See **you** at 8, <@\(ben)>", to: id)
            try await eventually { try await isIdle() && !sender.messages.isEmpty }
            let payload = try #require(try sender.payloads(at: Self.ben).first)
            #expect(payload.kind == "message" && payload.user == ben.text)
            #expect(payload.number == number && payload.badge == 1)
            #expect(payload.title == "Friends" && payload.body == "Ana: See you at 8, @Ben")
            #expect(sender.messages.count == 1)
            let message = try #require(sender.messages.first)
            #expect(!message.isUrgent && message.secondsToLive == 28 * 86_400 && message.topic == id.text)
        }
    }

    @Test func authorsAreNotifiedOfWhatOthersWrite() async throws {
        let sender = ScriptedPushSender()
        try await register(ana, at: Self.ana)
        let id = try await group()
        try await send("one", to: id)
        try await send("two", to: id, by: 1)
        try await running(dispatcher(sender)) {
            try await eventually { try await isIdle() && !sender.messages.isEmpty }
            #expect(try sender.payloads(at: Self.ana).map(\.body) == ["two"])
            #expect(try sender.payloads(at: Self.ana).map(\.title) == ["Ben"], "a group without a name")
        }
    }

    @Test func whatWasWrittenBeforeTheServerStartedIsPushed() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let id = try await group()
        for index in 1...5 { try await send("\(index)", to: id) }
        try await running(dispatcher(sender)) {
            try await eventually { try await isIdle() && !sender.messages.isEmpty }
            #expect(try sender.payloads(at: Self.ben).map(\.body) == ["5"], "the last one of several")
        }
    }

    @Test func furtherMessagesArePushedAtIntervals() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let id = try await group()
        let dispatcher = dispatcher(sender) { $0.interval = .milliseconds(1_500) }
        try await running(dispatcher) {
            try await send("1", to: id)
            try await eventually { sender.messages.count == 1 }
            for index in 2...5 { try await send("\(index)", to: id) }
            try await Task.sleep(for: .milliseconds(300))
            #expect(sender.messages.count == 1)
            try await eventually { sender.messages.count == 2 }
            #expect(try sender.payloads(at: Self.ben).map(\.body) == ["1", "5"])
            try await eventually { try await isIdle() }
        }
    }

    /// The second message comes while the first is sent.
    @Test func whatComesWhileOneIsSentIsPushedSoonAfter() async throws {
        let mayGo = Shared(false)
        let sender = ScriptedPushSender { _ in
            while !mayGo.value { try? await Task.sleep(for: .milliseconds(2)) }
            return .delivered
        }
        try await register(ben, at: Self.ben)
        let id = try await group()
        try await running(dispatcher(sender)) {
            try await send("1", to: id)
            try await eventually { sender.messages.count == 1 }
            try await send("2", to: id)
            try await eventually { try await count("push_sources") == 0 }
            mayGo.update { $0 = true }
            let start = ContinuousClock.now
            try await eventually { try await isIdle() }
            #expect(try sender.payloads(at: Self.ben).map(\.body) == ["1", "2"])
            #expect(ContinuousClock.now - start < .seconds(20), "not at the next look at all rows")
        }
    }

    @Test(arguments: [NotificationLevel.full, .name, .none]) func noMoreIsShownThanTheUserSays(
        level: NotificationLevel
    ) async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let (id, ben) = (try await group("Friends"), ben)
        _ = try await store.write { store in
            var user = try #require(try store.user(ben))
            user.notifications = level
            user.languages = ["de", "es"]
            try store.update(user)
        }
        try await send("secret", to: id)
        try await running(dispatcher(sender)) {
            try await eventually { try await isIdle() && !sender.messages.isEmpty }
            let payload = try #require(try sender.payloads(at: Self.ben).first)
            #expect(
                [payload.title, payload.body]
                    == [
                        .full: ["Friends", "Ana: secret"], .name: ["Friends", "Ana: Mensaje nuevo"],
                        .none: ["Mensaje nuevo", ""],
                    ][level])
        }
    }

    @Test func whatDisappearsLeavesNoText() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let (commands, users) = (commands, users)
        let id = try await store.write { store in
            let id = try commands.createGroup(
                name: "Friends", members: [users[1]], id: .make(at: store.now), disappearAfter: 86_400, by: users[0],
                in: store
            ).conversation.id
            _ = try commands.accept(id, by: users[1], in: store)
            return id
        }.value
        try await send("secret", to: id)
        try await running(dispatcher(sender)) {
            try await eventually { try await isIdle() && !sender.messages.isEmpty }
            #expect(try sender.payloads(at: Self.ben).map(\.body) == ["Ana: New message"])
        }
    }

    enum Reason: CaseIterable { case read, deleted, left, muted, blocked, disabled, removed }

    @Test(arguments: Reason.allCases) func whatIsOverIsNotPushed(reason: Reason) async throws {
        let sender = ScriptedPushSender()
        let registration = try await register(ben, at: Self.ben)
        let (id, ana, ben, commands) = (try await group(), ana, ben, commands)
        let number = try await send("secret", to: id)
        _ = try await store.write { store in
            switch reason {
            case .read: _ = try commands.mark(read: number, delivered: nil, in: id, by: ben, store: store)
            case .deleted: _ = try commands.delete(number, in: id, by: ana, store: store)
            case .left: try commands.leave(id, by: ben, in: store)
            case .muted:
                _ = try commands.change(
                    id, membership: MembershipChange(mute: .some(Membership.Mute())), by: ben, in: store)
            case .blocked: _ = try store.block(ana, by: ben)
            case .disabled:
                try store.sql.execute("UPDATE users SET disabled_at = 1 WHERE id = ?1", [.id(ben)])
            case .removed: try store.removePushRegistration(of: ben, on: registration.device, .web)
            }
        }
        try await running(dispatcher(sender)) {
            try await eventually { try await isIdle() }
            #expect(sender.messages.isEmpty)
        }
    }

    @Test func whoHasMutedAConversationIsNotifiedOfMentions() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let (id, ben, commands) = (try await group(), ben, commands)
        _ = try await store.write { store in
            let mute = Membership.Mute(allowsMentions: true)
            _ = try commands.change(id, membership: MembershipChange(mute: .some(mute)), by: ben, in: store)
        }
        try await running(dispatcher(sender)) {
            try await send("nothing for <@\(ana)>", to: id, by: 2)
            try await eventually { try await isIdle() }
            #expect(sender.messages.isEmpty)
            try await send("hello <@\(ben)>", to: id)
            try await eventually { sender.messages.count == 1 }
            #expect(try sender.payloads(at: Self.ben).map(\.body) == ["hello @Ben"])
        }
    }
}

// The device that is there.
extension PushDispatcherTests {
    @Test func aDeviceThatSaysSomethingIsNotPushedTo() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben, client: .make(at: time.now))
        let id = try await group()
        try await running(dispatcher(sender, isConnected: true, silence: .milliseconds(1))) {
            try await send("1", to: id)
            try await eventually { try await isIdle() }
            #expect(sender.messages.isEmpty)
        }
    }

    @Test func aDeviceThatSaysNothingIsPushedTo() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben, client: .make(at: time.now))
        let id = try await group()
        try await running(dispatcher(sender, isConnected: true, silence: .seconds(60))) {
            let start = ContinuousClock.now
            try await send("1", to: id)
            try await eventually { sender.messages.count == 1 }
            #expect(ContinuousClock.now - start >= .milliseconds(290))
        }
    }

    /// It may say something without a connection that is known, as when it has just closed.
    @Test func aDeviceWithoutAConnectionIsPushedToAtOnce() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben, client: .make(at: time.now))
        let id = try await group()
        try await running(dispatcher(sender) { $0.confirmation = .seconds(3_600) }) {
            try await send("1", to: id)
            try await eventually { sender.messages.count == 1 }
        }
    }
}
