import Languages
import Model
import Testing

@testable import Messaging

@Suite("Messages that are older than they may be") struct RetentionTests {
    private static let day: Int64 = 86_400

    private func pass(_ days: Int64, in chat: Chat) { chat.store.now = chat.store.now.adding(seconds: days * Self.day) }

    private func keep(_ days: Int, in id: ConversationID, _ chat: Chat, by person: Int = 0) throws {
        _ = try chat.commands.change(
            id, settings: ConversationSettings(keepDays: days), by: chat.people[person], in: chat.store)
    }

    /// Erases all there is to erase, in steps of `limit`. Returns how many messages were erased.
    @discardableResult
    private func erase(_ chat: Chat, keepDays: Int = 0, limit: Int = 3) throws -> Int {
        var total = 0
        for _ in 0..<1000 {
            let step = try chat.commands.eraseOldMessages(keepDays: keepDays, limit: limit, in: chat.store)
            #expect(step.erased <= limit)
            total += step.erased
            if !step.hasMore {
                #expect(try !chat.commands.hasOldMessages(keepDays: keepDays, in: chat.store))
                return total
            }
        }
        Issue.record("the steps do not end")
        return total
    }

    @Test("those of the server's days go and no others, in any conversation, and numbers stay")
    func server() throws {
        let chat = Chat(people: 2)
        let group = try chat.group([1])
        let direct = try chat.commands.createDirect(
            with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
        ).found.conversation.id
        for day in 0..<10 {
            try chat.send("group \(day)", to: group, by: day % 2)
            try chat.send("direct \(day)", to: direct, by: 0)
            pass(1, in: chat)
        }
        #expect(try erase(chat) == 0)
        #expect(try !chat.commands.hasOldMessages(keepDays: 30, in: chat.store))
        // Sent 10 to 1 days ago.
        #expect(try erase(chat, keepDays: 4) == 2 * 6)
        for id in [group, direct] {
            let messages = try chat.page(of: id, by: 1).messages
            #expect(messages.map(\.number) == Array(1...10))
            #expect(
                messages.map { $0.text != nil } == Array(repeating: false, count: 6) + Array(repeating: true, count: 4))
            #expect(messages.prefix(6).allSatisfy { $0.deletedAt != nil })
        }
        #expect(chat.store.rows[group]?.messages[6]?.digest == [] && chat.store.rows[group]?.messages[7]?.digest != [])
        // Nothing twice, and the next ones in their time.
        #expect(try erase(chat, keepDays: 4) == 0)
        pass(1, in: chat)
        #expect(try erase(chat, keepDays: 4) == 2)
        pass(100, in: chat)
        #expect(try erase(chat, keepDays: 4) == 6)
    }

    @Test("the shorter of the server's and the group's days counts, and only administrators set them")
    func shorter() throws {
        let chat = Chat(people: 2)
        let (short, long) = (try chat.group([1]), try chat.group([1]))
        #expect(problem { try keep(2, in: short, chat, by: 1) } == .forbidden)
        #expect(problem { try keep(-1, in: short, chat) } == .invalidRequest)
        #expect(problem { try keep(36_501, in: short, chat) } == .invalidRequest)
        try keep(2, in: short, chat)
        try keep(9, in: long, chat)
        for id in [short, long] { try chat.send("old", to: id, by: 1) }
        pass(3, in: chat)
        #expect(try erase(chat, keepDays: 5) == 1)
        #expect(try chat.texts(short, by: 1) == [""] && chat.texts(long, by: 1) == ["old"])
        pass(3, in: chat)
        #expect(try erase(chat, keepDays: 5) == 1)
        // Without the group's days, the server's hold again.
        try chat.send("new", to: short, by: 1)
        try keep(0, in: short, chat)
        pass(4, in: chat)
        #expect(try erase(chat) == 0)
        #expect(try erase(chat, keepDays: 3) == 1)
        let notes = try chat.commands.createNotes(id: chat.newID(), by: chat.people[0], in: chat.store)
        #expect(problem { try keep(1, in: notes.found.conversation.id, chat) } == .conflict)
    }

    @Test("what was made of a message goes with it: edits, reactions, pins and unread counts")
    func parts() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let message = try chat.send("first", to: id, by: 0)
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("second"), basedOn: message.textVersion, by: chat.people[0], store: chat.store)
        _ = try chat.commands.pin(1, in: id, by: chat.people[0], store: chat.store)
        _ = try chat.commands.delete(
            chat.send("deleted", to: id, by: 0).number, in: id, by: chat.people[0], store: chat.store)
        pass(2, in: chat)
        try chat.send("new", to: id, by: 0)
        #expect(try erase(chat, keepDays: 1) == 1)
        #expect(try chat.texts(id, by: 1) == ["", "", "new"])
        #expect(chat.store.edits(of: 1, in: id).isEmpty && chat.store.conversation(id)?.pins == [])
        #expect(chat.store.rows[id]?.messages[2]?.digest == [])
        // The stream tells it as a deletion.
        #expect(chat.store.message(1, in: id)?.version == chat.store.message(1, in: id)?.textVersion)
    }

    @Test("a group that everybody has left ends at once, and is erased after a week")
    func ended() throws {
        let chat = Chat(people: 4, areFriends: false)
        let (store, commands) = (chat.store, chat.commands)
        let id = try chat.group([1], name: "Secret")
        _ = try commands.accept(id, by: chat.people[1], in: store)
        _ = try commands.add([chat.people[2]], to: id, by: chat.people[0], in: store)
        _ = try commands.makeLink(
            to: id, linkID: chat.newID(), hash: [1], expiresAt: nil, maxUses: nil, by: chat.people[0], in: store)
        for number in 1...5 { try chat.send("text \(number)", to: id, by: number % 2) }
        try commands.leave(id, by: chat.people[0], in: store)
        #expect(try erase(chat) == 0 && chat.texts(id, by: 1).count == 5, "somebody is in it")
        try commands.leave(id, by: chat.people[1], in: store)
        #expect(problem { _ = try commands.get(id, by: chat.people[2], in: store) } == .notFound)
        #expect(problem { _ = try commands.accept(id, by: chat.people[2], in: store) } == .notFound)
        #expect(problem { _ = try commands.join(byLink: [1], by: chat.people[3], in: store) } == .notFound)
        try store.setGlossary([GlossaryEntry(source: "disk", target: "", language: LanguageTag("en"))], of: id)
        pass(7, in: chat)
        #expect(try erase(chat) == 0)
        // Who has left sees it until it is erased, as a deletion.
        #expect(try chat.texts(id, by: 0).first == "text 1" && store.conversation(id)?.name == "Secret")
        store.now = store.now.adding(seconds: 1)
        #expect(try erase(chat, limit: 2) == 5)
        #expect(try chat.texts(id, by: 0) == Array(repeating: "", count: 5))
        #expect(store.conversation(id)?.name == nil && store.rows[id]?.messages[3]?.digest == [])
        #expect(store.glossary(of: id).isEmpty)
        #expect(try erase(chat) == 0)
        // It goes on without all that.
        _ = try commands.addByServer([chat.people[3]], to: id, in: store)
        try chat.send("new", to: id, by: 3)
        pass(30, in: chat)
        #expect(try erase(chat) == 0 && chat.texts(id, by: 3) == ["new"])
    }

    @Test("a group to which a server key adds somebody before goes on as it was, and has an owner")
    func revived() throws {
        let chat = Chat(people: 4, areFriends: false)
        let (store, commands) = (chat.store, chat.commands)
        let id = try chat.group([1], name: "Team")
        try chat.send("one", to: id, by: 0)
        try commands.removeByServer(chat.people[0], from: id, in: store)
        pass(7, in: chat)
        _ = try commands.addByServer([chat.people[2], chat.people[3]], to: id, in: store)
        let roles = chat.people.map { store.member($0, of: id)?.role }
        #expect(roles == [.member, .member, .owner, .member])
        #expect(store.conversation(id)?.name == "Team" && store.conversation(id)?.memberCount == 2)
        // The invitation of before stays ended.
        #expect(problem { _ = try commands.accept(id, by: chat.people[1], in: store) } == .notFound)
        pass(30, in: chat)
        #expect(try erase(chat) == 0 && store.rows[id]?.messages[1]?.message.text == "one")
        // The week begins when the last one goes.
        for person in 2...3 { try commands.removeByServer(chat.people[person], from: id, in: store) }
        pass(6, in: chat)
        #expect(try erase(chat) == 0)
        pass(2, in: chat)
        #expect(try erase(chat) == 1)
    }

    @Test("a group that was erased for its age ends all the same, and one that nobody wrote in loses its name")
    func endedEmpty() throws {
        let chat = Chat(people: 1)
        let (store, commands) = (chat.store, chat.commands)
        let (old, empty) = (try chat.group([], name: "Old"), try chat.group([], name: "Empty"))
        try chat.send("one", to: old, by: 0)
        for id in [old, empty] { try commands.leave(id, by: chat.people[0], in: store) }
        pass(5, in: chat)
        #expect(try erase(chat, keepDays: 3) == 1 && store.conversation(old)?.name == "Old")
        pass(3, in: chat)
        #expect(try erase(chat, limit: 1) == 0)
        #expect([old, empty].allSatisfy { store.conversation($0)?.name == nil })
    }

    @Test("a group that sets fewer days later has what is older erased")
    func later() throws {
        let chat = Chat(people: 1)
        let id = try chat.group([])
        for _ in 0..<20 {
            try chat.send("text", to: id, by: 0)
            pass(1, in: chat)
        }
        #expect(try erase(chat, keepDays: 15) == 5)
        try keep(10, in: id, chat)
        #expect(try erase(chat, keepDays: 15) == 5)
        try keep(1, in: id, chat)
        #expect(try erase(chat, keepDays: 15, limit: 100) == 9)
        #expect(try chat.page(of: id, by: 0).messages.filter { $0.text != nil }.map(\.number) == [20])
    }
}
