import Foundation
import SwitchboardClient
import Testing

/// What the product documents want an app to do, with clients of the SDK and the real server.
@Suite("Flows of the product", .serialized, .timeLimit(.minutes(10)))
struct ProductFlowScenarios {
    private func befriend(_ one: Switchboard, _ other: Switchboard) async throws {
        let (first, second) = (try await one.me(), try await other.me())
        try await one.friends.request(second.id)
        try await other.friends.accept(first.id)
    }

    private func directory() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("flow-\(UUID().uuidString)").path
    }

    private func refusal(_ work: () async throws -> Void) async -> Problem? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? SwitchboardError)?.problem
        }
    }

    @Test(
        "S0 flow 1, S1 flow 1: sign up, choose languages, sign in again; wrong passwords are told apart from no network"
    )
    func onboarding() async throws {
        let server = try await RealServer()
        let email = "ann-\(UUID().uuidString)@example.org"
        let first = try server.client()
        #expect(await first.tokens == nil)
        let me = try await first.signUp(email: email, password: "correct horse", displayName: "Ann")
        #expect(try await first.changeProfile(ProfileChange(languages: ["de", "en"])).languages == ["de", "en"])
        // The first list is empty, and known to be.
        let empty = try #require(await list(of: first) { $0.isCurrent })
        #expect(empty.rows.isEmpty && empty.unread == 0 && !empty.hasMore)
        let tokens = try #require(await first.tokens)
        await first.close()

        // The app starts again with what it kept.
        let second = try server.client()
        await second.use(tokens)
        #expect(try await second.me().id == me.id)
        try await second.signOut()
        #expect(await second.tokens == nil)
        await #expect(throws: SwitchboardError.self) { _ = try await second.me() }
        let third = try server.client()
        let wrong = await refusal { _ = try await third.signIn(email: email, password: "wrong horse") }
        #expect(wrong?.kind == .unauthenticated)
        #expect(try await third.signIn(email: email, password: "correct horse").id == me.id)
        server.stop()
        let offline = try server.client()
        await #expect(throws: SwitchboardError.self) {
            _ = try await offline.signIn(email: email, password: "correct horse")
        }
        #expect(await refusal { _ = try await offline.signIn(email: email, password: "correct horse") } == nil)
        for client in [second, third, offline] { await client.close() }
    }

    @Test("S1 flow 2, B.R1: the list shows new conversations, previews, unread counts and the order, as they happen")
    func conversationsList() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann Lee")
        let (ben, benMe) = try await server.person("Ben Fox")
        let (cleo, cleoMe) = try await server.person("Cleo Ray")
        try await befriend(ann, ben)
        try await befriend(ann, cleo)
        // The picker finds users, and the conversation is there at once.
        let found = try await ann.searchUsers("Ben")
        #expect(found.contains { $0.id == benMe.id })
        let withBen = ann.messages(in: try await ann.conversations.create(.direct(benMe.id)))
        let withCleo = ann.messages(in: try await ann.conversations.create(.direct(cleoMe.id)))
        try await withBen.send("to Ben")
        try await withCleo.send("to Cleo")
        let rows = try #require(
            await list(of: ann) { state in
                state.isCurrent && state.rows.count == 2 && state.rows.allSatisfy { $0.lastMessage != nil }
                    && state.unsent.isEmpty
            })
        #expect(Set(rows.rows.compactMap { $0.person?.id }) == [benMe.id, cleoMe.id] && rows.unread == 0)
        #expect(rows.rows.allSatisfy { !$0.id.isProvisional })

        let bens = try #require(await list(of: ben) { $0.unread == 1 })
        let id = try #require(bens.rows.first?.id)
        #expect(bens.rows.first?.unread == 1 && bens.rows.first?.lastMessage?.text == "to Ben")
        try await ben.messages(in: id).send("hello")
        let moved = try #require(await list(of: ann) { $0.rows.first?.lastMessage?.text == "hello" })
        #expect(moved.rows.first?.unread == 1 && moved.unread == 1 && moved.rows.first?.person?.id == benMe.id)
        try await withBen.markRead(upTo: 2)
        #expect(await list(of: ann) { $0.unread == 0 } != nil)
        for client in [ann, ben, cleo] { await client.close() }
    }

    @Test("S0 flows 2 and 3, S1 flow 3, B.R2: a message is shown as sending, sent, delivered and read; typing is shown")
    func deliveryStates() async throws {
        let server = try await RealServer()
        let (ann, annMe) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await befriend(ann, ben)
        let mine = ann.messages(in: try await ann.conversations.direct(with: benMe.id).id)
        let theirs = ben.messages(in: mine.conversation)
        var typing = await theirs.typing.makeAsyncIterator()
        #expect(await typing.next() == [:])
        let writer = Task {
            while !Task.isCancelled {
                try await mine.noteActivity()
                try await Task.sleep(for: .milliseconds(500))
            }
        }
        #expect(await typing.next() == [annMe.id: .typing])
        writer.cancel()

        let seen = Task { () -> [ChatMessage.Delivery] in
            var deliveries: [ChatMessage.Delivery] = []
            for await state in mine {
                guard let delivery = state.messages.last?.delivery else { continue }
                if deliveries.last != delivery { deliveries.append(delivery) }
                if delivery == .sent { return deliveries }
            }
            return deliveries
        }
        // Who watches sees it before the server has it.
        _ = await state(of: mine) { $0.isCurrent }
        let hello = try await mine.send("Hello")
        #expect(await seen.value.last == .sent)
        let received = try #require(await state(of: theirs) { $0.messages.last?.id == hello })
        #expect(received.people[annMe.id]?.displayName == "Ann" && received.messages.last?.text == "Hello")
        try await theirs.markDelivered(upTo: 1)
        #expect(await state(of: mine) { $0.marks.receivers(of: 1) == [benMe.id] } != nil)
        try await theirs.markRead(upTo: 1)
        #expect(await state(of: mine) { $0.marks.readers(of: 1) == [benMe.id] } != nil)
        for client in [ann, ben] { await client.close() }
    }

    @Test("B.R3: presence changes while it is watched, and is never shown to who is blocked")
    func presence() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await befriend(ann, ben)
        // Ben is there.
        var list = ben.conversations.makeAsyncIterator()
        _ = await list.next()
        var presence = await ann.presence(of: benMe.id).makeAsyncIterator()
        var online = await presence.next()
        while online?.online == false { online = await presence.next() }
        #expect(online?.online == true)
        try await ben.block(try await ann.me().id)
        while online?.online == true { online = await presence.next() }
        #expect(online?.online == false)
        var anew = await ann.presence(of: benMe.id).makeAsyncIterator()
        #expect(await anew.next()?.online == false)
        for client in [ann, ben] { await client.close() }
    }

    @Test("S1 flow 4: the profile is changed and seen by others, and after signing out nothing is left on the device")
    func settings() async throws {
        let server = try await RealServer()
        let folder = directory()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (ben, benMe) = try await server.person("Ben")
        let ann = try server.client { $0.store = .directory(folder) }
        let email = "ann-\(UUID().uuidString)@example.org"
        let me = try await ann.signUp(email: email, password: "correct horse", displayName: "Ann")
        try await befriend(ann, ben)
        try await ann.changeProfile(ProfileChange(displayName: "Ann Lee", languages: ["fr"]))
        #expect(try await ben.user(me.id).displayName == "Ann Lee")
        let mine = ann.messages(in: try await ann.conversations.direct(with: benMe.id).id)
        try await mine.send("a secret")
        _ = await state(of: mine) { $0.messages.last?.delivery == .sent }
        try await ann.signOut()
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder).compactMap {
            FileManager.default.contents(atPath: folder + "/" + $0)
        }
        #expect(left.allSatisfy { $0.range(of: Data("a secret".utf8)) == nil })
        // The next one who signs in on this device sees their own.
        try await ann.signIn(email: email, password: "correct horse")
        #expect(await state(of: mine) { $0.isCurrent && $0.messages.last?.text == "a secret" } != nil)
        for client in [ann, ben] { await client.close() }
    }

    @Test("S1 edge cases, B.R7: offline, everything is queued and shown, survives the app, and is carried out once")
    func offlineQueue() async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let folder = directory()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (ben, benMe) = try await server.person("Ben")
        let first = try server.client(through: proxy.port) { $0.store = .directory(folder) }
        try await first.signUp(
            email: "ann-\(UUID().uuidString)@example.org", password: "correct horse", displayName: "Ann")
        try await befriend(first, ben)
        let here = try await first.conversations.direct(with: benMe.id).id
        let mine = first.messages(in: here)
        for text in ["one", "two", "three"] { try await mine.send(text) }
        _ = await state(of: mine) { state in
            state.messages.count == 3 && state.messages.allSatisfy { $0.delivery == .sent } && state.isCurrent
        }
        _ = await list(of: first) { $0.rows.first?.lastMessage?.text == "three" }
        let tokens = try #require(await first.tokens)

        try await proxy.close()
        // A chat that is opened is not current at first, whether there is a connection or not.
        await connection(of: first, is: false)
        try await mine.react("👍", to: 1)
        try await mine.star(2)
        try await mine.pin(1)
        try await mine.hide(3)
        let group = try await first.conversations.create(.group(name: "Tea", members: [benMe.id]))
        #expect(group.isProvisional)
        let tea = first.messages(in: group)
        let copy = try await mine.forward(2, to: group)
        let welcome = try await tea.send("Welcome")
        let shown = try #require(await state(of: mine) { $0.writes.count == 4 })
        #expect(shown.messages.compactMap(\.number) == [1, 2] && shown.conversation?.pins == [1])
        #expect(shown.messages.first?.message?.reactions?["👍"]?.count == 1 && shown.marks.own[2]?.starred == true)
        #expect(
            await state(of: tea) { $0.messages.map(\.id) == [copy, welcome] && $0.conversation?.name == "Tea" } != nil)
        #expect(await list(of: first) { $0.rows.contains { $0.id == group } && $0.unsent[group] == 2 } != nil)
        await first.close()

        // The next run of the app shows the same, and sends it.
        let second = try server.client { $0.store = .directory(folder) }
        await second.use(tokens)
        let again = second.messages(in: here)
        #expect(await state(of: again) { $0.writes.isEmpty && $0.isCurrent && $0.conversation?.pins == [1] } != nil)
        let later = second.messages(in: group)
        let sent = try #require(
            await state(of: later) { $0.messages.count == 2 && $0.messages.allSatisfy { $0.delivery == .sent } })
        #expect(sent.messages.map(\.text) == ["two", "Welcome"] && sent.messages.map(\.id) == [copy, welcome])
        let real = try #require(sent.conversation?.id)
        #expect(!real.isProvisional)
        // With one notice of the pin.
        let received = try #require(
            await state(of: ben.messages(in: here)) { state in
                state.messages.first?.message?.reactions?["👍"]?.count == 1
                    && state.messages.contains { $0.notice != nil }
            })
        #expect(received.messages.compactMap(\.number) == [1, 2, 3, 4])
        #expect(received.messages.map(\.notice?.kind) == [nil, nil, nil, .pinned])
        #expect(await state(of: ben.messages(in: real)) { $0.messages.map(\.id) == [copy, welcome] } != nil)
        #expect(await list(of: ben) { $0.isCurrent && $0.rows.count == 2 } != nil)
        for client in [ben, second] { await client.close() }
    }

    @Test("what the server refuses is not shown as done any more, and says why")
    func refusedWrites() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await befriend(ann, ben)
        let group = ann.messages(in: try await ann.conversations.group(named: "Tea", members: [benMe.id]).id)
        try await group.send("one")
        let asBen = ben.messages(in: group.conversation)
        _ = await state(of: asBen) { $0.messages.count == 1 && $0.isCurrent }
        try await group.change(ConversationSettings(write: .admins))
        try await asBen.pin(1)
        let refused = try #require(await state(of: asBen) { $0.writes.first?.problem != nil })
        #expect(refused.writes.map(\.action) == [.pin] && refused.writes.first?.problem?.kind == .forbidden)
        #expect(refused.conversation?.pins == [])
        try await group.change(ConversationSettings(write: .members))
        try await asBen.retry(try #require(refused.writes.first).id)
        #expect(await state(of: group) { $0.conversation?.pins == [1] } != nil)
        // A conversation that cannot be created fails with what was written in it.
        let nobody = try await ann.conversations.create(.direct("01a3185c-5000-7bc4-8776-d3f375f1b64e"))
        let lost = ann.messages(in: nobody)
        try await lost.send("anybody?")
        let failed = try #require(
            await state(of: lost) { state in
                if case .failed = state.messages.last?.delivery { true } else { false }
            })
        #expect(failed.problem?.kind == .notFound && failed.writes.first?.action == .create)
        #expect(await list(of: ann) { $0.failed[nobody] != nil } != nil)
        try await lost.discard(try #require(failed.writes.first).id)
        #expect(await list(of: ann) { $0.failed.isEmpty && $0.unsent.isEmpty } != nil)
        for client in [ann, ben] { await client.close() }
    }

    @Test("B.R8: many messages of two people at once have one order, which everybody sees")
    func rapidFire() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await befriend(ann, ben)
        let mine = ann.messages(in: try await ann.conversations.direct(with: benMe.id).id)
        let theirs = ben.messages(in: mine.conversation)
        let count = 20
        async let sending: Void = {
            for index in 0..<count { try await mine.send("a\(index)") }
        }()
        for index in 0..<count { try await theirs.send("b\(index)") }
        try await sending
        let isComplete: @Sendable (Messages.State) -> Bool = { state in
            state.messages.count == 2 * count && state.messages.allSatisfy { $0.delivery == .sent }
        }
        let one = try #require(await state(of: mine, until: isComplete))
        let other = try #require(await state(of: theirs, until: isComplete))
        #expect(one.messages.map(\.id) == other.messages.map(\.id))
        for name in ["a", "b"] {
            #expect(
                one.messages.compactMap(\.text).filter { $0.hasPrefix(name) } == (0..<count).map { "\(name)\($0)" })
        }
        for client in [ann, ben] { await client.close() }
    }

    @Test("S0 flow 5, B.R5: an app in the foreground learns of a message elsewhere by its list, and opens it there")
    func foregroundNotification() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let (cleo, cleoMe) = try await server.person("Cleo")
        try await befriend(ann, ben)
        try await befriend(ann, cleo)
        let open = ann.messages(in: try await ann.conversations.direct(with: cleoMe.id).id)
        _ = await state(of: open) { $0.isCurrent }
        let other = try await ann.conversations.direct(with: benMe.id).id
        _ = await list(of: ann) { $0.isCurrent && $0.rows.count == 2 }
        try await ben.messages(in: other).send("Look here")
        let row = try #require(
            await list(of: ann) { $0.rows.first?.unread == 1 }?.rows.first)
        #expect(row.id == other && row.lastMessage?.text == "Look here" && row.person?.id == benMe.id)
        // A muted one stays silent for the app: the row says so.
        try await ann.messages(in: other).mute(Mute())
        #expect(await list(of: ann) { $0.rows.first { $0.id == other }?.membership?.muted != nil } != nil)
        let routed = ann.messages(in: row.id)
        let number = try #require(
            await state(of: routed) { $0.messages.last?.text == "Look here" }?.messages.last?.number)
        try await routed.markRead(upTo: number)
        #expect(await list(of: ann) { $0.unread == 0 } != nil)
        for client in [ann, ben, cleo] { await client.close() }
    }

    @Test("links lead into groups")
    func links() async throws {
        let server = try await RealServer()
        let (ann, annMe) = try await server.person("Ann")
        let (ben, _) = try await server.person("Ben")
        let group = ann.messages(in: try await ann.conversations.group(named: "Tea", members: []).id)
        let made = try await group.makeLink(for: 1)
        #expect(made.link.maker == annMe.id && made.link.maxUses == 1)
        #expect(try await group.links().map(\.id) == [made.link.id])
        let link = try await ben.link(made.token)
        #expect(link.kind == .group && link.name == "Tea" && link.members == 1)
        #expect(try await ben.conversations.join(made.token).id == group.conversation)
        #expect(try await ben.conversations.join(made.token).members == 2)
        try await group.removeLink(made.link.id)
        #expect(await refusal { _ = try await ben.link(made.token) }?.kind == .notFound)
        for client in [ann, ben] { await client.close() }
        withExtendedLifetime(server) {}
    }

    @Test("the messages that wait to be sent are a sequence")
    func scheduledMessages() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let group = ann.messages(in: try await ann.conversations.group(named: "Tea", members: []).id)
        var waiting = group.scheduledMessages.makeAsyncIterator()
        #expect(await waiting.next() == [])
        let first = try await group.schedule("later", at: Date(timeIntervalSinceNow: 3_600))
        #expect(await waiting.next()?.map(\.id) == [first])
        try await group.unschedule(first)
        // It is not shown any more at once, and the server learns of it then.
        while let list = await waiting.next(), !list.isEmpty {}
        while try await !group.scheduled().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        await ann.close()
        withExtendedLifetime(server) {}
    }
}
