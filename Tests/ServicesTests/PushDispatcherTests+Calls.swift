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
    private func call(_ kind: Call.Kind = .video) async throws -> (id: CallID, caller: Principal) {
        let (calls, ben) = (calls, ben)
        let caller = Principal(user: ana, endpoint: .make(at: time.now))
        let id = try await store.write { store in
            let request = CreateCall(clientID: .make(at: store.now), callees: [ben], kind: kind)
            return try calls.create(request, by: caller, id: .make(at: store.now), at: store.now, in: store).call.id
        }.value
        return (id, caller)
    }

    @Test func aCallRingsAndItsEndIsPushed() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        try await register(ana, at: Self.ana)
        try await running(dispatcher(sender)) {
            let (id, caller) = try await call()
            try await eventually { sender.messages.count == 1 }
            let ring = try #require(try sender.payloads(at: Self.ben).first)
            #expect(ring.kind == "ring" && ring.call == id.text && ring.title == "Ana")
            #expect(ring.body == "Incoming video call")
            let message = try #require(sender.messages.first)
            #expect(message.isUrgent && (1...120).contains(message.secondsToLive))
            let calls = calls
            _ = try await store.write { try calls.hangUp(id, .cancel, by: caller, at: $0.now, in: $0) }
            try await eventually { sender.messages.count == 2 }
            let end = try #require(try sender.payloads(at: Self.ben).last)
            #expect(["missedCall", "ringEnded"].contains(end.kind) && end.call == id.text && end.title == "Ana")
            #expect(sender.messages(to: Self.ben).map(\.topic) == [id.text, id.text])
            try await eventually { try await isIdle() }
        }
    }

    @Test func aRingByPushKitHasNoNotificationBesideIt() async throws {
        let sender = ScriptedPushSender()
        try await registerPhone(of: ben)
        try await running(dispatcher(sender, kinds: [.apns, .apnsVoIP])) {
            let (id, caller) = try await call()
            try await eventually { sender.messages.count == 1 }
            #expect(try sender.payloads(at: "00bb").map(\.kind) == ["ring"])
            time.advance(seconds: 2)
            // The end, and with it all that waited, is over.
            let (calls, here) = (calls, Principal(user: ben, endpoint: .make(at: time.now)))
            _ = try await store.write { try calls.accept(id, by: here, at: $0.now, in: $0) }
            try await eventually { try await isIdle() }
            #expect(sender.messages.count == 1, "no push of PushKit but rings, and no end of what did not ring")
            _ = try await store.write { try calls.hangUp(id, .cancel, by: caller, at: $0.now, in: $0) }
            try await eventually { try await isIdle() }
            #expect(sender.messages.count == 1)
        }
    }

    @Test(
        arguments: [
            PushOutcome.gone("Unregistered"), .rejected("BadPriority"), .retry(after: .seconds(1), "403"),
            .unreachable("down"),
        ]) func whereNoPushOfPushKitArrivesTheNotificationRings(outcome: PushOutcome) async throws
    {
        let sender = ScriptedPushSender { $0.endpoint == "00bb" ? outcome : .delivered }
        try await registerPhone(of: ben)
        try await running(dispatcher(sender, kinds: [.apns, .apnsVoIP])) {
            let (id, caller) = try await call()
            try await eventually { try sender.payloads(at: "00aa").map(\.kind) == ["ring"] }
            let calls = calls
            _ = try await store.write { try calls.hangUp(id, .cancel, by: caller, at: $0.now, in: $0) }
            try await eventually { try sender.payloads(at: "00aa").map(\.kind) == ["ring", "missedCall"] }
        }
    }

    @Test(arguments: [true, false]) func otherDevicesStopRinging(isAnswered: Bool) async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        try await running(dispatcher(sender)) {
            let (id, _) = try await call(.audio)
            try await eventually { try await store.read { try $0.nextPush() } == nil && sender.messages.count == 1 }
            let (calls, here) = (calls, Principal(user: ben, endpoint: .make(at: time.now)))
            _ = try await store.write { store in
                _ =
                    isAnswered
                    ? try calls.accept(id, by: here, at: store.now, in: store)
                    : try calls.decline(id, by: here, at: store.now, in: store)
            }
            try await eventually { sender.messages.count == 2 }
            let end = try #require(try sender.payloads(at: Self.ben).last)
            #expect(end.kind == "ringEnded" && end.reason == (isAnswered ? "answered" : "declined"))
            #expect(end.body == (isAnswered ? "Answered on another device" : "Declined on another device"))
        }
    }

    /// Who answers within the moment in which the ring is sent is told that it is over as soon as it was handed over.
    @Test func theEndOfARingIsPushedSoonThoughItCameWhileTheRingWasSent() async throws {
        let mayGo = Shared(false)
        let sender = ScriptedPushSender { _ in
            while !mayGo.value { try? await Task.sleep(for: .milliseconds(2)) }
            return .delivered
        }
        try await register(ben, at: Self.ben)
        try await running(dispatcher(sender)) {
            let (id, _) = try await call()
            try await eventually { sender.messages.count == 1 }
            let (calls, here) = (calls, Principal(user: ben, endpoint: .make(at: time.now)))
            _ = try await store.write { try calls.decline(id, by: here, at: $0.now, in: $0) }
            try await eventually { try await count("push_sources") == 0 }
            mayGo.update { $0 = true }
            let start = ContinuousClock.now
            try await eventually { sender.messages.count == 2 }
            #expect(ContinuousClock.now - start < .seconds(5))
            #expect(try sender.payloads(at: Self.ben).map(\.kind) == ["ring", "ringEnded"])
        }
    }

    @Test func aRingThatFailsIsRepeatedWhileItRings() async throws {
        let failures = Shared(2)
        let sender = ScriptedPushSender { _ in
            failures.update { failures in
                failures -= 1
                return failures >= 0 ? .unreachable("It did not respond.") : .delivered
            }
        }
        try await register(ben, at: Self.ben)
        try await running(dispatcher(sender)) {
            let start = ContinuousClock.now
            _ = try await call()
            try await eventually { sender.messages.count == 3 }
            #expect(ContinuousClock.now - start < .seconds(10))
        }
    }

    /// The process ended between the push and its mark: whether it rings nobody knows, so its end is told.
    @Test func theEndOfARingIsPushedThoughItsProcessEnded() async throws {
        try await register(ben, at: Self.ben)
        let first = ScriptedPushSender { _ in
            try? await Task.sleep(for: .seconds(3_600))
            return .delivered
        }
        let task = Task { [first] in await dispatcher(first).run() }
        let (id, _) = try await call()
        try await eventually { first.messages.count == 1 }
        let (calls, here) = (calls, Principal(user: ben, endpoint: .make(at: time.now)))
        _ = try await store.write { try calls.decline(id, by: here, at: $0.now, in: $0) }
        try await eventually { try await count("push_sources") == 0 }
        // It settles nothing any more.
        _ = try await store.write { try $0.releaseClaimedPushes() }
        task.cancel()
        await task.value
        let sender = ScriptedPushSender()
        try await running(dispatcher(sender)) {
            try await eventually { sender.messages.count == 1 }
            #expect(try sender.payloads(at: Self.ben).map(\.kind) == ["ringEnded"])
            try await eventually { try await isIdle() }
        }
    }

    @Test func aBlockedCallerRingsNothing() async throws {
        let sender = ScriptedPushSender()
        try await register(ben, at: Self.ben)
        let (ana, ben) = (ana, ben)
        _ = try await store.write { try $0.block(ana, by: ben) }
        try await running(dispatcher(sender)) {
            let (id, caller) = try await call()
            let calls = calls
            _ = try await store.write { try calls.hangUp(id, .cancel, by: caller, at: $0.now, in: $0) }
            try await wake()
            try await eventually { try await isIdle() }
            #expect(sender.messages.isEmpty)
        }
    }
}
