import Foundation
import NIOCore
import Testing

@testable import SwitchboardClient

/// Conversations of the SDK with the real server: offline, killed, cut off and restarted.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ConversationScenarios {
    private func directory() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("conversations-\(UUID().uuidString)").path
    }

    private func befriend(_ one: Switchboard, _ other: Switchboard) async throws {
        let (first, second) = (try await one.me(), try await other.me())
        try await one.friends.request(second.id)
        try await other.friends.accept(first.id)
    }

    @Test func twoPeopleChat() async throws {
        let server = try await RealServer()
        let (ann, annMe) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await befriend(ann, ben)
        let conversation = try await ann.conversations.direct(with: benMe.id)
        let (mine, theirs) = (ann.messages(in: conversation.id), ben.messages(in: conversation.id))

        let hello = try await mine.send("Hello")
        var received = try #require(await state(of: theirs) { $0.messages.last?.text == "Hello" })
        #expect(received.messages.map(\.id) == [hello] && received.people[annMe.id]?.displayName == "Ann")
        #expect(received.messages.map(\.delivery) == [.sent] && received.conversation?.kind == .direct)
        let answer = try await theirs.send("Hi", replyTo: hello)
        let seen = try #require(await state(of: mine) { $0.messages.count == 2 && $0.isCurrent })
        #expect(seen.messages.last?.replyTo == 1 && seen.messages.last?.id == answer)
        try await mine.edit(hello, to: "Hello!")
        received = try #require(await state(of: theirs) { $0.messages.first?.text == "Hello!" })
        #expect(received.messages.first?.isEdited == true)
        #expect(try await mine.edits(of: 1).map(\.text) == ["Hello"])
        try await theirs.delete(answer)
        #expect(
            await state(of: mine) { $0.messages.last?.isDeleted == true && $0.messages.last?.delivery == .sent } != nil)

        let rows = await list(of: ben) { $0.isCurrent && $0.rows.first?.lastMessage?.number == 2 }
        #expect(rows?.rows.map(\.id) == [conversation.id] && rows?.unread == 1 && rows?.hasMore == false)
        #expect(rows?.rows.first?.person?.id == annMe.id && rows?.rows.first?.lastMessage?.number == 2)
        for client in [ann, ben] { await client.close() }
    }

    @Test func messagesAreSentLaterAndDisappear() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        try await befriend(ann, ben)
        let conversation = try await ann.conversations.direct(with: benMe.id)
        let (mine, theirs) = (ann.messages(in: conversation.id), ben.messages(in: conversation.id))
        #expect(try await theirs.setDisappearing(after: 10).disappearAfter == 10)

        let first = try await mine.schedule("later", at: Date(timeIntervalSinceNow: 3_600))
        try await mine.reschedule(first, to: "sooner", at: Date(timeIntervalSinceNow: 1_800))
        let second = try await mine.schedule("never", at: Date(timeIntervalSinceNow: 60))
        try await mine.unschedule(second)
        #expect(await state(of: mine) { $0.isCurrent && $0.writes.isEmpty } != nil)
        let waiting = try await mine.scheduled()
        #expect(waiting.map(\.text) == ["sooner"] && waiting.first?.id == first && waiting.first?.failure == nil)
        #expect(waiting.first?.sendAt ?? .distantFuture < Date(timeIntervalSinceNow: 1_801))
        #expect(try await theirs.scheduled() == [])
        let id = try await mine.sendNow(first)
        let shown = await state(of: mine) { $0.messages.last?.id == id && $0.messages.last?.delivery == .sent }
        let sent = try #require(shown?.messages.last?.message)
        #expect(sent.number == 2 && sent.text == "sooner" && sent.expiresAt == sent.sentAt.addingTimeInterval(10))
        #expect(await state(of: theirs) { $0.messages.last?.text == "sooner" } != nil)
        #expect(try await mine.setDisappearing(after: nil).disappearAfter == nil)
        #expect(await state(of: theirs) { $0.messages.last?.number == 3 } != nil)
        // Without the server, too.
        server.stop()
        #expect(
            await state(of: theirs) { state in
                !state.isCurrent && state.messages.contains { $0.id == id && $0.isDeleted }
            } != nil)
        for client in [ann, ben] { await client.close() }
    }

    @Test func aGroupHasMembers() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        let (cleo, cleoMe) = try await server.person("Cleo")
        try await befriend(ann, ben)
        let group = ann.messages(in: try await ann.conversations.group(named: "Tea", members: [benMe.id]).id)
        let asBen = ben.messages(in: group.conversation)
        #expect(try await group.rename("Coffee").name == "Coffee")
        #expect(await state(of: asBen) { $0.conversation?.name == "Coffee" } != nil)
        try await group.add([cleoMe.id])
        let asCleo = cleo.messages(in: group.conversation)
        #expect(try await asCleo.accept().members == 3)
        #expect(try await group.setRole(of: benMe.id, to: .admin).role == .admin)
        #expect(
            await state(of: asBen) { state in
                state.membership?.role == .admin || state.members.contains { $0.user == benMe.id && $0.role == .admin }
            } != nil)
        try await asCleo.send("I am here")
        #expect(await state(of: asBen) { $0.messages.last?.text == "I am here" } != nil)
        try await group.remove(cleoMe.id)
        let left = try #require(
            await state(of: asCleo) { !$0.isCurrent && $0.membership?.state == .left && !$0.messages.isEmpty })
        #expect(left.messages.last?.text == "I am here")
        #expect(try await group.members().members.count == 3)
        try await asBen.leave()
        // Nobody else may be seen by who was never in it.
        let (dan, _) = try await server.person("Dan")
        #expect(await state(of: dan.messages(in: group.conversation)) { $0.problem != nil }?.problem?.kind == .notFound)
        #expect(try await ann.conversations.notes().kind == .notes)
        for client in [ann, ben, cleo, dan] { await client.close() }
    }

    @Test func whatIsWrittenOfflineIsSentByTheNextRun() async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let folder = directory()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (ben, benMe) = try await server.person("Ben")
        let first = try server.client(through: proxy.port) { $0.store = .directory(folder) }
        let annMe = try await first.signUp(
            email: "ann-\(UUID().uuidString)@example.org", password: "correct horse", displayName: "Ann")
        try await befriend(first, ben)
        let here = try await first.conversations.direct(with: benMe.id).id
        let mine = first.messages(in: here)
        try await mine.send("online")
        _ = await state(of: mine) { $0.messages.map(\.delivery) == [.sent] && $0.isCurrent }
        let tokens = try #require(await first.tokens)

        try await proxy.close()
        await connection(of: first, is: false)
        let one = try await mine.send("one")
        let two = try await mine.send("two", replyTo: one)
        let three = try await mine.send("three")
        try await mine.edit(two, to: "two, edited")
        try await mine.delete(three)
        try await mine.keepDraft("a half")
        let offline = try #require(await state(of: mine) { $0.messages.count == 3 })
        #expect(offline.messages.map(\.text) == ["online", "one", "two, edited"])
        #expect(offline.messages.map(\.delivery) == [.sent, .sending, .sending])

        // What a process leaves that is killed now.
        let killed = folder + "-killed"
        defer { try? FileManager.default.removeItem(atPath: killed) }
        try await first.realtime.withoutWrites { try FileManager.default.copyItem(atPath: folder, toPath: killed) }
        await first.close()

        // Another run without a connection shows it all, and queues more.
        let unconnected = try Switchboard("http://127.0.0.1:9", options: options(killed))
        await unconnected.use(tokens)
        let shown = try #require(await state(of: unconnected.messages(in: here)) { $0.messages.count == 3 })
        #expect(shown.messages.map(\.text) == offline.messages.map(\.text) && shown.draft == "a half")
        #expect(shown.people[benMe.id]?.displayName == "Ben" && !shown.isCurrent)
        try await unconnected.messages(in: here).send("four")
        await unconnected.close()

        // And another one, with a connection, sends it all, once and in order.
        let again = try Switchboard(server.address, options: options(killed))
        await again.use(tokens)
        let sent = try #require(
            await state(of: again.messages(in: here)) {
                $0.messages.count == 4 && $0.messages.allSatisfy { $0.delivery == .sent }
            })
        #expect(sent.messages.map(\.text) == ["online", "one", "two, edited", "four"])
        #expect(sent.messages.map(\.replyTo) == [nil, nil, 2, nil] && sent.messages.map(\.number) == [1, 2, 3, 4])
        let received = await state(of: ben.messages(in: here)) { $0.messages.count == 4 }
        #expect(received?.messages.map(\.id) == sent.messages.map(\.id))
        #expect(received?.messages.allSatisfy { !$0.isEdited && $0.author == annMe.id } == true)

        try await again.signOut()
        let left = try FileManager.default.contentsOfDirectory(atPath: killed)
        #expect(!left.contains { $0.hasSuffix(".sqlite") || $0.hasSuffix("-wal") }, "\(left)")
        for client in [again, ben] { await client.close() }
    }

    private func options(_ folder: String) -> SwitchboardOptions {
        var options = SwitchboardOptions()
        options.store = .directory(folder)
        return options
    }

    /// Follows a chat until nothing waits and the last message is there with all edits, and then loads what is earlier.
    private func everything(of messages: Messages, upTo last: Int) async throws -> Messages.State? {
        for await state in messages where state.isCurrent && state.messages.last?.number == last {
            guard state.messages.allSatisfy({ $0.delivery == .sent }) else { continue }
            guard state.hasEarlier else {
                // An edit of the other's may be on its way.
                let isEdited = state.messages.allSatisfy { message in
                    guard let text = message.text, let index = Int(text.dropFirst()) else { return true }
                    return text.hasPrefix("a") || index % 7 != 0
                }
                if isEdited { return state }
                continue
            }
            try await messages.loadEarlier()
        }
        return nil
    }

    /// Much is sent over a slow path, without waiting for each response; one of it is refused, and replies, edits and
    /// deletions name what is on its way.
    @Test func muchIsSentWithoutWaiting() async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port, roundTrip: .milliseconds(200))
        let (ann, _) = try await server.person("Ann", through: proxy.port)
        let (ben, benMe) = try await server.person("Ben")
        try await befriend(ann, ben)
        let here = try await ann.conversations.direct(with: benMe.id).id
        let mine = ann.messages(in: here)
        _ = await state(of: mine) { $0.isCurrent }
        let count = 500
        let refused = Int.random(in: 1..<count - 1)
        print("refused", refused)
        let start = ContinuousClock.now
        var ids: [Message.ID] = []
        for index in 0..<count {
            // A character that no text may have.
            let text = index == refused ? "\u{1}" : "\(index)"
            let isReply = index % 10 == 9 && index - 1 != refused
            ids.append(try await mine.send(text, replyTo: isReply ? ids[index - 1] : nil))
        }
        let done = await state(of: mine) { state in
            !state.messages.contains { $0.delivery == .sending }
                && state.messages.last { $0.delivery == .sent }?.text == "\(count - 1)"
        }
        print("\(count) messages over 200 ms of round trip took", ContinuousClock.now - start)
        let failed = done?.messages.filter { if case .failed = $0.delivery { true } else { false } }
        #expect(failed?.map(\.id) == [ids[refused]])

        let theirs = ben.messages(in: here)
        var all: Messages.State?
        for await state in theirs where state.isCurrent && state.messages.last?.text == "\(count - 1)" {
            all = state
            if !state.hasEarlier { break }
            try await theirs.loadEarlier()
        }
        let seen = try #require(all)
        #expect(seen.messages.map(\.id) == ids.filter { $0 != ids[refused] })
        #expect(seen.messages.map(\.number) == (1..<count).map { $0 })
        for message in seen.messages where Int(message.text ?? "").map({ $0 % 10 == 9 && $0 - 1 != refused }) == true {
            #expect(message.replyTo == message.number.map { $0 - 1 })
        }
        for client in [ann, ben] { await client.close() }
        try await proxy.close()
    }

    /// The connection is cut and the server killed again and again, while two people write.
    @Test func nothingIsLostOrComesTwice() async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let (ann, _) = try await server.person("Ann", through: proxy.port)
        let (ben, benMe) = try await server.person("Ben", through: proxy.port)
        try await befriend(ann, ben)
        let here = try await ann.conversations.direct(with: benMe.id).id
        let (asAnn, asBen) = (ann.messages(in: here), ben.messages(in: here))
        let count = 60
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed", seed)

        async let annSees = everything(of: asAnn, upTo: 2 * count)
        async let benSees = everything(of: asBen, upTo: 2 * count)
        for index in 0..<count {
            try await asAnn.send("a\(index)")
            let edited = try await asBen.send("b\(index)")
            if index % 7 == 0 { try await asBen.edit(edited, to: "b\(index), edited") }
            if (seed &+ UInt64(index)) % 5 == 0 { proxy.cut() }
            if index == count / 2 { try await server.crashAndRestart() }
        }
        let (seen, other) = (try #require(try await annSees), try #require(try await benSees))
        #expect(seen.messages.map(\.number) == (1...2 * count).map { $0 })
        #expect(seen.messages.map(\.id) == other.messages.map(\.id))
        let texts = seen.messages.compactMap(\.text)
        #expect(texts.filter { $0.hasPrefix("a") } == (0..<count).map { "a\($0)" })
        #expect(
            texts.filter { $0.hasPrefix("b") } == (0..<count).map { $0 % 7 == 0 ? "b\($0), edited" : "b\($0)" })
        for client in [ann, ben] { await client.close() }
        try await proxy.close()
    }

    @Test func aRefusedMessageFailsAlone() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        // A stranger may write three messages until they are answered.
        let mine = ann.messages(in: try await ann.conversations.direct(with: benMe.id).id)
        for index in 0..<5 { try await mine.send("m\(index)") }
        let answered = try #require(
            await state(of: mine) { state in
                state.messages.count == 5 && !state.messages.contains { $0.delivery == .sending }
            })
        #expect(answered.messages.prefix(3).allSatisfy { $0.delivery == .sent })
        for message in answered.messages.suffix(2) {
            guard case .failed(let problem) = message.delivery else {
                Issue.record("\(message) was not refused")
                continue
            }
            #expect(problem.status == 403)
        }
        try await mine.discard(try #require(answered.messages.last).id)
        try await ben.messages(in: mine.conversation).accept()
        try await mine.retry(answered.messages[3].id)
        let after = try #require(
            await state(of: mine) { $0.messages.count == 4 && $0.messages.allSatisfy { $0.delivery == .sent } })
        #expect(after.messages.map(\.text) == ["m0", "m1", "m2", "m3"])
        for client in [ann, ben] { await client.close() }
    }

    @Test func earlierMessagesAreLoadedPageByPage() async throws {
        let server = try await RealServer()
        let folder = directory()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ann = try server.client { $0.store = .directory(folder) }
        try await ann.signUp(
            email: "ann-\(UUID().uuidString)@example.org", password: "correct horse", displayName: "Ann")
        let notes = ann.messages(in: try await ann.conversations.notes().id)
        // It is read while they are sent: later, it would have the newest alone.
        async let all = state(of: notes) { $0.messages.count == 130 && $0.messages.allSatisfy { $0.delivery == .sent } }
        _ = await state(of: notes) { $0.isCurrent }
        for index in 1...130 { try await notes.send("n\(index)") }
        _ = await all
        // Somebody without a store has the newest alone.
        let other = try server.client()
        await other.use(try #require(await ann.tokens))
        let fresh = other.messages(in: notes.conversation)
        await #expect(throws: SwitchboardError.self) { try await fresh.loadEarlier() }
        // Somebody reads it as long as pages are loaded; what else changes, such as marks, has states of its own.
        var reading = fresh.makeAsyncIterator()
        _ = await reading.next()
        var held = await state(of: fresh) { $0.isCurrent }
        #expect(held?.messages.map(\.number) == (81...130).map { $0 } && held?.hasEarlier == true)
        try await fresh.loadEarlier(limit: 30)
        #expect(await state(of: fresh) { $0.messages.count == 80 } != nil)
        try await fresh.load(around: 10, limit: 10)
        held = await state(of: fresh) { $0.hasLater }
        #expect(held?.messages.contains { $0.number == 10 } == true && held?.messages.count ?? 99 <= 11)
        try await fresh.loadLater(limit: 100)
        held = await state(of: fresh) { !$0.hasLater }
        #expect(held?.messages.last?.number == 130)
        try await fresh.showNewest()
        withExtendedLifetime(reading) {}
        for client in [ann, other] { await client.close() }
    }
}
