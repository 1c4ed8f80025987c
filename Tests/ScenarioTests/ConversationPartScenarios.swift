import Foundation
import SwitchboardClient
import Testing

/// What surrounds messages, through the SDK and the real server: reactions, marks, notes, typing, search, the archive.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ConversationPartScenarios {
    /// Two friends with a conversation.
    private struct Pair {
        /// It runs as long as somebody refers to it.
        let server: RealServer
        let (ann, ben): (Switchboard, Switchboard)
        let (annMe, benMe): (Me, Me)
        let (mine, theirs): (Messages, Messages)

        init(_ server: RealServer) async throws {
            self.server = server
            (ann, annMe) = try await server.person("Ann")
            (ben, benMe) = try await server.person("Ben")
            try await ann.friends.request(benMe.id)
            try await ben.friends.accept(annMe.id)
            let id = try await ann.conversations.direct(with: benMe.id).id
            (mine, theirs) = (ann.messages(in: id), ben.messages(in: id))
        }

        func close() async {
            await ann.close()
            await ben.close()
        }
    }

    /// Waits until nothing waits any more, and the membership is as it should be.
    private func kept(_ messages: Messages, _ condition: @escaping @Sendable (Membership) -> Bool) async -> Bool {
        await state(of: messages) { $0.writes.isEmpty && $0.membership.map(condition) ?? false } != nil
    }

    @Test func reactionsPinsAndThreads() async throws {
        let pair = try await Pair(try await RealServer())
        _ = try await pair.mine.send("Lunch?")
        _ = await state(of: pair.theirs) { $0.messages.count == 1 }
        try await pair.theirs.react("👍", to: 1)
        let seen = await state(of: pair.mine) { $0.messages.first?.message?.reactions?["👍"] != nil }
        #expect(seen?.messages.first?.message?.reactions?["👍"]?.users == [pair.benMe.id])
        let page = try await pair.mine.reactions(to: 1)
        #expect(page.reactions.map(\.user) == [pair.benMe.id] && page.people.first?.displayName == "Ben")
        #expect(await state(of: pair.theirs) { $0.marks.own[1]?.reacted == ["👍"] } != nil)
        try await pair.theirs.removeReaction("👍", from: 1)
        #expect(await state(of: pair.mine) { $0.messages.first?.message?.reactions?.isEmpty ?? true } != nil)

        try await pair.mine.pin(1)
        #expect(await state(of: pair.theirs) { $0.conversation?.pins == [1] } != nil)
        try await pair.theirs.unpin(1)
        #expect(await state(of: pair.mine) { $0.conversation?.pins == [] } != nil)

        let reply = try await pair.theirs.send("At one?", inThreadOf: 1)
        let replied = await state(of: pair.theirs) { state in
            state.messages.contains { $0.id == reply && $0.delivery == .sent }
        }
        #expect(replied?.messages.first { $0.id == reply }?.thread == 1)
        #expect(await state(of: pair.mine) { $0.messages.first?.message?.replies == 1 } != nil)
        let thread = try await pair.mine.thread(of: 1)
        #expect(thread.messages.map(\.text).contains("At one?") && !thread.hasEarlier)

        let notes = pair.ann.messages(in: try await pair.ann.conversations.create(.notes))
        let copy = try await pair.mine.forward(1, to: notes.conversation)
        let forwarded = await state(of: notes) { $0.messages.first?.delivery == .sent }
        #expect(forwarded?.messages.map(\.id) == [copy] && forwarded?.messages.first?.text == "Lunch?")
        #expect(forwarded?.messages.first?.message?.forwardedFrom == pair.annMe.id)
        await pair.close()
    }

    @Test func marksAndTyping() async throws {
        let pair = try await Pair(try await RealServer())
        _ = try await pair.mine.send("Are you there?")
        _ = await state(of: pair.theirs) { $0.messages.count == 1 }
        try await pair.theirs.markRead(upTo: 1)
        let read = try #require(await state(of: pair.mine) { $0.marks.readers(of: 1) == [pair.benMe.id] })
        #expect(read.marks.receivers(of: 1) == [pair.benMe.id])
        #expect(await state(of: pair.theirs) { $0.marks.read == 1 } != nil)
        let receipt = try #require(try await pair.mine.receipts(of: 1).receipts.first)
        #expect(receipt.user == pair.benMe.id && receipt.read && receipt.readAt != nil)

        var typing = await pair.mine.typing.makeAsyncIterator()
        #expect(await typing.next() == [:])
        let writer = Task {
            while !Task.isCancelled {
                try await pair.theirs.noteActivity(.recording)
                try await Task.sleep(for: .milliseconds(500))
            }
        }
        #expect(await typing.next() == [pair.benMe.id: .recording])
        writer.cancel()
        _ = await writer.result
        // Who does not say so again has stopped.
        #expect(await typing.next() == [:])
        await pair.close()
    }

    @Test func whatOneNotesIsOnesOwn() async throws {
        let server = try await RealServer()
        let pair = try await Pair(server)
        for text in ["a tree", "a house", "another tree"] { try await pair.mine.send(text) }
        _ = await state(of: pair.theirs) { $0.messages.last?.number == 3 }
        try await pair.theirs.star(3)
        #expect(await state(of: pair.theirs) { $0.marks.own[3]?.starred == true && $0.writes.isEmpty } != nil)
        var search = MessageSearch("tree")
        #expect(try await pair.ben.conversations.search(search).results.map(\.message.number) == [3, 1])
        search.isStarred = true
        let found = try await pair.ben.conversations.search(search)
        #expect(found.results.map(\.message.number) == [3] && found.results.first?.matches.first?.start == 8)
        search.to = Date(timeIntervalSinceNow: -3_600)
        #expect(try await pair.ben.conversations.search(search).results.isEmpty)
        try await pair.theirs.unstar(3)
        #expect(await state(of: pair.theirs) { $0.marks.own[3]?.starred == false && $0.writes.isEmpty } != nil)

        try await pair.theirs.hide(2)
        #expect(await state(of: pair.theirs) { $0.messages.map(\.number) == [1, 3] } != nil)
        #expect(await state(of: pair.mine) { $0.messages.map(\.number) == [1, 2, 3] } != nil)

        let until = Date(timeIntervalSince1970: 4_000_000_000)
        let theirs = pair.theirs
        try await theirs.mute(Mute(until: until, mentions: true))
        #expect(await kept(theirs) { $0.muted?.until == until && $0.muted?.mentions == true })
        try await theirs.mute(nil)
        #expect(await kept(theirs) { $0.muted == nil })
        try await theirs.setPinned(true)
        #expect(await kept(theirs) { $0.pinned == true })
        try await theirs.setPinned(false)
        try await theirs.markUnread()
        try await theirs.setReceipts(false)
        #expect(await kept(theirs) { $0.pinned != true && $0.markedUnread == true && $0.receipts == false })
        let draft = try await theirs.saveDraft("half a", replyTo: 1)
        #expect(await kept(theirs) { $0.draft?.text == "half a" && $0.draft?.replyTo == 1 })
        // One that did not know it does not win.
        #expect(try await theirs.saveDraft("older").text == "half a")
        #expect(try await theirs.saveDraft("half a word", basedOn: draft).text == "half a word")
        #expect(await kept(theirs) { $0.draft?.text == "half a word" })

        try await theirs.setArchived(true)
        #expect(await kept(theirs) { $0.archived == true })
        #expect(try await pair.ben.conversations.archive().rows.map(\.id) == [theirs.conversation])
        try await theirs.setArchived(false)
        #expect(await kept(theirs) { $0.archived != true })
        #expect(try await pair.ben.conversations.archive().rows.isEmpty)
        await pair.close()
    }

    @Test func whatIsClearedLeavesTheDevice() async throws {
        let server = try await RealServer()
        let pair = try await Pair(server)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cleared-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let phone = try server.client { $0.store = .directory(folder) }
        let me = try await phone.signUp(
            email: "cleo-\(UUID().uuidString)@example.org", password: "correct horse", displayName: "Cleo")
        let tablet = try server.client()
        await tablet.use(try #require(await phone.tokens))
        try await phone.friends.request(pair.annMe.id)
        try await pair.ann.friends.accept(me.id)
        let id = try await phone.conversations.direct(with: pair.annMe.id).id
        for text in ["one", "two"] { try await phone.messages(in: id).send(text) }
        _ = await state(of: phone.messages(in: id)) { $0.messages.map(\.number) == [1, 2] }
        _ = await state(of: phone.messages(in: id)) { $0.messages.allSatisfy { $0.delivery == .sent } }
        async let rows = list(of: phone) { state in
            state.rows.first(where: { $0.id == id })?.membership?.spans.first?.from == 2
        }
        try await tablet.messages(in: id).clear()
        #expect(await rows != nil)
        try await pair.ann.messages(in: id).send("three")
        let left = await state(of: phone.messages(in: id)) { $0.messages.last?.text == "three" }
        #expect(left?.messages.map(\.number) == [3])
        await phone.close()
        let bytes = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: folder).compactMap {
                FileManager.default.contents(atPath: folder + "/" + $0)
            }.first { $0.range(of: Data("three".utf8)) != nil })
        #expect(bytes.range(of: Data("\"two\"".utf8)) == nil)
        for client in [tablet, pair.ann, pair.ben] { await client.close() }
    }
}
