import Foundation
import SwitchboardClient
import Testing

/// The SDK against the real server.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SwitchboardClientScenarios {
    @Test func signsUpAndLooksAfterTheAccount() async throws {
        let server = try await RealServer()
        let (ann, me) = try await server.person("Ann Example")
        #expect(try await ann.serverDescription().signUp == "open")
        #expect(try await ann.me() == me)
        #expect(
            try await ann.changeProfile(ProfileChange(displayName: "Anne Example", languages: ["de"])).displayName
                == "Anne Example")
        let hours = Me.QuietHours(from: "22:00", to: "07:00", zone: "Europe/Berlin")
        #expect(try await ann.setQuietHours(hours).quietHours == hours)
        #expect(try await ann.setNotifications(Me.NotificationLevel.none).notifications?.rawValue == "none")
        #expect(try await ann.me().quietHours == hours)
        let plain = try await ann.setNotifications(nil)
        #expect(plain.notifications == nil && plain.quietHours == hours)
        #expect(try await ann.setQuietHours(nil).quietHours == nil)

        let photo = try Data(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../ContainersTests/Fixtures/images/picture.png"))
        let address = try #require(try await ann.setPhoto(photo).photoURL)
        #expect(try await ann.photo(at: address) == photo)

        let (ben, benMe) = try await server.person("Ben Example")
        #expect(try await ben.searchUsers("anne").map(\.id) == [me.id])
        #expect(try await ben.user(me.id).languages == ["de"])
        #expect(try await ben.user(me.id).photoURL == address)
        #expect(try await ann.removePhoto().photoURL == nil)
        try await ann.block(benMe.id)
        #expect(try await ann.blockedUsers().map(\.id) == [benMe.id])
        // Ben cannot tell.
        #expect(try await ben.searchUsers("anne").map(\.id) == [me.id])
        try await ann.unblock(benMe.id)
        #expect(try await ann.blockedUsers().isEmpty)

        let elsewhere = try server.client()
        try await elsewhere.signIn(email: try #require(me.email), password: "correct horse")
        let signIns = try await ann.signIns()
        #expect(signIns.count == 2)
        try await ann.revoke(try #require(signIns.first { !$0.current }).id)
        await #expect(throws: SwitchboardError.signedOut) { try await elsewhere.me() }

        let tokens = try #require(await ann.tokens)
        let again = try server.client()
        await again.use(tokens)
        #expect(try await again.me().id == me.id)
        try await again.changePassword(from: "correct horse", to: "battery staple")
        await #expect(throws: SwitchboardError.self) {
            try await server.client().signIn(email: me.email ?? "", password: "correct horse")
        }
        await #expect(throws: SwitchboardError.self) { try await again.deleteAccount(password: "correct horse") }
        try await again.deleteAccount(password: "battery staple")
        await #expect(throws: SwitchboardError.signedOut) { try await again.me() }
        let deleted = try await ben.user(me.id)
        #expect(deleted.displayName == "Deleted user" && deleted.deleted == true)
        for client in [ann, ben, elsewhere, again] { await client.close() }
    }

    @Test func makesFriends() async throws {
        let server = try await RealServer()
        let (ann, annMe) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        var lists = await ben.friends.all.makeAsyncIterator()
        #expect(await lists.next()?.isEmpty == true)
        let asked = try await ann.friends.request(benMe.id, note: "It is me")
        #expect(asked.state == .requested && asked.note == "It is me" && asked.expiresAt != nil)
        #expect(await lists.next()?.map(\.state) == [.received])
        #expect(try await ben.friends.accept(annMe.id).state == .friend)
        #expect(await lists.next()?.map(\.state) == [.friend])
        let page = try await ann.friends.list(in: .friend, limit: 1)
        #expect(page.friends.map(\.id) == [benMe.id] && page.nextCursor == nil)
        try await ann.friends.remove(benMe.id)
        #expect(await lists.next()?.isEmpty == true)
        try await ann.friends.request(benMe.id)
        #expect(await lists.next()?.count == 1)
        try await ben.friends.decline(annMe.id)
        #expect(await lists.next()?.isEmpty == true)

        #expect(try await ann.changeProfile(ProfileChange(reach: .exact)).reach == .exact)
        #expect(try await ben.searchUsers("ann").isEmpty)
        let token = try await ann.makeContactLink()
        let link = try await ben.link(token)
        #expect(link.kind == .contact && link.user?.id == annMe.id)
        try await ann.removeContactLink()
        await #expect(throws: SwitchboardError.self) { try await ben.link(token) }
        try await ben.report(annMe.id, reason: .spam, text: "Three requests a day")
        for client in [ann, ben] { await client.close() }
    }

    @Test func incomingCallsGoOnAfterACallerHungUpAndAfterSigningInAnew() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        var calls = await ben.incomingCalls.makeAsyncIterator()
        let cancelled = try await ann.call([benMe.id], kind: .audio)
        let missed = try #require(await calls.next())
        try await cancelled.cancel()
        for await _ in missed.updates {}
        let refused = await #expect(throws: SwitchboardError.self) { try await missed.accept() }
        #expect(refused?.problem?.kind == .callEnded)

        try await ben.signOut()
        try await ben.signIn(email: try #require(benMe.email), password: "correct horse")
        let second = try await ann.call([benMe.id], kind: .audio)
        let ringing = try #require(await calls.next())
        #expect(ringing.id == second.id)
        try await ringing.accept()
        try await second.end()
        #expect(try await ben.signIns().first { $0.current }?.client?.version == SwitchboardVersion.text)
        await ben.close()
        #expect(await calls.next() == nil)
        await ann.close()
    }

    @Test func reportsPresence() async throws {
        let server = try await RealServer()
        let (ann, annMe) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let presence = await ann.presence(of: benMe.id)
        #expect(await first(in: presence) { _ in true }?.online == false, "a stranger")
        try await ann.friends.request(benMe.id)
        try await ben.friends.accept(annMe.id)
        _ = try await ben.me()
        _ = await first(in: presence) { $0.online }
        await ben.close()
        #expect(await first(in: presence) { !$0.online }?.lastSeenAt != nil)
        await ann.close()
    }

    @Test func sendsAndPlaysVoiceMessages() async throws {
        let server = try await RealServer()
        let (ann, annMe) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "ContainersTests/Fixtures")
        let file = try Data(contentsOf: fixtures.appending(path: "tone.webm"))
        try await ann.friends.request(benMe.id)
        try await ben.friends.accept(annMe.id)
        let conversation = try await ann.conversations.direct(with: benMe.id).id
        let mine = ann.messages(in: conversation)
        let id = try await mine.sendVoice(file, durationMs: 1_250)
        let sent = try #require(await self.sent(id, in: mine)?.message)
        let sound = try #require(sent.voice)
        #expect(sent.author == annMe.id && sent.kind == .voice && sound.waveform.count == 100)
        #expect(abs(sound.durationMs - 1_250) <= 20)
        #expect(await mine.waitingSound(of: id) == nil)
        let chat = ben.messages(in: conversation)
        let seen = await state(of: chat) { $0.messages.last?.message?.voice != nil }?.messages.last
        let received = try #require(seen?.message)
        #expect(received.number == sent.number && seen?.isDeleted == false)
        let audio = try await ben.audio(of: received)
        #expect(audio.count == sound.byteCount && audio.starts(with: Data("OggS".utf8)))
        try await chat.markListened(sent.number)
        _ = await state(of: chat) { $0.marks.own[sent.number]?.listened == true && $0.writes.isEmpty }
        let refused = try await mine.sendVoice(Data("no sound".utf8))
        #expect(await problem(of: refused, in: mine)?.field == "body")
        #expect(await mine.waitingSound(of: refused) == Data("no sound".utf8))
        let unsent = try await ann.uploadVoice(file)
        try await ann.discardVoice(unsent)
        let gone = try await mine.sendVoice(unsent)
        #expect(await problem(of: gone, in: mine)?.field == "file")
        for id in [refused, gone] { try await mine.discard(id) }
        // This server has nothing that transcribes, or suggests replies.
        let description = try await ann.serverDescription()
        #expect(!description.transcribes && description.transcriber == nil && description.suggestsReplies == false)
        await #expect {
            _ = try await ann.dictate(file, language: "en")
        } throws: { error in
            if case .refused(let problem)? = error as? SwitchboardError {
                problem.kind == .providerNotConfigured
            } else {
                false
            }
        }
        // What is held can be deleted.
        _ = await state(of: mine) { $0.messages.last?.id == received.id }
        try await mine.delete(received.id)
        _ = await state(of: chat) { $0.messages.last?.message?.deletedAt != nil }
        await #expect(throws: SwitchboardError.self) { _ = try await ben.audio(of: received) }
        for client in [ann, ben] { await client.close() }
    }

    /// The message once it is sent.
    private func sent(_ id: Message.ID, in messages: Messages) async -> ChatMessage? {
        await state(of: messages) { state in
            state.messages.contains { $0.id == id && $0.delivery == .sent }
        }?.messages.first { $0.id == id }
    }

    /// Why it is not sent, once that is known.
    private func problem(of id: Message.ID, in messages: Messages) async -> Problem? {
        let failed = await state(of: messages) { state in
            if case .failed = state.messages.first(where: { $0.id == id })?.delivery { true } else { false }
        }
        if case .failed(let problem)? = failed?.messages.first(where: { $0.id == id })?.delivery { return problem }
        return nil
    }

    @Test func callsAndIsCalled() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        var incoming = await ben.incomingCalls.makeAsyncIterator()
        try await LifeCycle(caller: ann, callee: ben, calleeID: benMe.id).run(&incoming)
        let history = try await ann.history(limit: 10)
        #expect(history.calls.map(\.endReason) == [.hungUp])
        #expect(history.calls.first?.participants.first?.quality?.mos ?? 0 > 3)
        await #expect(throws: SwitchboardError.self) { try await ann.call(["not-a-user"], kind: .audio) }
        await ann.close()
        await ben.close()
    }

    @Test func oneOfTwoEndpointsAnswers() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let tablet = try server.client()
        await tablet.use(try #require(await ben.tokens))
        var onPhone = await ben.incomingCalls.makeAsyncIterator()
        var onTablet = await tablet.incomingCalls.makeAsyncIterator()
        let call = try await ann.call([benMe.id], kind: .audio, offer: "v=0")
        let phone = try #require(await onPhone.next())
        let other = try #require(await onTablet.next())
        #expect(phone.id == call.id && other.id == call.id)
        try await phone.accept()
        do {
            try await other.accept()
            Issue.record("two endpoints answered")
        } catch let error as SwitchboardError {
            #expect(error.problem?.kind == .answeredElsewhere)
        }
        for await document in other.updates where document.participant(benMe.id)?.endpoint == ben.endpoint.id { break }
        try await call.end()
        for await document in other.updates where document.status == .ended { #expect(document.endReason == .hungUp) }
        for client in [ann, ben, tablet] { await client.close() }
    }

    /// Whole calls while the connections of both sides are interrupted repeatedly: nothing is lost or duplicated.
    @Test func survivesInterruptedConnections() async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let (ann, _) = try await server.person("Ann", through: proxy.port)
        let (ben, benMe) = try await server.person("Ben", through: proxy.port)
        var incoming = await ben.incomingCalls.makeAsyncIterator()
        let cutting = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(.random(in: 10...400)))
                proxy.cut()
            }
        }
        for _ in 0..<40 { try await LifeCycle(caller: ann, callee: ben, calleeID: benMe.id).run(&incoming) }
        cutting.cancel()
        let history = try await ann.history(limit: 100)
        #expect(history.calls.count == 40)
        #expect(history.calls.allSatisfy { $0.endReason == .hungUp })
        await ann.close()
        await ben.close()
        try await proxy.close()
    }
}

/// A whole call between two clients, each of which checks what it receives.
private struct LifeCycle {
    let caller: Switchboard
    let callee: Switchboard
    let calleeID: UserID

    func run(_ incoming: inout AsyncStream<LiveCall>.Iterator) async throws {
        let offer = "v=0 offer \(UUID())"
        let call = try await caller.call([calleeID], kind: .audio, offer: offer)
        let ringing = try #require(await incoming.next())
        #expect(ringing.id == call.id)
        try await ringing.ringing()
        try await ringing.accept()
        async let ended = documents(of: call)
        async let calleesEnd = documents(of: ringing)

        let candidates = (1...5).map { ICECandidate(candidate: "candidate:\($0) 1 udp 1 192.0.2.\($0) 9 typ host") }
        let answer = "v=0 answer \(UUID())"
        async let callerSignals = signals(of: call, count: 3)
        async let calleeSignals = signals(of: ringing, count: 3)
        try await ringing.send(.answer(sdp: answer), generation: 1)
        for side in [ringing, call] {
            try await side.send(.candidates(candidates, end: false), generation: 1)
            try await side.send(.candidates(candidates, end: true), generation: 1)
        }
        let batches: [Signal.Content] = [.candidates(candidates, end: false), .candidates(candidates, end: true)]
        #expect(try await callerSignals == [.answer(sdp: answer)] + batches)
        #expect(try await calleeSignals == [.offer(sdp: offer)] + batches)

        #expect(try await !call.iceServers().iceServers.isEmpty)
        try await call.connected()
        try await ringing.connected()
        try await call.setMedia(MediaChange(audio: false))
        #expect(try await call.report(QualityReport(loss: 0, jitter: 3, roundTrip: 20, relayed: false)) > 3)
        try await call.end()
        #expect(await ended.last?.endReason == .hungUp)
        #expect(await calleesEnd.last?.endReason == .hungUp)
    }

    /// Every document until the call's end; the versions only grow.
    private func documents(of call: LiveCall) async -> [Call] {
        var documents: [Call] = []
        for await document in call.updates {
            #expect(document.version >= documents.last?.version ?? 0)
            documents.append(document)
        }
        return documents
    }

    private func signals(of call: LiveCall, count: Int) async throws -> [Signal.Content] {
        var contents: [Signal.Content] = []
        for try await signal in call.signals {
            contents.append(signal.content)
            if contents.count == count { break }
        }
        return contents
    }
}
