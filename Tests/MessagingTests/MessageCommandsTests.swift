import Languages
import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Messages")
struct MessageCommandsTests {
    @Test("numbers are dense, times never fall, and a repetition has the first result")
    func sending() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let first = try chat.send("**hi** <@all>", to: id, by: 0)
        chat.store.now = chat.store.now.adding(seconds: -60)
        let second = try chat.send("there", to: id, by: 1, replyTo: 1)
        #expect(
            [first.number, second.number] == [1, 2] && second.sentAt == first.sentAt && second.version > first.version)
        #expect(first.ranges.map(\.kind) == [.bold, .mention] && second.replyTo == 1)

        let outgoing = OutgoingMessage(clientID: chat.newID(), text: try MessageText("once"), digest: [1])
        let sent = try chat.commands.send(outgoing, to: id, by: chat.people[0], in: chat.store)
        // Also after the sender has left.
        try chat.commands.leave(id, by: chat.people[0], in: chat.store)
        let again = try chat.commands.send(outgoing, to: id, by: chat.people[0], in: chat.store)
        #expect(!sent.isDuplicate && again.isDuplicate && sent.message == again.message && sent.message.number == 3)
        var other = outgoing
        other.digest = [2]
        #expect(
            problem { _ = try chat.commands.send(other, to: id, by: chat.people[0], in: chat.store) } == .clientIDReused
        )
        // What others do with it later is not told by a repetition.
        _ = try chat.commands.react(
            with: ReactionEmoji("👍"), to: 3, in: id, by: chat.people[1], store: chat.store)
        try chat.send("yes", to: id, by: 1, replyTo: 3)
        let later = try chat.commands.send(outgoing, to: id, by: chat.people[0], in: chat.store)
        #expect(later.isDuplicate && later.message.version == sent.message.version)
        #expect(later.message.reactions.isEmpty && later.message.replies == 0)
        // Another author's id is another one.
        #expect(try chat.commands.send(outgoing, to: id, by: chat.people[1], in: chat.store).message.number == 5)
    }

    @Test("who sees a message no more learns by a repetition only that it was stored")
    func repetitionWithoutAccess() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let (ben, store) = (chat.people[1], chat.store)
        let outgoing = OutgoingMessage(clientID: chat.newID(), text: try MessageText("once"), digest: [1])
        func send() throws -> SeenMessage { try chat.commands.send(outgoing, to: id, by: ben, in: store).message }
        func tellsNothing(_ again: SeenMessage, of sent: SeenMessage) -> Bool {
            (again.number, again.clientID, again.author, again.sentAt, again.kind)
                == (sent.number, sent.clientID, sent.author, sent.sentAt, sent.kind)
                && (again.text, again.version, again.textVersion, again.replies) == (nil, 0, 0, 0)
                && again.reactions.isEmpty && again.deletedAt == nil && again.editedAt == nil
        }
        let sent = try send()
        _ = try chat.react("👍", to: sent.number, in: id, by: 0)
        try chat.send("yes", to: id, by: 0, thread: sent.number)
        #expect(try send().replies == 1)
        // One that they have deleted for themselves, and one of a group that they have left and cleared.
        _ = try chat.commands.hide(sent.number, in: id, by: ben, store: store)
        #expect(try tellsNothing(send(), of: sent))
        try chat.commands.leave(id, by: ben, in: store)
        try chat.commands.clear(id, by: ben, in: store)
        _ = try chat.commands.delete(sent.number, in: id, by: chat.people[0], store: store)
        #expect(try tellsNothing(send(), of: sent))
    }

    @Test("every response has a message as its reader's page has it", arguments: [true, false])
    func responses(isDirect: Bool) throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let chat = Chat(people: 2)
            let id = try isDirect ? chat.direct(0, 1) : chat.group([1])
            let (commands, store) = (chat.commands, chat.store)
            var sent: [(person: Int, outgoing: OutgoingMessage)] = []
            for _ in 0..<40 {
                var person = Int.random(in: 0...1, using: &random)
                let number = Int64.random(in: 1...6, using: &random)
                let text = try MessageText("text \(Int.random(in: 0..<1000, using: &random))")
                let emoji = try ReactionEmoji(["👍", "🎉"].randomElement(using: &random) ?? "👍")
                var response: SeenMessage?
                switch Int.random(in: 0..<10, using: &random) {
                case 0 where isDirect:
                    let pair = [chat.people[0], chat.people[1]]
                    if store.blocks.remove(pair) == nil { store.blocks.insert(pair) }
                case 0:
                    try chat.commands.leave(id, by: chat.people[1], in: store)
                    guard Bool.random(using: &random) else { continue }
                    _ = try chat.commands.add([chat.people[1]], to: id, by: chat.people[0], in: store)
                case 1:
                    let version = store.message(number, in: id)?.textVersion
                    response = try? commands.edit(
                        number, in: id, text: text, basedOn: version, by: chat.people[person], store: store)
                case 2: response = try? commands.delete(number, in: id, by: chat.people[person], store: store)
                case 3...4:
                    response = try? commands.react(
                        with: emoji, to: number, in: id, by: chat.people[person], store: store)
                case 5:
                    response = try? commands.removeReaction(
                        emoji, to: number, in: id, by: chat.people[person], store: store)
                case 6:
                    response = try? commands.setLanguage(
                        LanguageTag("es"), of: number, in: id, by: chat.people[person], store: store)
                case 7:
                    guard let again = sent.randomElement(using: &random) else { continue }
                    person = again.person
                    response = try commands.send(again.outgoing, to: id, by: chat.people[person], in: store).message
                default:
                    var outgoing = OutgoingMessage(clientID: chat.newID(), text: text, digest: [1])
                    if Bool.random(using: &random) { outgoing.thread = number }
                    response = try? commands.send(outgoing, to: id, by: chat.people[person], in: store).message
                    if response != nil { sent.append((person, outgoing)) }
                }
                guard let response else { continue }
                let shown = try? commands.message(
                    response.number, in: id, by: chat.people[person], store: store)
                #expect(shown == response || shown == nil && response.version == 0, "seed \(seed)")
            }
        }
    }

    @Test("who has come back does nothing with what was written before they left")
    func changesOfBefore() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let (commands, store, ben) = (chat.commands, chat.store, chat.people[1])
        let number = try chat.send("as it was", to: id, by: 1).number
        _ = try commands.star(number, in: id, isStarred: true, by: ben, store: store)
        _ = try commands.pin(number, in: id, by: ben, store: store)
        try commands.leave(id, by: ben, in: store)
        try chat.send("meanwhile", to: id, by: 0)
        _ = try commands.add([ben], to: id, by: chat.people[0], in: store)
        let elsewhere = try chat.group([1])
        func outgoing(_ change: (inout OutgoingMessage) -> Void) throws -> OutgoingMessage {
            var outgoing = OutgoingMessage(clientID: chat.newID(), text: try MessageText("x"), digest: [1])
            change(&outgoing)
            return outgoing
        }
        let forward = OutgoingMessage(clientID: chat.newID(), forward: MessageReference(id, number), digest: [1])
        let reply = try outgoing { $0.replyTo = number }
        let inThread = try outgoing { $0.thread = number }
        let later = store.now.adding(seconds: 60)
        let same = try MessageText("as it was")
        let other = try MessageText("something else")
        let emoji = try ReactionEmoji("👍")
        let spanish = try LanguageTag("es")
        let changes: [(what: String, field: String?, change: () throws -> Void)] = [
            ("edit", nil, { _ = try commands.edit(number, in: id, text: other, basedOn: nil, by: ben, store: store) }),
            ("same", nil, { _ = try commands.edit(number, in: id, text: same, basedOn: nil, by: ben, store: store) }),
            ("delete", nil, { _ = try commands.delete(number, in: id, by: ben, store: store) }),
            ("language", nil, { _ = try commands.setLanguage(spanish, of: number, in: id, by: ben, store: store) }),
            ("react", nil, { _ = try commands.react(with: emoji, to: number, in: id, by: ben, store: store) }),
            ("unreact", nil, { _ = try commands.removeReaction(emoji, to: number, in: id, by: ben, store: store) }),
            ("pin", nil, { _ = try commands.pin(number, in: id, by: ben, store: store) }),
            ("unpin", nil, { _ = try commands.unpin(number, in: id, by: ben, store: store) }),
            ("reply", "replyTo", { _ = try commands.send(reply, to: id, by: ben, in: store) }),
            ("thread", "thread", { _ = try commands.send(inThread, to: id, by: ben, in: store) }),
            ("later", "replyTo", { _ = try commands.schedule(reply, at: later, to: id, by: ben, in: store) }),
            ("forward", "forward", { _ = try commands.send(forward, to: elsewhere, by: ben, in: store) }),
        ]
        let before = try chat.page(of: id, by: 0).messages
        for (what, field, change) in changes {
            do {
                try change()
                Issue.record("\(what) is not refused")
            } catch let problem as Problem {
                #expect(problem.kind == .forbidden && problem.field == field, "\(what): \(problem)")
            }
        }
        #expect(try chat.page(of: id, by: 0).messages == before)
        // What was noted may be taken back, and is not noted anew.
        #expect(try !commands.star(number, in: id, isStarred: false, by: ben, store: store).isStarred)
        #expect(problem { _ = try commands.star(number, in: id, isStarred: true, by: ben, store: store) } == .forbidden)
        #expect(try commands.hide(number, in: id, by: ben, store: store).isHidden)
    }

    @Test("a reply is to what its author can see")
    func replies() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1])
        try chat.send("early", to: id, by: 0)
        _ = try chat.commands.add([chat.people[2]], to: id, by: chat.people[0], in: chat.store)
        for number: Int64 in [1, 2, 0, -1, .max] {
            #expect(problem { try chat.send("re", to: id, by: 2, replyTo: number) } == .notFound)
        }
        #expect(try chat.send("re", to: id, by: 1, replyTo: 1).number == 2)
    }

    @Test("a text is edited by its author, from the version that they saw")
    func editing() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let sent = try chat.send("one", to: id, by: 1)
        func edit(_ text: String, basedOn version: Int64, by person: Int = 1) throws -> SeenMessage {
            try chat.commands.edit(
                1, in: id, text: MessageText(text), basedOn: version, by: chat.people[person], store: chat.store)
        }
        let edited = try edit("two", basedOn: sent.textVersion)
        #expect(edited.text == "two" && edited.editedAt != nil && edited.textVersion > sent.textVersion)
        #expect(try edit("two", basedOn: sent.textVersion) == edited, "a repetition")
        #expect(problem { _ = try edit("three", basedOn: sent.textVersion) } == .conflict)
        #expect(problem { _ = try edit("three", basedOn: edited.textVersion, by: 0) } == .forbidden)
        _ = try edit("three", basedOn: edited.textVersion)
        let former = try chat.commands.edits(of: 1, in: id, by: chat.people[0], store: chat.store)
        #expect(former.map(\.text) == ["one", "two"])
    }

    @Test("a former text has its ranges with it, and else they are found when it is read")
    func rangesOfFormerTexts() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let sent = try chat.send("see https://example.org", to: id, by: 0)
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("see below"), basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        let former = try #require(chat.store.edits(of: 1, in: id).first)
        #expect(former.storedRanges == sent.ranges && sent.ranges.map(\.kind) == [.link])
        var older = former
        older.storedRanges = nil
        #expect(older.ranges == sent.ranges)
    }

    @Test("a deleted message is a number without text, former ones included")
    func deleting() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let sent = try chat.send("secret", to: id, by: 1)
        _ = try chat.commands.edit(
            1, in: id, text: MessageText("hidden"), basedOn: sent.textVersion, by: chat.people[1], store: chat.store)
        #expect(
            problem { _ = try chat.commands.delete(1, in: id, by: chat.people[2], store: chat.store) } == .forbidden)
        let deleted = try chat.commands.delete(1, in: id, by: chat.people[0], store: chat.store)
        #expect(deleted.text == nil && deleted.ranges.isEmpty && deleted.deletedAt != nil)
        #expect(try chat.commands.delete(1, in: id, by: chat.people[1], store: chat.store) == deleted)
        #expect(try chat.commands.edits(of: 1, in: id, by: chat.people[1], store: chat.store).isEmpty)
        #expect(
            problem {
                _ = try chat.commands.edit(
                    1, in: id, text: MessageText("x"), basedOn: deleted.textVersion, by: chat.people[1],
                    store: chat.store)
            } == .conflict)
        #expect(try chat.page(of: id, by: 2).messages == [deleted])
    }

    @Test("messages to somebody who has blocked their author are the author's alone, for ever")
    func withheld() throws {
        let chat = Chat(people: 2)
        let id = try chat.commands.createDirect(
            with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
        )
        .found.conversation.id
        try chat.send("one", to: id, by: 0)
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        try chat.send("two", to: id, by: 0)
        chat.store.blocks = []
        try chat.send("three", to: id, by: 0)
        #expect(try chat.texts(id, by: 0) == ["one", "two", "three"])
        #expect(try chat.texts(id, by: 1) == ["one", "three"])
        #expect(
            problem { _ = try chat.commands.message(2, in: id, by: chat.people[1], store: chat.store) } == .notFound)
        #expect(problem { _ = try chat.commands.delete(2, in: id, by: chat.people[1], store: chat.store) } == .notFound)
        #expect(problem { try chat.send("re", to: id, by: 1, replyTo: 2) } == .notFound)
    }

    @Test("texts that were written while blocked are their author's alone, and later ones are not")
    func withheldEdits() throws {
        let chat = Chat(people: 2)
        let (ann, ben) = (chat.people[0], chat.people[1])
        let id = try chat.commands.createDirect(with: ben, id: chat.newID(), by: ann, in: chat.store).found.conversation
            .id
        var shown = try chat.send("one", to: id, by: 0)
        func edit(_ text: String) throws {
            shown = try chat.commands.edit(
                1, in: id, text: MessageText(text), basedOn: shown.textVersion, by: ann, store: chat.store)
        }
        func former(_ person: Int) throws -> [String] {
            try chat.commands.edits(of: 1, in: id, by: chat.people[person], store: chat.store).map(\.text)
        }
        let before = try chat.page(of: id, by: 1).messages
        chat.store.blocks.insert([ann, ben])
        try edit("two")
        try edit("three")
        #expect(try chat.page(of: id, by: 1).messages == before, "nothing has changed for the other")
        #expect(try former(1) == [] && chat.texts(id, by: 0) == ["three"] && former(0) == ["one", "two"])
        chat.store.blocks = []
        try edit("four")
        #expect(try chat.texts(id, by: 1) == ["four"])
        #expect(try former(1) == ["one"] && former(0) == ["one", "two", "three"])
        _ = try chat.commands.delete(1, in: id, by: ann, store: chat.store)
        #expect(try chat.texts(id, by: 1) == [""])
    }

    @Test("pages both ways and around a message speak for all numbers of their range")
    func pages() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        for number in 1...10 { try chat.send("\(number)", to: id, by: number % 2) }
        func page(_ anchor: PageAnchor, _ limit: Int = 3) throws -> ([Int64], ClosedRange<Int64>?, Bool, Bool) {
            let page = try chat.page(anchor, of: id, limit: limit, by: 0)
            return (page.messages.map(\.number), page.range, page.hasEarlier, page.hasLater)
        }
        #expect(try page(.newest) == ([8, 9, 10], 8...10, true, false))
        #expect(try page(.before(8)) == ([5, 6, 7], 5...7, true, true))
        #expect(try page(.before(3)) == ([1, 2], 1...2, false, true))
        #expect(try page(.before(1)) == ([], nil, false, true))
        #expect(try page(.after(8)) == ([9, 10], 9...10, true, false))
        #expect(try page(.after(10)) == ([], nil, true, false))
        #expect(try page(.around(5)) == ([4, 5, 6], 4...6, true, true))
        #expect(try page(.around(1), 4) == ([1, 2, 3], 1...3, false, true))
        #expect(try page(.before(.max)) == ([8, 9, 10], 8...10, true, false))
        #expect(try page(.after(.min)) == ([1, 2, 3], 1...3, false, true))
        #expect(try page(.around(.min)).0 == [1] && page(.around(.max)).0 == [9, 10])
    }

    @Test("a page from a time on begins with the first message of then that may be seen")
    func pagesFromATime() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let start = chat.store.now
        // Two at a time, an hour apart.
        for hour in 0..<5 {
            chat.store.now = start.adding(milliseconds: Int64(hour) * 3_600_000)
            for _ in 0..<2 { try chat.send("\(hour)", to: id, by: 0) }
        }
        func page(_ milliseconds: Int64, by person: Int = 0) throws -> ([Int64], Bool, Bool) {
            let page = try chat.page(.from(start.adding(milliseconds: milliseconds)), of: id, limit: 3, by: person)
            return (page.messages.map(\.number), page.hasEarlier, page.hasLater)
        }
        let hour: Int64 = 3_600_000
        #expect(try page(-hour) == ([1, 2, 3], false, true))
        #expect(try page(0) == ([1, 2, 3], false, true))
        #expect(try page(1) == ([3, 4, 5], true, true))
        #expect(try page(2 * hour) == ([5, 6, 7], true, true))
        #expect(try page(4 * hour - 1) == ([9, 10], true, false))
        #expect(try page(4 * hour + 1) == ([], true, false))
        // What somebody has deleted for themselves is passed over, and who has left sees nothing of later.
        _ = try chat.commands.hide(5, in: id, by: chat.people[1], store: chat.store)
        try chat.commands.leave(id, by: chat.people[1], in: chat.store)
        chat.store.now = start.adding(milliseconds: 6 * hour)
        try chat.send("late", to: id, by: 0)
        #expect(try page(2 * hour, by: 1) == ([6, 7, 8], true, true))
        #expect(try page(5 * hour, by: 1) == ([], true, false))
    }

    @Test("a page ends where its texts have so many bytes, and has one message at least")
    func pageBytes() throws {
        let chat = Chat(people: 1)
        let id = try chat.group([])
        for _ in 1...9 { try chat.send(String(repeating: "long ", count: 120), to: id, by: 0) }
        var limits = ConversationLimits()
        /// Of 1,000 bytes each.
        func page(_ anchor: PageAnchor, _ bytes: Int) throws -> ([Int64], ClosedRange<Int64>?, Bool, Bool) {
            limits.pageBytes = bytes
            let commands = ConversationCommands(limits: limits)
            let page = try commands.page(anchor, of: id, limit: 6, by: chat.people[0], in: chat.store)
            return (page.messages.map(\.number), page.range, page.hasEarlier, page.hasLater)
        }
        for bytes in [1, 1_900] {
            #expect(try page(.newest, bytes) == ([9], 9...9, true, false))
            #expect(try page(.before(5), bytes) == ([4], 4...4, true, true))
            #expect(try page(.after(5), bytes) == ([6], 6...6, true, true))
            #expect(try page(.around(5), bytes) == ([5], 5...5, true, true))
        }
        #expect(try page(.newest, 3_000) == ([7, 8, 9], 7...9, true, false))
        #expect(try page(.after(0), 3_000) == ([1, 2, 3], 1...3, false, true))
        #expect(try page(.around(5), 3_000) == ([4, 5, 6], 4...6, true, true))
        #expect(try page(.around(1), 3_000) == ([1, 2, 3], 1...3, false, true))
        #expect(try page(.around(9), 10_000) == ([7, 8, 9], 7...9, true, false))
        #expect(try page(.around(5), 10_000) == ([3, 4, 5, 6, 7, 8], 3...8, true, true))
    }

    @Test("whatever happens, pages from either end have the same messages: those that may be seen")
    func model() throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<40 {
            let chat = Chat(people: 3)
            let id = try chat.group([1, 2])
            var seen: [Set<Int64>] = [[], [], []]
            var isIn = [true, true, true]
            for _ in 0..<60 {
                let person = Int.random(in: 1...2, using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    try chat.commands.leave(id, by: chat.people[person], in: chat.store)
                    isIn[person] = false
                case 1:
                    _ = try chat.commands.add([chat.people[person]], to: id, by: chat.people[0], in: chat.store)
                    isIn[person] = true
                case 2:
                    let number = Int64.random(in: 1...20, using: &random)
                    _ = try? chat.commands.delete(number, in: id, by: chat.people[0], store: chat.store)
                default:
                    let message = try chat.send("x", to: id, by: 0)
                    for reader in 0...2 where isIn[reader] { seen[reader].insert(message.number) }
                }
            }
            for reader in 0...2 {
                // Who has left and has seen nothing has never been there.
                guard isIn[reader] || !seen[reader].isEmpty else {
                    #expect(problem { _ = try chat.page(of: id, by: reader) } == .notFound, "seed \(seed)")
                    continue
                }
                let limit = Int.random(in: 1...7, using: &random)
                let backwards = try walk(chat, id, reader, limit, from: .newest) { .before($0.lowerBound) }
                let forwards = try walk(chat, id, reader, limit, from: .after(0)) { .after($0.upperBound) }
                #expect(backwards.sorted() == seen[reader].sorted(), "seed \(seed)")
                #expect(forwards == seen[reader].sorted(), "seed \(seed)")
            }
        }
    }

    private func walk(
        _ chat: Chat, _ id: ConversationID, _ reader: Int, _ limit: Int, from anchor: PageAnchor,
        next: (ClosedRange<Int64>) -> PageAnchor
    ) throws -> [Int64] {
        var numbers: [Int64] = []
        var anchor = anchor
        for _ in 0..<200 {
            let page = try chat.page(anchor, of: id, limit: limit, by: reader)
            numbers += page.messages.map(\.number)
            guard let range = page.range else { break }
            anchor = next(range)
        }
        return numbers
    }
}
