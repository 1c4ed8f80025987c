import Crypto
import CryptoExtras
import Foundation
import NIOCore
import TestSupport
import Testing
import Wire

@testable import SwitchboardClient

/// Pushes and the calls that they tell of, by the SDK against the real server.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PushScenarios {
    /// A server that has keys for Google and Apple, which it cannot reach.
    private func serverWithKeys() async throws -> RealServer {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("switchboard-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let account = folder.appendingPathComponent("firebase.json")
        let members = [
            "type": "service_account", "project_id": "an-app", "private_key_id": "k1",
            "private_key": try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation,
            "client_email": "push@an-app.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
        ]
        try JSONEncoder().encode(members).write(to: account)
        let key = folder.appendingPathComponent("key.p8")
        try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: key)
        for file in [account, key] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        return try await RealServer { _ in
            """
            push:
              fcm: {credentials: "\(account.path)", url: "https://127.0.0.1:9"}
              apns:
                key: "\(key.path)"
                keyID: ABCDEFGHIJ
                team: KLMNOPQRST
                topic: org.example.app
                url: "https://127.0.0.1:9"
                sandboxURL: "https://127.0.0.1:9"
            """
        }
    }

    @Test func registersItsTokens() async throws {
        let server = try await serverWithKeys()
        let (ann, _) = try await server.person("Ann")
        let push = try #require(try await ann.serverDescription().push)
        #expect(push.supports(.fcm) && push.supports(.apns) && push.supports(.apnsVoIP) && push.supports(.web))
        #expect(!push.supports(PushKind(rawValue: "pigeon")))
        let device = try #require(try await ann.devices().first { $0.current == true })
        let tokens: [PushToken] = [
            .fcm("cRx:APA91b"), .apns(Data((0..<32).map { UInt8($0) })),
            .apnsVoIP(Data(repeating: 0xAB, count: 32), environment: .sandbox),
        ]
        for token in tokens {
            let first = try await ann.registerForPushes(token)
            #expect(first.kind == token.kind && first.device == device.id)
            // At each start.
            let again = try await ann.registerForPushes(token, shared: true)
            #expect(again.createdAt == first.createdAt && again.updatedAt >= first.updatedAt)
        }
        #expect(Set(try await ann.pushRegistrations().map(\.kind)) == [.fcm, .apns, .apnsVoIP])
        try await ann.unregisterFromPushes(.fcm)
        try await ann.unregisterFromPushes(.fcm)
        #expect(Set(try await ann.pushRegistrations().map(\.kind)) == [.apns, .apnsVoIP])
        for token in [PushToken.apns("not hexadecimal"), .apns(Data()), .fcm("")] {
            #expect(await refusal { _ = try await ann.registerForPushes(token) }?.field == "token")
        }
        try await ann.signOut()
        await #expect(throws: SwitchboardError.signedOut) { try await ann.registerForPushes(.fcm("cRx:APA91b")) }
        await ann.close()
    }

    @Test func registersWhatTheServerCanSend() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        #expect(try await ann.serverDescription().push?.supports(.fcm) == false)
        let refused = await refusal { _ = try await ann.registerForPushes(.fcm("cRx:APA91b")) }
        #expect(refused?.kind == .featureDisabled && refused?.field == "kind")
        let key = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        let subscription = PushToken.web(
            endpoint: "https://push.example.org/1", publicKey: key.base64EncodedString(),
            secret: Data(repeating: 7, count: 16).base64EncodedString())
        #expect(try await ann.registerForPushes(subscription).kind == .web)
        #expect(try await ann.pushRegistrations().count == 1)
        await ann.close()
    }

    private func refusal(_ body: () async throws -> Void) async -> Problem? {
        do {
            try await body()
        } catch let error as SwitchboardError {
            return error.problem
        } catch {}
        return nil
    }

    /// A phone that a push has woken: no connection, and the tokens of the last run.
    private func phone(
        of person: Switchboard, on server: RealServer, through port: Int? = nil
    ) async throws -> Switchboard {
        let phone = try server.client(through: port)
        await phone.use(try #require(await person.tokens))
        return phone
    }

    @Test func answersBeforeItIsConnected() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let phone = try await phone(of: ben, on: server)
        let call = try await ann.call([benMe.id], kind: .audio, offer: "v=0")
        guard case .answered(let live) = try await phone.answer(call.id) else {
            Issue.record("it was not answered")
            return
        }
        #expect(live.document.participant(benMe.id)?.endpoint == phone.endpoint.id)
        var signals = live.signals.makeAsyncIterator()
        #expect(try await signals.next()?.content == .offer(sdp: "v=0"))
        // Once more, such as by a second tap.
        guard case .answered(let again) = try await phone.answer(call.id) else {
            Issue.record("it is not in the call")
            return
        }
        #expect(again === live)
        #expect(try await phone.ringEnd(of: call.id) == nil)
        let tablet = try await self.phone(of: ben, on: server)
        guard case .over(.answered) = try await tablet.answer(call.id) else {
            Issue.record("two devices are in the call")
            return
        }
        #expect(try await tablet.ringEnd(of: call.id) == .answered)
        try await call.end()
        #expect(await first(in: live.updates) { $0.status == .ended }?.endReason == .hungUp)
        guard case .over(.answered) = try await tablet.answer(call.id) else {
            Issue.record("it is over")
            return
        }
        for client in [ann, ben, phone, tablet] { await client.close() }
    }

    @Test func saysWhatHasBecomeOfTheCall() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let phone = try await phone(of: ben, on: server)
        let cancelled = try await ann.call([benMe.id], kind: .audio)
        try await cancelled.cancel()
        let declined = try await ann.call([benMe.id], kind: .audio)
        // Without a connection.
        #expect(try await phone.decline(declined.id).endReason == .declined)
        #expect(try await phone.decline(declined.id).endReason == .declined)
        #expect(await first(in: declined.updates) { $0.status == .ended }?.endReason == .declined)
        let unknown = CallID(UUID().uuidString.lowercased())
        for (call, end) in [(cancelled.id, RingEnd.cancelled), (declined.id, .declined), (unknown, .cancelled)] {
            guard case .over(end) = try await phone.answer(call) else {
                Issue.record("\(end)")
                continue
            }
            #expect(try await phone.ringEnd(of: call) == end)
        }
        #expect(await refusal { _ = try await phone.decline(unknown) }?.kind == .notFound)
        await #expect(throws: SwitchboardError.self) { try await phone.decline("../../me/delete") }
        let nobody = try server.client()
        await #expect(throws: SwitchboardError.signedOut) { try await nobody.answer(cancelled.id) }
        await #expect(throws: SwitchboardError.signedOut) { try await nobody.decline(cancelled.id) }
        await nobody.close()
        await #expect(throws: SwitchboardError.closed) { try await nobody.answer(cancelled.id) }
        for client in [ann, ben, phone] { await client.close() }
    }

    @Test func reportsWhyItRingsNoMore() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let phone = try await phone(of: ben, on: server)
        let call = try await ann.call([benMe.id], kind: .audio)
        async let end = phone.ringEnd(of: call.id, expiringAt: Date(timeIntervalSinceNow: 60))
        _ = await first(in: call.updates) { $0.participant(benMe.id)?.state == .ringing }
        try await call.cancel()
        #expect(try await end == .cancelled)
        let other = try await ann.call([benMe.id], kind: .audio)
        async let elsewhere = phone.ringEnd(of: other.id)
        _ = await first(in: other.updates) { $0.participant(benMe.id)?.state == .ringing }
        guard case .answered = try await ben.answer(other.id) else {
            Issue.record("it was not answered")
            return
        }
        #expect(try await elsewhere == .answered)
        try await other.end()
        for client in [ann, ben, phone] { await client.close() }
    }

    /// The document of a call that is over does not say on which device it was answered.
    @Test(arguments: [true, false]) func knowsWhatItHasAnswered(byItsID: Bool) async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let phone = try await phone(of: ben, on: server)
        let tablet = try await self.phone(of: ben, on: server)
        let call = try await ann.call([benMe.id], kind: .audio)
        if byItsID {
            guard case .answered = try await phone.answer(call.id) else {
                Issue.record("it was not answered")
                return
            }
        } else {
            let ringing = try #require(await first(in: await phone.incomingCalls) { $0.id == call.id })
            try await ringing.accept()
        }
        try await call.end()
        #expect(try await phone.ringEnd(of: call.id) == nil)
        guard case .over(.cancelled) = try await phone.answer(call.id) else {
            Issue.record("it was answered here")
            return
        }
        #expect(try await tablet.ringEnd(of: call.id) == .answered)
        for client in [ann, ben, phone, tablet] { await client.close() }
    }

    private func ringClock(_ clock: ManualClock<ContinuousClock.Instant>) -> RingClock {
        RingClock(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
    }

    /// The phone's clock is fast: by it, the ring of the push has expired when it comes.
    @Test func ringsForAsLongAsTheServerSays() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let clock = ManualClock<ContinuousClock.Instant>()
        let phone = try await phone(of: ben, on: server)
        let call = try await ann.call([benMe.id], kind: .audio)
        async let end = phone.ringEnd(of: call.id, expiringAt: .distantPast, by: ringClock(clock))
        _ = await first(in: call.updates) { $0.participant(benMe.id)?.state == .ringing }
        // Longer than any ring.
        for _ in 0..<5 { clock.advance(by: .seconds(60)) }
        try await call.cancel()
        #expect(try await end == .cancelled)
        for client in [ann, ben, phone] { await client.close() }
    }

    /// Without a connection, the ring ends with the time that the call's document had.
    @Test(arguments: [Date.distantPast, .distantFuture])
    func ringsForAsLongAsTheServerSaidLast(expiry: Date) async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let clock = ManualClock<ContinuousClock.Instant>()
        let phone = try await phone(of: ben, on: server, through: proxy.port)
        let call = try await ann.call([benMe.id], kind: .audio, ringFor: 100)
        let start = clock.now
        async let end = phone.ringEnd(of: call.id, expiringAt: expiry, by: ringClock(clock))
        _ = await first(in: call.updates) { $0.participant(benMe.id)?.state == .ringing }
        try await proxy.close()
        await connection(of: phone, is: false)
        let ends = start + .seconds(20)...start + .seconds(100)
        try await eventually { clock.deadlines.allSatisfy(ends.contains) }
        clock.advance(by: .seconds(100))
        #expect(try await end == .missed)
        let other = try await ann.call([benMe.id], kind: .audio, other: .end)
        async let missed = phone.ringEnd(of: other.id, expiringAt: .distantPast, by: ringClock(clock))
        try await eventually { clock.deadlines.contains(clock.now + .seconds(10)) }
        clock.advance(by: .seconds(10))
        #expect(try await missed == .missed)
        for client in [ann, ben, phone] { await client.close() }
    }

    /// Nothing listens at the address of this phone's server, until the test lets it.
    @Test func givesUpWhileItConnects() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let proxy = try await CuttingProxy(to: server.port)
        let phone = try await phone(of: ben, on: server, through: proxy.port)
        try await proxy.close()
        let call = try await ann.call([benMe.id], kind: .audio)
        await #expect(throws: SwitchboardError.timedOut) {
            try await phone.answer(call.id, within: .milliseconds(200))
        }
        await #expect(throws: SwitchboardError.timedOut) {
            try await phone.decline(call.id, within: .milliseconds(200))
        }
        let answering = Task { try await phone.answer(call.id) }
        answering.cancel()
        await #expect(throws: CancellationError.self) { try await answering.value }
        // It rings on for the others.
        guard case .answered = try await ben.answer(call.id) else {
            Issue.record("it was not answered")
            return
        }
        try await call.end()
        for client in [ann, ben, phone] { await client.close() }
    }

    enum Cut: CaseIterable { case never, beforeCancelling, afterCancelling }

    /// The server has accepted the call, and the phone does not know it yet, when its user gives up: the call is not left with
    /// nobody there, also if the response is lost with the connection.
    @Test(arguments: Cut.allCases) func leavesWhatWasAcceptedForNobody(cut: Cut) async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port, roundTrip: .milliseconds(400))
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let phone = try await phone(of: ben, on: server, through: proxy.port)
        let call = try await ann.call([benMe.id], kind: .audio)
        let answering = Task { try await phone.answer(call.id) }
        _ = await first(in: call.updates) { $0.participant(benMe.id)?.state == .joined }
        if cut == .beforeCancelling {
            proxy.cut()
            await connection(of: phone, is: false)
        }
        answering.cancel()
        await #expect(throws: CancellationError.self) { try await answering.value }
        if cut == .afterCancelling { proxy.cut() }
        #expect(await first(in: call.updates) { $0.status == .ended }?.endReason == .hungUp)
        #expect(await phone.realtime.answerings.isEmpty)
        for client in [ann, ben, phone] { await client.close() }
        try await proxy.close()
    }

    /// The user gives up while the server accepts the call, and then answers it after all. What is found out about the first
    /// attempt does not hang up.
    @Test(arguments: [true, false]) func keepsWhatIsAnsweredOnceMore(byItsID: Bool) async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let phone = try await phone(of: ben, on: server, through: proxy.port)
        let call = try await ann.call([benMe.id], kind: .audio)
        let ringing = try #require(await first(in: await phone.incomingCalls) { $0.id == call.id })
        proxy.holdResults()
        let answering = Task { try await phone.answer(call.id) }
        _ = await first(in: ringing.updates) { $0.participant(benMe.id)?.state == .joined }
        answering.cancel()
        await #expect(throws: CancellationError.self) { try await answering.value }
        try await eventually { proxy.heldCalls == 1 }
        if byItsID {
            guard case .answered = try await phone.answer(call.id) else {
                Issue.record("it is not in the call")
                return
            }
            proxy.holdResults(false)
        } else {
            proxy.holdResults(false)
            try await ringing.accept()
        }
        #expect(await phone.realtime.answerings.count == 1)
        // Now the phone asks whether the first attempt was accepted.
        proxy.cut()
        try await eventually { await phone.realtime.answerings.isEmpty }
        try await eventually { await phone.realtime.leavings.isEmpty }
        #expect(try await ringing.connected().status == .active)
        #expect(call.document.participant(benMe.id)?.state == .joined)
        try await call.end()
        for client in [ann, ben, phone] { await client.close() }
        try await proxy.close()
    }

    /// The first attempt is being left when the user answers once more: that is not told to be answered, and hung up then.
    @Test func answersOnlyWhatItDoesNotLeave() async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port, roundTrip: .milliseconds(400))
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let phone = try await phone(of: ben, on: server, through: proxy.port)
        let call = try await ann.call([benMe.id], kind: .audio)
        let answering = Task { try await phone.answer(call.id) }
        _ = await first(in: call.updates) { $0.participant(benMe.id)?.state == .joined }
        answering.cancel()
        await #expect(throws: CancellationError.self) { try await answering.value }
        try await eventually { await phone.realtime.answerings.isEmpty }
        guard case .over(.cancelled) = try await phone.answer(call.id) else {
            Issue.record("it is left")
            return
        }
        #expect(await first(in: call.updates) { $0.status == .ended }?.endReason == .hungUp)
        for client in [ann, ben, phone] { await client.close() }
        try await proxy.close()
    }

    /// It is cancelled at any moment, mostly before there is a connection: the call rings on, or is over.
    @Test func isCancelledAtAnyMoment() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        for round in 0..<12 {
            let phone = try await phone(of: ben, on: server)
            let call = try await ann.call([benMe.id], kind: .audio)
            let answering = Task { try await phone.answer(call.id) }
            for _ in 0..<(round * round * 200) { await Task.yield() }
            answering.cancel()
            switch await answering.result {
            case .success(.answered(let live)): try await live.leave()
            case .success(.over(let end)): Issue.record("\(end)")
            case .failure(let error): #expect(error is CancellationError)
            }
            try await eventually { await phone.realtime.answerings.isEmpty }
            let settled = await first(in: call.updates) {
                $0.status == .ended || $0.participant(benMe.id)?.state == .invited
            }
            if settled?.status != .ended { try await call.cancel() }
            let ended = await first(in: call.updates) { $0.status == .ended }
            #expect(ended?.endReason == (settled?.status == .ended ? .hungUp : .cancelled))
            await phone.close()
        }
        for client in [ann, ben] { await client.close() }
    }

    /// The connection breaks again and again while it answers. In the end it holds, also on a slow machine: a call without media
    /// ends 20 seconds after it was accepted.
    @Test(arguments: [freshSeed()]) func answersOverABadConnection(seed: UInt64) async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        var random = SeededRandom(seed: seed)
        for _ in 0..<10 {
            let phone = try await phone(of: ben, on: server, through: proxy.port)
            let call = try await ann.call([benMe.id], kind: .audio)
            let waits = (0..<40).map { _ in Int.random(in: 1...60, using: &random) }
            let cutting = Task {
                for wait in waits {
                    try await Task.sleep(for: .milliseconds(wait))
                    proxy.cut()
                }
            }
            let answer = try await phone.answer(call.id, within: .seconds(50))
            if case .answered(let live) = answer { try await live.end() } else { Issue.record("\(answer)") }
            cutting.cancel()
            _ = await first(in: call.updates) { $0.status == .ended }
            await phone.close()
        }
        for client in [ann, ben] { await client.close() }
        try await proxy.close()
    }
}
