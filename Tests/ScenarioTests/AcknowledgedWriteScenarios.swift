import Foundation
import Testing

@testable import SwitchboardClient

/// Responses acknowledge writes, and the connection breaks before any stream tells them: another run without a connection
/// shows what was acknowledged, not what was there before.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AcknowledgedWriteScenarios {
    /// When the app reads the chats and the list.
    enum Reading: String, CaseIterable, Sendable { case never, before, whileWriting }

    /// Ann, whose frames can be held back, and the conversations in which she writes.
    private struct Ann {
        let proxy: CuttingProxy
        let folder: String
        let client: Switchboard
        let me: Me
        /// With Ben, whose four messages it has: the last has a sound.
        let chat: Messages
        let notes: Messages
        let group: Messages

        /// Waits until everything is acknowledged.
        func untilAcknowledged() async throws {
            let realtime = client.realtime
            try await eventually {
                await realtime.queued.isEmpty
            } seen: {
                await realtime.queued
            }
        }
    }

    private static let sound = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "ContainersTests/Fixtures/tone.webm")

    private func setUp(_ server: RealServer, _ ben: Switchboard, _ benMe: Me) async throws -> Ann {
        let proxy = try await CuttingProxy(to: server.port)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("acked-\(UUID().uuidString)").path
        let client = try server.client(through: proxy.port) { $0.store = .directory(folder) }
        let me = try await client.signUp(
            email: "ann-\(UUID().uuidString)@example.org", password: "correct horse", displayName: "Ann")
        try await client.friends.request(benMe.id)
        try await ben.friends.accept(me.id)
        let id = try await client.conversations.direct(with: benMe.id).id
        let theirs = ben.messages(in: id)
        for text in ["b1", "b2", "b3"] { try await theirs.send(text) }
        try await theirs.sendVoice(try Data(contentsOf: Self.sound))
        _ = await state(of: theirs) { $0.messages.count == 4 && $0.messages.allSatisfy { $0.delivery == .sent } }
        // Another device has written, so that nothing of it is stored here.
        let tablet = try server.client()
        await tablet.use(try #require(await client.tokens))
        let notes = tablet.messages(in: try await tablet.conversations.notes().id)
        let group = tablet.messages(in: try await tablet.conversations.group(named: "Old", members: []).id)
        for messages in [notes, group] {
            try await messages.send("old")
            _ = await state(of: messages) { $0.messages.last?.text == "old" && $0.messages.last?.delivery == .sent }
        }
        await tablet.close()
        return Ann(
            proxy: proxy, folder: folder, client: client, me: me, chat: client.messages(in: id),
            notes: client.messages(in: notes.conversation), group: client.messages(in: group.conversation))
    }

    @Test(arguments: Reading.allCases)
    func areShownByTheNextRun(reading: Reading) async throws {
        let server = try await RealServer()
        let (ben, benMe) = try await server.person("Ben")
        let ann = try await setUp(server, ben, benMe)
        defer { try? FileManager.default.removeItem(atPath: ann.folder) }
        let chats = [ann.chat, ann.notes, ann.group]
        await connection(of: ann.client, is: true)
        var readers: [Messages.Iterator] = []
        var list: Conversations.Iterator?
        if reading != .never {
            readers = chats.map { $0.makeAsyncIterator() }
            list = ann.client.conversations.makeAsyncIterator()
            for index in readers.indices { _ = await readers[index].next() }
            _ = await list?.next()
            for chat in chats { _ = await state(of: chat) { $0.isCurrent && $0.messages.last?.message != nil } }
            _ = await ScenarioTests.list(of: ann.client) { $0.isCurrent && $0.rows.count == 3 }
        }
        if reading == .before {
            (readers, list) = ([], nil)
            try await eventually { await ann.client.realtime.chatsThatAreRead.isEmpty }
        }
        ann.proxy.holdStreams()
        let tea = try await write(ann, benMe)
        let tokens = try #require(await ann.client.tokens)
        try await ann.proxy.close()
        await connection(of: ann.client, is: false)
        withExtendedLifetime((readers, list)) {}
        await ann.client.close()

        var options = SwitchboardOptions()
        options.store = .directory(ann.folder)
        let offline = try Switchboard("http://127.0.0.1:9", options: options)
        await offline.use(tokens)
        try await expectAcknowledged(by: offline, ann, reading)
        try await expectGroup(tea, on: offline)
        if reading != .never { try await expectOthers(by: offline, ann) }
        await offline.close()
        try expectRange(ann, reading)

        // The stream brings what is between: the notice of the pin.
        let online = try Switchboard(server.address, options: options)
        await online.use(tokens)
        let all = await state(of: online.messages(in: ann.chat.conversation)) { state in
            state.isCurrent && state.messages.compactMap(\.number) == [1, 2] + Array(4...12)
        }
        #expect(all?.messages.first { $0.number == 10 }?.notice?.kind == .pinned)
        for client in [online, ben] { await client.close() }
        withExtendedLifetime(server) {}
    }

    /// Writes everything that there is. Returns the new group.
    private func write(_ ann: Ann, _ benMe: Me) async throws -> ConversationID {
        let chat = ann.chat
        let one = try await chat.send("one")
        try await ann.untilAcknowledged()
        try await chat.send("two", replyTo: one)
        try await ann.untilAcknowledged()
        let three = try await chat.send("three")
        try await ann.untilAcknowledged()
        try await chat.forward(2, to: chat.conversation)
        try await ann.untilAcknowledged()
        try await chat.sendVoice(try Data(contentsOf: Self.sound))
        try await ann.untilAcknowledged()
        try await chat.edit(one, to: "one, edited")
        try await chat.delete(three)
        try await chat.react("👍", to: 1)
        try await chat.react("🎉", to: 2)
        try await chat.star(2)
        try await chat.star(1)
        try await chat.pin(1)
        try await ann.untilAcknowledged()
        try await chat.removeReaction("🎉", from: 2)
        try await chat.unstar(1)
        try await chat.markListened(4)
        try await chat.hide(3)
        try await chat.markRead(upTo: 4)
        try await chat.mute(Mute(mentions: true))
        try await chat.setPinned(true)
        try await chat.setReceipts(false)
        try await chat.markUnread()
        try await chat.saveDraft("half a")
        try await chat.send("four")
        try await ann.untilAcknowledged()
        let later = try await chat.schedule("later", at: Date(timeIntervalSinceNow: 3_600))
        try await ann.untilAcknowledged()
        _ = try await chat.sendNow(later)
        let tea = try await ann.client.conversations.create(.group(name: "Tea", members: [benMe.id]))
        try await ann.client.messages(in: tea).send("welcome")
        try await ann.notes.clear()
        try await ann.group.deleteForMe()
        try await ann.untilAcknowledged()
        return await ann.client.realtime.resolve(tea)
    }

    private func expectAcknowledged(by offline: Switchboard, _ ann: Ann, _ reading: Reading) async throws {
        let shown = try #require(await state(of: offline.messages(in: ann.chat.conversation)) { _ in true })
        // Of what was never read, there is what was written, and what it is about.
        let others = reading == .never ? [1, 2] : [1, 2, 4]
        #expect(shown.messages.map(\.number) == others + [5, 6, 7, 8, 9, 11, 12] && shown.writes.isEmpty)
        #expect(shown.messages.allSatisfy { $0.delivery == .sent })
        let byNumber = Dictionary(grouping: shown.messages) { $0.number ?? 0 }.compactMapValues(\.first)
        #expect(byNumber[5]?.text == "one, edited" && byNumber[5]?.isEdited == true)
        #expect(byNumber[6]?.text == "two" && byNumber[6]?.replyTo == 5)
        #expect(byNumber[7]?.isDeleted == true && byNumber[7]?.text == nil)
        #expect(byNumber[8]?.text == "b2" && byNumber[9]?.voice != nil)
        #expect(byNumber[11]?.text == "four" && byNumber[12]?.text == "later")
        #expect(byNumber[1]?.message?.reactions?["👍"]?.users == [ann.me.id])
        #expect(byNumber[2]?.message?.reactions?["🎉"] == nil)
        let own = shown.marks.own
        #expect(own[1]?.reacted == ["👍"] && own[1]?.starred == false && own[4]?.listened == true)
        #expect(own[2]?.reacted == [] && own[2]?.starred == true && shown.marks.read == 4)
        #expect(shown.conversation?.pins == [1])
        let membership = try #require(shown.membership)
        #expect(membership.muted?.mentions == true && membership.pinned == true && membership.receipts == false)
        #expect(membership.markedUnread == true && membership.draft?.text == "half a")
    }

    private func expectGroup(_ id: ConversationID, on offline: Switchboard) async throws {
        let shown = try #require(await state(of: offline.messages(in: id)) { _ in true })
        #expect(shown.messages.map(\.text) == ["welcome"] && shown.conversation?.name == "Tea")
        let rows = try #require(await list(of: offline) { _ in true }).rows
        #expect(rows.first { $0.id == id }?.lastMessage?.text == "welcome")
    }

    /// What other conversations and the list show.
    private func expectOthers(by offline: Switchboard, _ ann: Ann) async throws {
        let notes = await state(of: offline.messages(in: ann.notes.conversation)) { _ in true }
        #expect(notes?.messages.isEmpty == true)
        let shown = try #require(await list(of: offline) { _ in true })
        #expect(shown.rows.count == 3 && !shown.rows.contains { $0.id == ann.group.conversation })
        let row = try #require(shown.rows.first)
        #expect(row.id == ann.chat.conversation && row.lastMessage?.text == "later")
        #expect(row.membership?.pinned == true && row.membership?.muted?.mentions == true)
        let cleared = try #require(shown.rows.first { $0.id == ann.notes.conversation })
        #expect(cleared.lastMessage == nil && cleared.unread == 0)
    }

    /// The newest range ends before the notice, which nobody has told: the stream is resumed from there.
    private func expectRange(_ ann: Ann, _ reading: Reading) throws {
        let store = try ConversationStore(path: StoreDirectory(ann.folder).path(of: ann.me.id))
        defer { store.close() }
        let state = try #require(try store.conversation(ann.chat.conversation, limit: 100))
        #expect(state.ranges.last?.last == (reading == .never ? nil : 9))
    }
}
