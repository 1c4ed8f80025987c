import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Unread messages, mentions, threads and forwarding")
struct UnreadTests {
    @Test("what others wrote after what was read is counted, and mentions alone")
    func counting() throws {
        let chat = Chat(people: 4)
        let id = try chat.group([1, 2])
        let (ann, ben) = (chat.people[0], chat.people[1])
        try chat.send("<@\(ben)>", to: id, by: 0)
        try chat.send("<@all> <@\(ben)>", to: id, by: 2)
        try chat.send("<@all> mine <@\(ben)>", to: id, by: 1)
        try chat.send("<@\(chat.people[3])> is not here", to: id, by: 0)
        #expect(try chat.unread(id, by: 1) == UnreadCount(messages: 3, mentions: 2))
        #expect(try chat.unread(id, by: 0) == UnreadCount(messages: 2, mentions: 2))
        _ = try chat.mark(read: 1, id, by: 1)
        #expect(try chat.unread(id, by: 1) == UnreadCount(messages: 2, mentions: 1))
        let second = try #require(chat.store.message(2, in: id))
        _ = try chat.commands.edit(
            2, in: id, text: MessageText("nobody"), basedOn: second.textVersion, by: chat.people[2], store: chat.store)
        #expect(try chat.unread(id, by: 1) == UnreadCount(messages: 2, mentions: 0))
        let edited = try #require(chat.store.message(4, in: id))
        _ = try chat.commands.edit(
            4, in: id, text: MessageText("<@\(ben)>"), basedOn: edited.textVersion, by: ann, store: chat.store)
        #expect(try chat.unread(id, by: 1) == UnreadCount(messages: 2, mentions: 1))
        _ = try chat.commands.hide(4, in: id, by: ben, store: chat.store)
        #expect(try chat.unread(id, by: 1) == UnreadCount(messages: 1, mentions: 0))
        _ = try chat.commands.delete(2, in: id, by: ann, store: chat.store)
        #expect(try chat.unread(id, by: 1) == UnreadCount())
        _ = try chat.commands.delete(4, in: id, by: ann, store: chat.store)
        #expect(chat.store.parts.mentions.allSatisfy { $0.number == 1 || $0.number == 3 })
        try chat.send("x", to: id, by: 0)
        try chat.commands.leave(id, by: ben, in: chat.store)
        #expect(try chat.unread(id, by: 1) == UnreadCount())
    }

    @Test("counts end at a limit, and a request counts when it is accepted")
    func bounds() throws {
        var chat = Chat(people: 2, areFriends: false)
        var limits = ConversationLimits()
        (limits.unread, limits.mentions) = (2, 1)
        chat.commands = ConversationCommands.quiet(limits)
        let id = try chat.direct(0, 1)
        for _ in 0..<3 { try chat.send("<@all>", to: id, by: 0) }
        #expect(try chat.unread(id, by: 1) == UnreadCount())
        _ = try chat.commands.accept(id, by: chat.people[1], in: chat.store)
        #expect(try chat.unread(id, by: 1) == UnreadCount(messages: 2, mentions: 2))
        try chat.send("<@\(chat.newID() as UserID)> <@\(chat.people[1])>", to: id, by: 0)
        #expect(chat.store.parts.mentions.count == 3)
    }

    @Test("in groups those are not counted whom one has blocked, among two people they are")
    func blocked() throws {
        let chat = Chat(people: 3)
        let (group, pair) = (try chat.group([1, 2]), try chat.direct(0, 1))
        for id in [group, pair] { try chat.send("<@all>", to: id, by: 0) }
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        try chat.send("<@all> again", to: group, by: 0)
        #expect(try chat.unread(group, by: 1) == UnreadCount())
        #expect(try chat.unread(pair, by: 1) == UnreadCount(messages: 1, mentions: 1))
        #expect(try chat.unread(group, by: 2) == UnreadCount(messages: 2, mentions: 2))
        let totals = chat.store.unreadConversations(of: chat.people[1], isArchive: false)
        #expect(totals == UnreadCount(messages: 1, mentions: 1))
        try chat.send("from somebody else", to: group, by: 2)
        #expect(try chat.unread(group, by: 1) == UnreadCount(messages: 1))
        // With the newest messages held, as for large groups.
        let counted = try chat.commands.countedMessages(in: group, store: chat.store)
        #expect(
            try chat.commands.unread(of: chat.people[1], in: [group], counted: [group: counted], store: chat.store)
                == [group: UnreadCount(messages: 1)])
        chat.store.blocks = []
        #expect(try chat.unread(group, by: 1) == UnreadCount(messages: 3, mentions: 2))
    }

    @Test("the count is that of the pages, whatever happens")
    func model() throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for round in 0..<12 {
            let chat = Chat(people: 3)
            let id = try round % 3 == 0 ? chat.direct(0, 1) : chat.group([1, 2])
            for _ in 0..<120 {
                let person = Int.random(in: 0...2, using: &random)
                let last = chat.store.conversation(id)?.lastNumber ?? 0
                let number = Int64.random(in: 1...max(1, last), using: &random)
                let user = chat.people[person]
                let text = ["x", "<@all>", "<@\(chat.people[1])>", "<@\(chat.people[2])> <@all>"].randomElement(
                    using: &random)
                // What is refused changes nothing.
                _ = problem {
                    switch Int.random(in: 0..<20, using: &random) {
                    case 0: _ = try chat.commands.delete(number, in: id, by: user, store: chat.store)
                    case 1: _ = try chat.commands.hide(number, in: id, by: user, store: chat.store)
                    case 2: try chat.commands.clear(id, by: user, in: chat.store)
                    case 3...5: _ = try chat.mark(read: number, id, by: person)
                    case 6: try chat.commands.leave(id, by: user, in: chat.store)
                    case 7...8: _ = try chat.commands.add([user], to: id, by: chat.people[0], in: chat.store)
                    case 9: chat.store.blocks = [[chat.people[0], chat.people[1]]]
                    case 10: chat.store.blocks = []
                    case 11...12:
                        let version = chat.store.message(number, in: id)?.textVersion ?? 0
                        _ = try chat.commands.edit(
                            number, in: id, text: MessageText(text ?? "x"), basedOn: version, by: user,
                            store: chat.store)
                    default: try chat.send(text ?? "x", to: id, by: person)
                    }
                }
                for reader in 0...2 {
                    guard let found = try? chat.unread(id, by: reader) else { continue }
                    #expect(try found == naive(chat, id, reader), "seed \(seed), reader \(reader)")
                }
            }
        }
    }

    private func naive(_ chat: Chat, _ id: ConversationID, _ person: Int) throws -> UnreadCount {
        let reader = chat.people[person]
        guard chat.store.member(reader, of: id)?.state == .member else { return UnreadCount() }
        let read = try chat.commands.ownMarks(in: id, by: reader, store: chat.store).marks.read
        let after = max(read, chat.store.spans(of: reader, in: id).from)
        var count = UnreadCount()
        var anchor = PageAnchor.after(0)
        while true {
            let page = try chat.page(anchor, of: id, limit: 7, by: person)
            let isGroup = chat.store.conversation(id)?.kind == .group
            for message in page.messages
            where message.number > after && message.author != reader && message.deletedAt == nil
                && !(isGroup && chat.store.isBlocked(message.author, by: reader))
            {
                count.messages += 1
                let found = FoundRanges(ranges: message.ranges)
                if found.mentionsAll || found.mentionedUsers.contains(reader) { count.mentions += 1 }
            }
            guard page.hasLater, let range = page.range else { return count }
            anchor = .after(range.upperBound)
        }
    }

    @Test("a thread has the replies to its root, which counts them")
    func threads() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1])
        let root = try chat.send("root", to: id, by: 0)
        try chat.send("other", to: id, by: 0)
        for text in ["a", "b", "c"] { try chat.send(text, to: id, by: 1, thread: 1) }
        #expect(try chat.thread(1, id, by: 0) == ["a", "b", "c"] && chat.texts(id, by: 0).count == 5)
        let counted = try chat.page(of: id, by: 1).messages[0]
        #expect(counted.replies == 3 && counted.version > root.version && counted.textVersion == root.textVersion)
        #expect(problem { try chat.send("x", to: id, by: 0, thread: 3) } == .invalidRequest)
        #expect(problem { try chat.send("x", to: id, by: 0, thread: 99) } == .notFound)
        _ = try chat.commands.delete(4, in: id, by: chat.people[1], store: chat.store)
        #expect(try chat.page(of: id, by: 1).messages[0].replies == 2)
        let page = try chat.commands.page(.newest, of: id, thread: 1, limit: 2, by: chat.people[0], in: chat.store)
        #expect(page.messages.map(\.number) == [4, 5] && page.hasEarlier && page.range == 4...5)
        // Who came later sees the replies since, and not the root.
        _ = try chat.commands.add([chat.people[2]], to: id, by: chat.people[0], in: chat.store)
        try chat.send("d", to: id, by: 0, thread: 1)
        #expect(try chat.thread(1, id, by: 2) == ["d"])
        #expect(problem { try chat.send("x", to: id, by: 2, thread: 1) } == .notFound)
        _ = try chat.commands.delete(1, in: id, by: chat.people[0], store: chat.store)
        try chat.commands.leave(id, by: chat.people[1], in: chat.store)
        #expect(try chat.page(of: id, by: 1).messages[0].replies == 0, "who left")
        #expect(try chat.page(of: id, by: 0).messages[0].replies == 3)
    }

    @Test("replies of somebody who is blocked are counted for them alone")
    func withheldReplies() throws {
        let chat = Chat(people: 2)
        let id = try chat.direct(0, 1)
        try chat.send("root", to: id, by: 1)
        chat.store.blocks = [[chat.people[0], chat.people[1]]]
        let before = try chat.page(of: id, by: 1).messages
        try chat.send("a", to: id, by: 0, thread: 1)
        try chat.send("b", to: id, by: 0, thread: 1)
        #expect(try chat.page(of: id, by: 1).messages == before)
        let seen = try chat.page(of: id, by: 0).messages[0]
        #expect(seen.replies == 2 && seen.version > before[0].version)
        _ = try chat.commands.delete(2, in: id, by: chat.people[0], store: chat.store)
        _ = try chat.commands.delete(3, in: id, by: chat.people[0], store: chat.store)
        let after = try chat.page(of: id, by: 0).messages[0]
        #expect(after.replies == 0 && after.version > seen.version)
    }

    @Test("what is forwarded is the text that one sees, with its first author")
    func forwarding() throws {
        let chat = Chat(people: 3)
        let (first, second) = (try chat.group([1]), try chat.group([1, 2]))
        let sent = try chat.send("**hi** <@\(chat.people[2])>", to: first, by: 0)
        func forward(
            _ number: Int64, of id: ConversationID, to other: ConversationID, by person: Int
        ) throws -> SeenMessage {
            let outgoing = OutgoingMessage(clientID: chat.newID(), forward: MessageReference(id, number), digest: [])
            return try chat.commands.send(outgoing, to: other, by: chat.people[person], in: chat.store).message
        }
        let one = try forward(1, of: first, to: second, by: 1)
        #expect(one.text == sent.text && one.ranges == sent.ranges && one.forwardedFrom == chat.people[0])
        #expect(one.author == chat.people[1] && chat.store.parts.mentions.isEmpty)
        #expect(try forward(1, of: second, to: second, by: 2).forwardedFrom == chat.people[0])
        #expect(problem { _ = try forward(1, of: first, to: second, by: 2) } == .notFound)
        #expect(problem { _ = try forward(7, of: first, to: second, by: 1) } == .notFound)
        #expect(problem { _ = try forward(1, of: chat.newID(), to: second, by: 1) } == .notFound)
        _ = try chat.commands.edit(
            1, in: first, text: MessageText("new"), basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        #expect(try chat.texts(second, by: 2) == [sent.text, sent.text])
        _ = try chat.commands.delete(1, in: first, by: chat.people[0], store: chat.store)
        #expect(problem { _ = try forward(1, of: first, to: second, by: 1) } == .conflict)
        let deleted = try chat.commands.delete(1, in: second, by: chat.people[1], store: chat.store)
        #expect(deleted.forwardedFrom == nil)
        var both = OutgoingMessage(clientID: chat.newID(), text: try MessageText("x"), digest: [])
        both.forward = MessageReference(second, 2)
        #expect(
            problem { _ = try chat.commands.send(both, to: second, by: chat.people[0], in: chat.store) }
                == .invalidRequest)
    }

    @Test("a withheld text is forwarded by nobody but its author")
    func forwardingWithheld() throws {
        let chat = Chat(people: 2)
        let id = try chat.direct(0, 1)
        let sent = try chat.send("one", to: id, by: 0)
        chat.store.blocks = [[chat.people[0], chat.people[1]]]
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("two"), basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        for person in 0...1 {
            let notes = try chat.commands.createNotes(id: chat.newID(), by: chat.people[person], in: chat.store)
            let outgoing = OutgoingMessage(clientID: chat.newID(), forward: MessageReference(id, 1), digest: [])
            let message = try chat.commands.send(
                outgoing, to: notes.found.conversation.id, by: chat.people[person], in: chat.store
            ).message
            #expect(message.text == (person == 0 ? "two" : "one"))
        }
    }
}

extension Chat {
    func unread(_ id: ConversationID, by person: Int) throws -> UnreadCount {
        try commands.unread(of: people[person], in: [id], store: store)[id] ?? UnreadCount()
    }

    @discardableResult
    func send(_ text: String, to id: ConversationID, by person: Int, thread: Int64) throws -> SeenMessage {
        var outgoing = OutgoingMessage(clientID: newID(), text: try MessageText(text), digest: Array(text.utf8))
        outgoing.thread = thread
        return try commands.send(outgoing, to: id, by: people[person], in: store).message
    }

    func thread(_ root: Int64, _ id: ConversationID, by person: Int) throws -> [String] {
        try commands.page(.newest, of: id, thread: root, limit: 100, by: people[person], in: store)
            .messages.compactMap(\.text)
    }
}
