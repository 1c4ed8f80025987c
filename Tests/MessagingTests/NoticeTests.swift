import Model
import Testing

@testable import Messaging

@Suite("Notices")
struct NoticeTests {
    private func notices(_ chat: Chat, _ id: ConversationID, by person: Int) throws -> [Notice] {
        try chat.page(of: id, by: person).messages.compactMap(\.notice)
    }

    @Test("each change of a group is told, by who made it, to those who are in it then")
    func group() throws {
        let chat = Chat(people: 4, notices: true)
        let (ann, ben, cleo, dan) = (chat.people[0], chat.people[1], chat.people[2], chat.people[3])
        let id = try chat.group([1])
        #expect(try notices(chat, id, by: 0) == [], "its making is no change")
        try chat.send("hello", to: id, by: 0)
        _ = try chat.commands.add([cleo, dan], to: id, by: ann, in: chat.store)
        _ = try chat.commands.rename(id, to: "Trip", by: ben, in: chat.store)
        _ = try chat.commands.rename(id, to: nil, by: ben, in: chat.store)
        let settings = ConversationSettings(write: .members, keepDays: 7)
        _ = try chat.commands.change(id, settings: settings, by: ann, in: chat.store)
        _ = try chat.commands.change(role: .admin, of: ben, in: id, by: ann, store: chat.store)
        _ = try chat.commands.change(id, disappearAfter: 3600, by: ben, in: chat.store)
        _ = try chat.commands.pin(1, in: id, by: ann, store: chat.store)
        try chat.commands.remove(dan, from: id, by: ben, in: chat.store)
        _ = try chat.commands.handOver(id, to: ben, by: ann, in: chat.store)
        try chat.commands.leave(id, by: ben, in: chat.store)
        let messages = try chat.page(of: id, by: 0).messages.filter { $0.kind == .notice }
        #expect(
            messages.compactMap(\.notice?.kind) == [
                .added, .renamed, .renamed, .settings, .role, .disappearing, .pinned, .removed, .owner, .left, .owner,
            ])
        #expect(messages.map(\.author) == [ann, ben, ben, ann, ann, ben, ann, ben, ann, ben, ben])
        #expect(messages.allSatisfy { $0.text == nil && $0.version == $0.textVersion })
        #expect(
            messages.compactMap(\.notice?.users) == [[cleo, dan], [], [], [], [ben], [], [], [dan], [ben], [], [ann]])
        #expect(messages[1].notice?.name == "Trip" && messages[2].notice?.name == nil)
        #expect(messages[3].notice?.settings == settings && messages[4].notice?.role == .admin)
        #expect(messages[5].notice?.disappearAfter == 3600 && messages[6].notice?.number == 1)
        #expect(messages[5].expiresAt != nil && messages[4].expiresAt == nil, "as other messages are")
        #expect(try notices(chat, id, by: 2).first?.kind == .added, "one who is added is told")
        #expect(try notices(chat, id, by: 3).last?.kind == .pinned, "one who is removed is not")
        #expect(try chat.unread(id, by: 2) == UnreadCount())
        #expect(chat.store.conversation(id)?.lastNumber == Int64(messages.count + 1))
    }

    @Test("what changes nothing is not told, and what is said again within a minute once")
    func repeated() throws {
        let chat = Chat(people: 2, notices: true)
        let id = try chat.group([1], name: "Trip")
        _ = try chat.commands.rename(id, to: "Trip", by: chat.people[0], in: chat.store)
        _ = try chat.commands.add([chat.people[1]], to: id, by: chat.people[0], in: chat.store)
        #expect(try notices(chat, id, by: 0) == [])
        try chat.send("pinned", to: id, by: 0)
        for seconds: Int64 in [0, 30, 61] {
            chat.store.now = chat.store.now.adding(seconds: seconds)
            _ = try chat.commands.pin(1, in: id, by: chat.people[0], store: chat.store)
            _ = try chat.commands.unpin(1, in: id, by: chat.people[0], store: chat.store)
        }
        #expect(try notices(chat, id, by: 0).count == 2)
    }

    @Test("who changes things all the time is told of no more, and of others still")
    func flood() throws {
        let chat = Chat(people: 2, notices: true)
        let id = try chat.group([1])
        for number in 0..<100 {
            _ = try chat.commands.rename(id, to: "Name \(number)", by: chat.people[1], in: chat.store)
        }
        #expect(try notices(chat, id, by: 0).count == chat.commands.limits.noticesOfMember)
        #expect(chat.store.conversation(id)?.name == "Name 99")
        _ = try chat.commands.rename(id, to: "Mine", by: chat.people[0], in: chat.store)
        #expect(try notices(chat, id, by: 0).last?.name == "Mine")
        chat.store.now = chat.store.now.adding(seconds: 61)
        _ = try chat.commands.rename(id, to: "Later", by: chat.people[1], in: chat.store)
        #expect(try notices(chat, id, by: 0).last?.name == "Later")
    }

    @Test("many who are added are one notice, which names the first and counts all")
    func many() throws {
        let chat = Chat(people: 101, notices: true)
        let id = try chat.group([])
        _ = try chat.commands.add(Array(chat.people.dropFirst()), to: id, by: chat.people[0], in: chat.store)
        let all = try notices(chat, id, by: 100)
        #expect(all.count == 1 && all.first?.users.count == Notice.maxUsers && all.first?.userCount == 100)
    }

    @Test("joining says how, and an invitation is told when it is accepted")
    func joining() throws {
        let chat = Chat(people: 3, areFriends: false, notices: true)
        let id = try chat.group([])
        _ = try chat.commands.add([chat.people[1]], to: id, by: chat.people[0], in: chat.store)
        #expect(try notices(chat, id, by: 0) == [])
        _ = try chat.commands.accept(id, by: chat.people[1], in: chat.store)
        _ = try chat.commands.makeLink(
            to: id, linkID: chat.newID(), hash: [1], expiresAt: nil, maxUses: nil, by: chat.people[0], in: chat.store)
        _ = try chat.commands.join(byLink: [1], by: chat.people[2], in: chat.store)
        #expect(try notices(chat, id, by: 0).map(\.via) == [.invitation, .link])
        #expect(try chat.page(of: id, by: 2).messages.map(\.author) == [chat.people[2]])
    }

    @Test("two people are told of what disappears and is pinned, not in a request, and not while one is blocked")
    func direct() throws {
        let chat = Chat(people: 2, areFriends: false, notices: true)
        let id = try chat.commands.createDirect(
            with: chat.people[1], id: chat.newID(), disappearAfter: 60, by: chat.people[0], in: chat.store
        ).found.conversation.id
        #expect(try notices(chat, id, by: 0) == [], "a request")
        _ = try chat.commands.accept(id, by: chat.people[1], in: chat.store)
        try chat.send("hello", to: id, by: 0)
        _ = try chat.commands.pin(1, in: id, by: chat.people[1], store: chat.store)
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        _ = try chat.commands.change(id, disappearAfter: nil, by: chat.people[0], in: chat.store)
        #expect(try notices(chat, id, by: 0).map(\.kind) == [.pinned, .disappearing])
        // It stays as long as its author's messages do now, as it would if nobody were blocked.
        let shown = try chat.page(of: id, by: 0).messages.filter { $0.notice?.kind == .disappearing }
        #expect(shown.map(\.expiresAt) == [nil])
        #expect(try notices(chat, id, by: 1).map(\.kind) == [.pinned])
        let notes = try chat.commands.createNotes(id: chat.newID(), by: chat.people[0], in: chat.store).found
        _ = try chat.commands.change(notes.conversation.id, disappearAfter: 60, by: chat.people[0], in: chat.store)
        #expect(chat.store.conversation(notes.conversation.id)?.lastNumber == 0)
    }

    @Test("a notice is neither edited, answered, pinned, reacted to nor deleted for all, and can be hidden")
    func fixed() throws {
        let chat = Chat(people: 2, notices: true)
        let id = try chat.group([1])
        _ = try chat.commands.rename(id, to: "Trip", by: chat.people[0], in: chat.store)
        let user = chat.people[0]
        let text = try MessageText("x")
        let emoji = try ReactionEmoji("👍")
        #expect(
            problem { _ = try chat.commands.edit(1, in: id, text: text, basedOn: 3, by: user, store: chat.store) }
                == .conflict)
        #expect(problem { _ = try chat.commands.delete(1, in: id, by: user, store: chat.store) } == .conflict)
        #expect(problem { _ = try chat.commands.pin(1, in: id, by: user, store: chat.store) } == .conflict)
        #expect(
            problem { _ = try chat.commands.react(with: emoji, to: 1, in: id, by: user, store: chat.store) }
                == .conflict)
        #expect(problem { try chat.send("x", to: id, by: 0, replyTo: 1) } == .conflict)
        var reply = OutgoingMessage(clientID: chat.newID(), text: text, digest: [1])
        reply.thread = 1
        #expect(problem { _ = try chat.commands.send(reply, to: id, by: user, in: chat.store) } == .conflict)
        // Nor later.
        let later = chat.store.now.adding(seconds: 60)
        var answer = OutgoingMessage(clientID: chat.newID(), text: text, replyTo: 1, digest: [1])
        for _ in 0..<2 {
            #expect(
                problem { _ = try chat.commands.schedule(answer, at: later, to: id, by: user, in: chat.store) }
                    == .conflict)
            (answer.replyTo, answer.thread) = (nil, 1)
        }
        _ = try chat.commands.hide(1, in: id, by: user, store: chat.store)
        #expect(try notices(chat, id, by: 0) == [])
        #expect(try notices(chat, id, by: 1).count == 1)
    }

    @Test("the app's own back end is told of as such")
    func server() throws {
        let chat = Chat(people: 3, notices: true)
        let id = try chat.group([1])
        _ = try chat.commands.addByServer([chat.people[2]], to: id, in: chat.store)
        _ = try chat.commands.changeByServer(id, disappearAfter: 60, in: chat.store)
        try chat.commands.removeByServer(chat.people[2], from: id, in: chat.store)
        let messages = try chat.page(of: id, by: 1).messages
        #expect(messages.compactMap(\.notice?.kind) == [.added, .disappearing, .removed])
        #expect(messages.allSatisfy { $0.notice?.isByServer == true })
        #expect(messages.map(\.author) == [chat.people[2], chat.people[0], chat.people[2]])
    }
}
