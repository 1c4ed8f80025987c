import Model
import Testing

@testable import Messaging

@Suite("Links of groups") struct GroupLinkTests {
    private func link(
        _ chat: Chat, _ id: ConversationID, _ hash: UInt8, by person: Int, expiresAt: Timestamp? = nil,
        maxUses: Int? = nil
    ) throws -> GroupLink {
        try chat.commands.makeLink(
            to: id, linkID: chat.newID(), hash: [hash], expiresAt: expiresAt, maxUses: maxUses,
            by: chat.people[person], in: chat.store)
    }

    @discardableResult
    private func join(_ chat: Chat, _ hash: UInt8, by person: Int) throws -> Bool {
        try chat.commands.join(byLink: [hash], by: chat.people[person], in: chat.store).isNew
    }

    @Test("whoever has the token joins, sees what is written from then on, and joins once")
    func joining() throws {
        let chat = Chat(people: 3, areFriends: false)
        let id = try chat.group([])
        try chat.send("before", to: id, by: 0)
        _ = try link(chat, id, 1, by: 0, maxUses: 1)
        #expect(try join(chat, 1, by: 1))
        #expect(try !join(chat, 1, by: 1))
        #expect(chat.store.links[0].link.uses == 1 && chat.store.conversation(id)?.memberCount == 2)
        try chat.send("after", to: id, by: 0)
        #expect(try chat.texts(id, by: 1) == ["after"])
        // It is used up, though not for who has joined by it.
        #expect(problem { try join(chat, 1, by: 2) } == .notFound)
        #expect(problem { try join(chat, 9, by: 2) } == .notFound)
    }

    @Test("it ends when it expires, and when its maker leaves or may no longer add people, for good")
    func ends() throws {
        let chat = Chat(people: 4)
        let id = try chat.group([1, 2])
        _ = try link(chat, id, 1, by: 1)
        _ = try link(chat, id, 2, by: 2)
        _ = try link(chat, id, 3, by: 0, expiresAt: chat.store.now.adding(seconds: 60))
        _ = try chat.commands.change(
            id, settings: ConversationSettings(add: .admins), by: chat.people[0], in: chat.store)
        _ = try chat.commands.change(id, settings: ConversationSettings(), by: chat.people[0], in: chat.store)
        #expect(chat.store.links.map(\.hash) == [[3]])
        chat.store.now = chat.store.now.adding(seconds: 60)
        #expect(problem { try join(chat, 3, by: 3) } == .notFound)
        _ = try link(chat, id, 4, by: 2)
        #expect(chat.store.links.map(\.hash) == [[4]])
        chat.store.inactive = [chat.people[2]]
        #expect(problem { try join(chat, 4, by: 3) } == .notFound)
        chat.store.inactive = []
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        #expect(chat.store.links.isEmpty)
    }

    @Test("who was removed returns by a newer link only, and who left by any")
    func removed() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        _ = try link(chat, id, 1, by: 0)
        try chat.commands.remove(chat.people[1], from: id, by: chat.people[0], in: chat.store)
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        #expect(problem { try join(chat, 1, by: 1) } == .notFound)
        #expect(try chat.commands.linked(hash: [1], by: chat.people[1], in: chat.store) == nil)
        #expect(try join(chat, 1, by: 2))
        _ = try link(chat, id, 2, by: 2)
        #expect(try join(chat, 2, by: 1))
        // And somebody who was added again may use the old one.
        try chat.commands.leave(id, by: chat.people[1], in: chat.store)
        #expect(try join(chat, 1, by: 1))
    }

    @Test("who left, or declined, is kept out by a removal, of which nobody is told", arguments: [false, true])
    func keptOut(byServer: Bool) throws {
        let chat = Chat(people: 3, notices: true)
        let (store, commands) = (chat.store, chat.commands)
        let id = try chat.group([1])
        store.friends.remove([chat.people[0], chat.people[2]])
        _ = try commands.add([chat.people[2]], to: id, by: chat.people[0], in: store)
        try chat.send("seen", to: id, by: 0)
        for person in 1...2 { try commands.leave(id, by: chat.people[person], in: store) }
        _ = try link(chat, id, 1, by: 0)
        func shown() throws -> [Member] {
            try commands.members(of: id, after: nil, limit: 9, by: chat.people[0], in: store).members.map { member in
                var shown = member
                shown.removedAt = nil
                return shown
            }
        }
        let (before, messages) = (try shown(), try chat.page(of: id, by: 0).messages)
        for person in 1...2 {
            for _ in 0..<2 {
                if byServer {
                    try commands.removeByServer(chat.people[person], from: id, in: store)
                } else {
                    try commands.remove(chat.people[person], from: id, by: chat.people[0], in: store)
                }
            }
            #expect(problem { try join(chat, 1, by: person) } == .notFound)
        }
        #expect(try shown() == before && chat.texts(id, by: 1) == ["seen"])
        #expect(try chat.page(of: id, by: 0).messages == messages, "no notice")
        // A newer one leads back, though nothing else has changed since.
        _ = try link(chat, id, 2, by: 0)
        #expect(try join(chat, 2, by: 1))
        // Until they are removed once more, also who has not used it.
        try commands.remove(chat.people[2], from: id, by: chat.people[0], in: store)
        #expect(problem { try join(chat, 2, by: 2) } == .notFound)
        _ = try link(chat, id, 3, by: 0)
        #expect(try join(chat, 3, by: 2))
    }

    @Test("who may make, see and remove them, and how many there are")
    func bounds() throws {
        var chat = Chat(people: 3)
        chat.commands = ConversationCommands(
            limits: {
                var limits = ConversationLimits()
                (limits.links, limits.linksOfMember) = (3, 2)
                return limits
            }())
        let id = try chat.group([1])
        for person in [0, 1, 1] { _ = try link(chat, id, UInt8(chat.store.links.count), by: person) }
        #expect(problem { _ = try link(chat, id, 7, by: 1) } == .conflict)
        #expect(problem { _ = try link(chat, id, 7, by: 0) } == .conflict)
        #expect(try chat.commands.links(of: id, by: chat.people[1], in: chat.store).count == 2)
        #expect(try chat.commands.links(of: id, by: chat.people[0], in: chat.store).count == 3)
        #expect(problem { _ = try chat.commands.links(of: id, by: chat.people[2], in: chat.store) } == .notFound)
        let all = chat.store.groupLinks(of: id)
        for link in all { try chat.commands.removeLink(link.id, of: id, by: chat.people[1], in: chat.store) }
        #expect(chat.store.links.map(\.link.maker) == [chat.people[0]])
        for (expiresAt, maxUses) in [(59, 1), (365 * 86_400 + 1, 1), (60, 0), (60, 10_001)] as [(Int64, Int)] {
            #expect(
                problem {
                    _ = try link(
                        chat, id, 8, by: 0, expiresAt: chat.store.now.adding(seconds: expiresAt), maxUses: maxUses)
                } == .invalidRequest)
        }
        let notes = try chat.commands.createNotes(id: chat.newID(), by: chat.people[0], in: chat.store)
        #expect(problem { _ = try link(chat, notes.found.conversation.id, 9, by: 0) } == .conflict)
    }

    @Test("a blocked user finds no link of who has blocked them")
    func blocked() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([])
        _ = try link(chat, id, 1, by: 0)
        chat.store.blocks.insert([chat.people[1], chat.people[0]])
        #expect(problem { try join(chat, 1, by: 1) } == .notFound)
    }
}

@Suite("Repeated invitations") struct RepeatedInvitationTests {
    private func add(_ chat: Chat, to id: ConversationID, by person: Int = 0) throws {
        _ = try chat.commands.add([chat.people[1]], to: id, by: chat.people[person], in: chat.store)
    }

    /// Whether the person who is asked is told.
    private func isAsked(_ chat: Chat, _ id: ConversationID) -> Bool {
        (try? chat.commands.get(id, by: chat.people[1], in: chat.store))?.member.state == .invited
    }

    private func shownState(_ chat: Chat, _ id: ConversationID) throws -> MemberState? {
        try chat.commands.members(of: id, after: nil, limit: 10, by: chat.people[0], in: chat.store).members
            .first { $0.user == chat.people[1] }?.state
    }

    private func decline(_ chat: Chat, _ id: ConversationID) throws {
        try chat.commands.decline(id, by: chat.people[1], in: chat.store)
    }

    @Test("a group's invitation is repeated after 30 days, and not after three were declined; nobody can tell")
    func group() throws {
        let chat = Chat(people: 3, areFriends: false)
        let id = try chat.group([])
        chat.store.friends.insert([chat.people[0], chat.people[2]])
        _ = try chat.commands.add([chat.people[2]], to: id, by: chat.people[0], in: chat.store)
        for round in 1...3 {
            try add(chat, to: id)
            #expect(isAsked(chat, id))
            try decline(chat, id)
            // Others ask too soon: it looks as if they had asked.
            try add(chat, to: id, by: 2)
            #expect(!isAsked(chat, id))
            #expect(try shownState(chat, id) == .invited)
            let before = chat.store.conversation(id)
            try add(chat, to: id)
            #expect(chat.store.conversation(id) == before)
            #expect(problem { _ = try chat.commands.accept(id, by: chat.people[1], in: chat.store) } == .notFound)
            try chat.commands.remove(chat.people[1], from: id, by: chat.people[0], in: chat.store)
            #expect(try shownState(chat, id) == .left)
            chat.store.now = chat.store.now.adding(seconds: 30 * 86_400 * Int64(round))
        }
        try add(chat, to: id, by: 2)
        #expect(!isAsked(chat, id))
        #expect(try shownState(chat, id) == .invited)
        // Friends are not bound by it.
        try chat.commands.remove(chat.people[1], from: id, by: chat.people[0], in: chat.store)
        chat.store.friends.insert([chat.people[1], chat.people[2]])
        try add(chat, to: id, by: 2)
        #expect(chat.store.member(chat.people[1], of: id)?.state == .member)
    }

    @Test("whoever was declined does not ask again by another group, or after a request to write")
    func inviter() throws {
        let chat = Chat(people: 2, areFriends: false)
        let direct = try chat.commands.createDirect(
            with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
        ).found.conversation.id
        try chat.send("may I?", to: direct, by: 0)
        try decline(chat, direct)
        let id = try chat.group([1])
        #expect(!isAsked(chat, id))
        #expect(try shownState(chat, id) == .invited)
        chat.store.now = chat.store.now.adding(seconds: 30 * 86_400)
        #expect(isAsked(chat, try chat.group([1])))
    }
}
