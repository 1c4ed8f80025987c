import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("What is one reader's own")
struct OwnTests {
    private func change(_ chat: Chat, _ id: ConversationID, _ change: MembershipChange, by person: Int = 0) throws
        -> Membership
    {
        try chat.commands.change(id, membership: change, by: chat.people[person], in: chat.store)
    }

    @Test("a message that is deleted for oneself is gone from everything, for oneself alone and for ever")
    func hiding() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        for number in 1...5 { try chat.send("\(number)", to: id, by: 1) }
        let before = try #require(chat.store.conversation(id))
        _ = try chat.commands.star(3, in: id, isStarred: true, by: chat.people[0], store: chat.store)
        for _ in 0..<2 {
            let own = try chat.commands.hide(3, in: id, by: chat.people[0], store: chat.store)
            #expect(own.isHidden && !own.isStarred)
        }
        #expect(chat.store.conversation(id) == before, "nobody else learns of it")
        let page = try chat.page(of: id, by: 0)
        #expect(page.messages.map(\.number) == [1, 2, 4, 5] && page.range == 1...5)
        #expect(try chat.page(.before(4), of: id, limit: 1, by: 0).messages.map(\.number) == [2])
        #expect(try chat.texts(id, by: 1).count == 5)
        for attempt: () throws -> Void in [
            { _ = try chat.commands.message(3, in: id, by: chat.people[0], store: chat.store) },
            { _ = try chat.react("👍", to: 3, in: id, by: 0) },
            { _ = try chat.commands.star(3, in: id, isStarred: true, by: chat.people[0], store: chat.store) },
            { _ = try chat.commands.pin(3, in: id, by: chat.people[0], store: chat.store) },
            { try chat.send("re", to: id, by: 0, replyTo: 3) },
        ] { #expect(problem(attempt) == .notFound) }
        _ = try chat.commands.pin(3, in: id, by: chat.people[1], store: chat.store)
        let found = try chat.commands.get(id, by: chat.people[0], in: chat.store)
        #expect(found.pins.isEmpty)
        #expect(problem { _ = try chat.commands.hide(9, in: id, by: chat.people[0], store: chat.store) } == .notFound)
    }

    @Test("stars are listed over all conversations, the newest first, as far as they are still seen")
    func stars() throws {
        let chat = Chat(people: 3)
        let first = try chat.group([1, 2])
        chat.store.now = chat.store.now.adding(seconds: 1)
        let second = try chat.group([1])
        for number in 1...4 {
            try chat.send("a\(number)", to: first, by: 0)
            try chat.send("b\(number)", to: second, by: 0)
        }
        func star(_ number: Int64, _ id: ConversationID, _ isStarred: Bool = true) throws {
            chat.store.now = chat.store.now.adding(milliseconds: 5)
            for _ in 0..<2 {
                let own = try chat.commands.star(
                    number, in: id, isStarred: isStarred, by: chat.people[1], store: chat.store)
                #expect(own.isStarred == isStarred)
            }
        }
        func list(limit: Int = 10) throws -> [String] {
            var (texts, position): ([String], StarredPosition?) = ([], nil)
            repeat {
                let page = try chat.commands.starred(
                    by: chat.people[1], after: position, limit: limit, in: chat.store)
                #expect(page.messages.count <= limit)
                texts += page.messages.compactMap(\.text)
                position = page.next
            } while position != nil
            return texts
        }
        for number: Int64 in 1...4 {
            try star(number, first)
            try star(number, second)
        }
        try star(2, second, false)
        let expected = ["b4", "a4", "b3", "a3", "a2", "b1", "a1"]
        for limit in [1, 2, 3, 10] { #expect(try list(limit: limit) == expected) }
        let page = try chat.page(of: first, by: 1)
        #expect(
            try chat.commands.own(of: page.messages, in: first, by: chat.people[1], store: chat.store).count == 4)
        _ = try chat.commands.hide(4, in: first, by: chat.people[1], store: chat.store)
        _ = try chat.commands.delete(3, in: second, by: chat.people[0], store: chat.store)
        #expect(try list(limit: 1) == ["b4", "a3", "a2", "b1", "a1"])
        try chat.commands.clear(first, by: chat.people[1], in: chat.store)
        #expect(try list() == ["b4", "b1"])
        #expect(try chat.commands.starred(by: chat.people[0], after: nil, limit: 9, in: chat.store).messages.isEmpty)
    }

    @Test("what a reader reacted with is a part of what is theirs, until the message is deleted")
    func reacted() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        try chat.send("one", to: id, by: 0)
        for emoji in ["👍", "🎉"] { _ = try chat.react(emoji, to: 1, in: id, by: 1) }
        func own() throws -> [OwnMessage] {
            let page = try chat.page(of: id, by: 1)
            return try chat.commands.own(of: page.messages, in: id, by: chat.people[1], store: chat.store)
        }
        #expect(try own().map(\.reacted) == [["👍", "🎉"]])
        let counter = chat.store.ownRows(of: chat.people[1], in: id, 1...1)[0].counter
        _ = try chat.commands.removeReaction(
            ReactionEmoji("👍"), to: 1, in: id, by: chat.people[1], store: chat.store)
        #expect(try own().map(\.reacted) == [["🎉"]])
        #expect(chat.store.ownRows(of: chat.people[1], in: id, 1...1)[0].counter > counter)
        _ = try chat.commands.delete(1, in: id, by: chat.people[0], store: chat.store)
        #expect(try own().isEmpty)
    }

    @Test("clearing hides what was there from one member, and leaving then hides the group")
    func clearing() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        for number in 1...3 { try chat.send("\(number)", to: id, by: 0) }
        for _ in 0..<2 { try chat.commands.clear(id, by: chat.people[1], in: chat.store) }
        #expect(try chat.texts(id, by: 1).isEmpty && chat.texts(id, by: 0).count == 3)
        try chat.send("4", to: id, by: 0)
        #expect(try chat.texts(id, by: 1) == ["4"])
        try chat.commands.leave(id, by: chat.people[1], in: chat.store)
        #expect(try chat.texts(id, by: 1) == ["4"])
        try chat.commands.clear(id, by: chat.people[1], in: chat.store)
        #expect(problem { _ = try chat.texts(id, by: 1) } == .notFound)
        _ = try chat.commands.add([chat.people[1]], to: id, by: chat.people[0], in: chat.store)
        #expect(try chat.texts(id, by: 1).isEmpty)
    }

    @Test("a conversation that was deleted for oneself is listed again when there is something new")
    func deleting() throws {
        let chat = Chat(people: 2)
        let id = try chat.direct(0, 1)
        try chat.send("1", to: id, by: 1)
        _ = try change(
            chat, id, MembershipChange(mute: Membership.Mute(), isPinned: true, draft: Draft(text: "x", revision: 4)))
        try chat.commands.deleteForOneself(id, by: chat.people[0], in: chat.store)
        let membership = try chat.commands.membership(in: id, by: chat.people[0], store: chat.store)
        #expect(!membership.isListed(lastNumber: 1) && membership.isListed(lastNumber: 2) && !membership.isPinned)
        #expect(membership.mute != nil && membership.draft == Draft(stored: "", replyTo: nil, revision: 4))
        #expect(try chat.texts(id, by: 0).isEmpty && chat.texts(id, by: 1) == ["1"])
    }

    @Test(
        "a conversation that was deleted for oneself is listed again when it is pinned or marked as unread",
        arguments: [
            (MembershipChange(isPinned: true), true), (MembershipChange(isMarkedUnread: true), true),
            (MembershipChange(isArchived: true, isMarkedUnread: false), false),
            (MembershipChange(mute: Membership.Mute(), isPinned: false), false),
        ])
    func returning(_ change: MembershipChange, isListed: Bool) throws {
        let chat = Chat(people: 2)
        let id = try chat.direct(0, 1)
        try chat.send("1", to: id, by: 1)
        try chat.commands.deleteForOneself(id, by: chat.people[0], in: chat.store)
        let membership = try self.change(chat, id, change)
        #expect(membership.isListed(lastNumber: 1) == isListed)
        #expect(try chat.texts(id, by: 0).isEmpty)
    }

    @Test("a membership keeps what is set, and what is not named stays")
    func membership() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let until = chat.store.now.adding(seconds: 60)
        _ = try change(
            chat, id, MembershipChange(mute: Membership.Mute(until: until, allowsMentions: true), isArchived: true))
        var kept = try change(chat, id, MembershipChange(isMarkedUnread: true, receipts: false))
        #expect(kept.isArchived && kept.isMarkedUnread && kept.receipts == false && !kept.isPinned)
        #expect(kept.mute?.isActive(at: chat.store.now) == true && kept.mute?.isActive(at: until) == false)
        let counter = kept.counter
        kept = try change(chat, id, MembershipChange(isMarkedUnread: true))
        #expect(kept.counter == counter, "nothing has changed")
        kept = try change(chat, id, MembershipChange(mute: .some(nil), receipts: .some(nil)))
        #expect(kept.mute == nil && kept.receipts == nil && kept.isArchived && kept.counter > counter)
        #expect(try chat.commands.membership(in: id, by: chat.people[1], store: chat.store) == Membership())
    }

    @Test("pinned conversations are bounded")
    func pinned() throws {
        var chat = Chat(people: 2)
        var limits = ConversationLimits()
        limits.pinnedConversations = 2
        chat.commands = ConversationCommands.quiet(limits)
        let ids = try (0..<3).map { _ in try chat.group([1]) }
        for id in ids.prefix(2) { _ = try change(chat, id, MembershipChange(isPinned: true)) }
        _ = try change(chat, ids[0], MembershipChange(isPinned: true))
        #expect(problem { _ = try change(chat, ids[2], MembershipChange(isPinned: true)) } == .conflict)
        _ = try change(chat, ids[0], MembershipChange(isPinned: false))
        #expect(try change(chat, ids[2], MembershipChange(isPinned: true)).isPinned)
    }

    @Test("the highest revision of a draft is kept, and a send removes its own")
    func drafts() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        func save(_ text: String, _ revision: Int64) throws -> Draft? {
            try change(chat, id, MembershipChange(draft: Draft(text: text, revision: revision))).draft
        }
        #expect(try save("one", 3)?.text == "one")
        #expect(try save("late", 2)?.text == "one" && save("other", 3)?.text == "one")
        #expect(try save("four", 4)?.revision == 4)
        func send(_ revision: Int64?) throws {
            var outgoing = OutgoingMessage(clientID: chat.newID(), text: try MessageText("x"), digest: [])
            outgoing.draft = revision
            _ = try chat.commands.send(outgoing, to: id, by: chat.people[0], in: chat.store)
        }
        func draft() -> Draft? { chat.store.membership(of: chat.people[0], in: id).draft }
        try send(3)
        #expect(draft()?.text == "four", "a newer one is stored")
        try send(nil)
        #expect(draft()?.text == "four")
        try send(6)
        #expect(draft()?.isEmpty == true && draft()?.revision == 6)
        #expect(try save("late", 5)?.isEmpty == true, "a save from before the send")
        #expect(try save("next", 7)?.text == "next")
        #expect(problem { try send(0) } == .invalidRequest)
        for revision: Int64 in [0, -1, .max] { #expect(problem { _ = try save("x", revision) } == .invalidRequest) }
        #expect(problem { _ = try Draft(text: "", replyTo: 0, revision: 1) } == .invalidRequest)
        let long = String(repeating: "é", count: MessageText.maxBytes / 2 + 1)
        #expect(problem { _ = try save(long, 9) } == .invalidRequest)
        try chat.commands.leave(id, by: chat.people[0], in: chat.store)
        #expect(problem { _ = try save("x", 10) } == .forbidden)
    }
}
