import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Reactions and pins")
struct ReactionTests {
    @Test(
        "an emoji is stored fully qualified, however a keyboard writes it",
        arguments: [
            ("👍", "👍"), ("\u{2764}", "\u{2764}\u{FE0F}"), ("\u{2764}\u{FE0F}", "\u{2764}\u{FE0F}"),
            ("\u{1F44D}\u{FE0F}", "\u{1F44D}"), ("\u{1F44D}\u{1F3FD}", "\u{1F44D}\u{1F3FD}"),
            ("\u{261D}\u{FE0F}\u{1F3FD}", "\u{261D}\u{1F3FD}"), ("1\u{20E3}", "1\u{FE0F}\u{20E3}"),
            ("\u{1F926}\u{200D}\u{2640}", "\u{1F926}\u{200D}\u{2640}\u{FE0F}"),
            ("\u{1F3F3}\u{200D}\u{1F308}", "\u{1F3F3}\u{FE0F}\u{200D}\u{1F308}"), ("🇩🇪", "🇩🇪"), ("👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"),
            ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"), ("\u{A9}", "\u{A9}\u{FE0F}"),
        ])
    func qualified(_ written: String, _ expected: String) throws {
        let emoji = try ReactionEmoji(written)
        #expect(Array(emoji.text.unicodeScalars) == Array(expected.unicodeScalars))
        #expect(try ReactionEmoji(emoji.text) == emoji)
    }

    @Test(
        "what is not one emoji is refused",
        arguments: [
            "", "a", "1", "👍👍", "👍x", " 👍", "🇩", "🇩🇪🇫", "\u{200D}", "👍\u{200D}", "\u{1F3FD}", "\u{FE0F}",
            "\u{2764}\u{FE0E}",
            "🏴\u{E0067}", "👀\u{1F3FD}", "\u{20E3}", String(repeating: "👨‍", count: 30) + "👨",
        ])
    func refused(_ written: String) {
        #expect(problem { _ = try ReactionEmoji(written) } == .invalidRequest)
    }

    @Test("a reaction changes the message's version and not its text, and is counted once")
    func reacting() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let sent = try chat.send("one", to: id, by: 0)
        let reacted = try chat.react("👍", to: 1, in: id, by: 1)
        #expect(reacted.reactions == [MessageReaction(emoji: "👍", count: 1, users: [chat.people[1]])])
        #expect(reacted.version > sent.version && reacted.textVersion == sent.textVersion)
        #expect(try chat.react("👍\u{FE0F}", to: 1, in: id, by: 1) == reacted)
        // An edit that is based on the text of before.
        let text = try MessageText("two")
        let edited = try chat.commands.edit(
            1, in: id, text: text, basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        #expect(edited.reactions == reacted.reactions)
        _ = try chat.react("❤️", to: 1, in: id, by: 2)
        let both = try chat.react("👍", to: 1, in: id, by: 2)
        #expect(both.reactions.map(\.count) == [2, 1] && both.reactions[0].users == [chat.people[1], chat.people[2]])
        let list = try chat.commands.reactions(
            to: 1, in: id, emoji: nil, after: 0, limit: 2, by: chat.people[0], store: chat.store)
        #expect(list.reactions.map(\.emoji) == ["👍", "❤️"] && list.next == list.reactions[1].sequence)
        let rest = try chat.commands.reactions(
            to: 1, in: id, emoji: nil, after: list.next ?? 0, limit: 2, by: chat.people[0], store: chat.store)
        #expect(rest.reactions.map(\.user) == [chat.people[2]] && rest.next == nil)
        for _ in 0..<2 {
            let left = try chat.commands.removeReaction(
                ReactionEmoji("👍"), to: 1, in: id, by: chat.people[1], store: chat.store)
            #expect(left.reactions.first?.users == [chat.people[2]])
        }
        _ = try chat.commands.delete(1, in: id, by: chat.people[0], store: chat.store)
        #expect(try chat.page(of: id, by: 1).messages[0].reactions.isEmpty && chat.store.parts.reactions.isEmpty)
        #expect(problem { _ = try chat.react("👍", to: 1, in: id, by: 1) } == .conflict)
        #expect(problem { _ = try chat.react("👍", to: 2, in: id, by: 1) } == .notFound)
    }

    @Test("the first of many are named, and the next one after one of them is gone")
    func named() throws {
        let chat = Chat(people: 24)
        let id = try chat.group(Array(1..<24))
        try chat.send("one", to: id, by: 0)
        for person in 0..<24 { _ = try chat.react("👍", to: 1, in: id, by: person) }
        let left = try chat.commands.removeReaction(
            ReactionEmoji("👍"), to: 1, in: id, by: chat.people[3], store: chat.store)
        let expected = (0..<21).filter { $0 != 3 }.map { chat.people[$0] }
        #expect(left.reactions == [MessageReaction(emoji: "👍", count: 23, users: expected)])
    }

    @Test("reactions are bounded")
    func bounds() throws {
        var chat = Chat(people: 3)
        var limits = ConversationLimits()
        (limits.reactionKinds, limits.reactionsOfUser, limits.reactions) = (3, 2, 5)
        chat.commands = ConversationCommands.quiet(limits)
        let id = try chat.group([1, 2])
        try chat.send("one", to: id, by: 0)
        for emoji in ["👍", "🎉"] { _ = try chat.react(emoji, to: 1, in: id, by: 0) }
        #expect(problem { _ = try chat.react("😀", to: 1, in: id, by: 0) } == .conflict)
        _ = try chat.react("😀", to: 1, in: id, by: 1)
        #expect(problem { _ = try chat.react("❤️", to: 1, in: id, by: 1) } == .conflict)
        _ = try chat.react("👍", to: 1, in: id, by: 1)
        _ = try chat.react("👍", to: 1, in: id, by: 2)
        #expect(problem { _ = try chat.react("🎉", to: 1, in: id, by: 2) } == .conflict)
    }

    @Test("reactions of somebody who is blocked are their own, for ever, and nothing tells them")
    func withheld() throws {
        func transcript(isBlocked: Bool) throws -> ([[MessageReaction]], [Bool], [SeenMessage], [SeenMessage]) {
            let chat = Chat(people: 2)
            let id = try chat.direct(0, 1)
            try chat.send("one", to: id, by: 1)
            let before = try chat.page(of: id, by: 1).messages
            if isBlocked { chat.store.blocks.insert([chat.people[0], chat.people[1]]) }
            var seen: [SeenMessage] = [try chat.react("🎉", to: 1, in: id, by: 0)]
            let during = try chat.page(of: id, by: 1).messages
            if isBlocked { #expect(during == before) }
            _ = try chat.react("👍", to: 1, in: id, by: 1)
            seen.append(try chat.page(of: id, by: 0).messages[0])
            seen.append(try chat.react("👍", to: 1, in: id, by: 0))
            chat.store.blocks = []
            seen.append(try chat.page(of: id, by: 0).messages[0])
            seen.append(
                try chat.commands.removeReaction(
                    ReactionEmoji("🎉"), to: 1, in: id, by: chat.people[0], store: chat.store))
            let rose = zip(seen, seen.dropFirst()).map { $0.version <= $1.version }
            let other = try chat.page(of: id, by: 1).messages
            let people = chat.people
            // By place, since ids differ.
            let reactions = seen.map { message in
                message.reactions.map { reaction in
                    MessageReaction(
                        emoji: reaction.emoji, count: reaction.count,
                        users: reaction.users.map { $0 == people[0] ? Self.ann : Self.ben })
                }
            }
            return (reactions, rose, during, other)
        }
        let (blocked, rose, _, other) = try transcript(isBlocked: true)
        let (free, _, _, _) = try transcript(isBlocked: false)
        #expect(blocked == free && rose.allSatisfy { $0 })
        #expect(other[0].reactions.map(\.emoji) == ["👍"] && other[0].reactions[0].count == 1)
    }

    private static let ann = UserID.make(at: Timestamp(milliseconds: 0))
    private static let ben = UserID.make(at: Timestamp(milliseconds: 1))

    @Test("a text and a reaction that are withheld do not hide what comes after them")
    func versions() throws {
        let chat = Chat(people: 2)
        let id = try chat.direct(0, 1)
        let sent = try chat.send("one", to: id, by: 0)
        _ = try chat.react("👍", to: 1, in: id, by: 1)
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("two"), basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        let held = try chat.page(of: id, by: 1).messages[0]
        #expect(held.text == "one" && held.reactions.count == 1)
        let later = try chat.react("🎉", to: 1, in: id, by: 1)
        #expect(later.version > held.version && later.text == "one" && later.reactions.count == 2)
        #expect(try chat.page(of: id, by: 0).messages[0].text == "two")
    }

    @Test("who has left sees no reactions, and does not react to what was before")
    func former() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let sent = try chat.send("one", to: id, by: 0)
        _ = try chat.react("👍", to: 1, in: id, by: 1)
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        let seen = try chat.page(of: id, by: 2).messages
        #expect(seen[0].reactions.isEmpty && seen[0].version == sent.textVersion)
        #expect(problem { _ = try chat.react("👍", to: 1, in: id, by: 2) } == .forbidden)
        try chat.send("two", to: id, by: 0)
        _ = try chat.commands.add([chat.people[2]], to: id, by: chat.people[0], in: chat.store)
        #expect(problem { _ = try chat.react("👍", to: 1, in: id, by: 2) } == .forbidden)
        #expect(problem { _ = try chat.react("👍", to: 2, in: id, by: 2) } == .notFound)
        let list = try chat.commands.reactions(
            to: 1, in: id, emoji: nil, after: 0, limit: 9, by: chat.people[2], store: chat.store)
        #expect(list.reactions.isEmpty)
    }

    @Test("nobody reacts or pins before a request is accepted")
    func request() throws {
        let chat = Chat(people: 2, areFriends: false)
        let id = try chat.direct(0, 1)
        try chat.send("one", to: id, by: 0)
        for person in 0...1 {
            #expect(problem { _ = try chat.react("👍", to: 1, in: id, by: person) } == .forbidden)
            #expect(
                problem { _ = try chat.commands.pin(1, in: id, by: chat.people[person], store: chat.store) }
                    == .forbidden)
        }
        _ = try chat.commands.accept(id, by: chat.people[1], in: chat.store)
        #expect(try chat.react("👍", to: 1, in: id, by: 1).reactions.count == 1)
    }

    @Test("pins are bounded, newest first, seen by number, and end with the message")
    func pins() throws {
        var chat = Chat(people: 4)
        var limits = ConversationLimits()
        limits.pins = 3
        chat.commands = ConversationCommands.quiet(limits)
        let id = try chat.group([1, 2])
        for number in 1...5 { try chat.send("\(number)", to: id, by: 0) }
        func pin(_ number: Int64, by person: Int = 1) throws -> [Int64] {
            let found = try chat.commands.pin(number, in: id, by: chat.people[person], store: chat.store)
            return found.pins
        }
        func pins(by person: Int) throws -> [Int64] {
            let found = try chat.commands.get(id, by: chat.people[person], in: chat.store)
            return found.pins
        }
        for number: Int64 in [1, 3, 1, 2] { _ = try pin(number) }
        #expect(try pins(by: 2) == [2, 3, 1])
        #expect(problem { _ = try pin(4) } == .conflict)
        _ = try chat.commands.delete(3, in: id, by: chat.people[0], store: chat.store)
        #expect(try pins(by: 0) == [2, 1])
        #expect(problem { _ = try pin(3) } == .conflict)
        _ = try chat.commands.add([chat.people[3]], to: id, by: chat.people[0], in: chat.store)
        try chat.send("6", to: id, by: 0)
        #expect(try pin(6) == [6, 2, 1] && pins(by: 3) == [6])
        for _ in 0..<2 {
            let found = try chat.commands.unpin(2, in: id, by: chat.people[2], store: chat.store)
            #expect(found.pins == [6, 1])
        }
        let closed = ConversationSettings(write: .admins)
        _ = try chat.commands.change(id, settings: closed, by: chat.people[0], in: chat.store)
        #expect(problem { _ = try pin(4) } == .forbidden)
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        #expect(try pins(by: 2) == [6, 1], "as they were")
    }

    @Test("pins of somebody who is blocked are their own")
    func withheldPins() throws {
        let chat = Chat(people: 2)
        let id = try chat.direct(0, 1)
        for number in 1...3 { try chat.send("\(number)", to: id, by: 1) }
        func pins(by person: Int) throws -> [Int64] {
            let found = try chat.commands.get(id, by: chat.people[person], in: chat.store)
            return found.pins
        }
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        for number: Int64 in 1...2 { _ = try chat.commands.pin(number, in: id, by: chat.people[0], store: chat.store) }
        _ = try chat.commands.pin(1, in: id, by: chat.people[1], store: chat.store)
        chat.store.blocks = []
        #expect(try pins(by: 0) == [1, 2] && pins(by: 1) == [1])
        // Nor are they undone by somebody who does not see them.
        _ = try chat.commands.unpin(2, in: id, by: chat.people[1], store: chat.store)
        _ = try chat.commands.unpin(1, in: id, by: chat.people[1], store: chat.store)
        #expect(try pins(by: 0) == [2, 1] && pins(by: 1) == [])
    }
}

extension Chat {
    func react(_ emoji: String, to number: Int64, in id: ConversationID, by person: Int) throws -> SeenMessage {
        try commands.react(with: ReactionEmoji(emoji), to: number, in: id, by: people[person], store: store)
    }

    func direct(_ one: Int, _ other: Int) throws -> ConversationID {
        try commands.createDirect(with: people[other], id: newID(), by: people[one], in: store).found.conversation.id
    }
}
