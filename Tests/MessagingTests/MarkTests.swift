import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Marks and receipts")
struct MarkTests {
    private func receipts(_ chat: Chat, _ number: Int64, _ id: ConversationID, by person: Int, limit: Int = 100) throws
        -> [Int: MessageReceipt]
    {
        var (found, cursor): ([Int: MessageReceipt], UserID?) = ([:], nil)
        repeat {
            let page = try chat.commands.receipts(
                of: number, in: id, after: cursor, limit: limit, by: chat.people[person], store: chat.store)
            for receipt in page.receipts { found[try #require(chat.people.firstIndex(of: receipt.user))] = receipt }
            cursor = page.next
        } while cursor != nil
        return found
    }

    @Test("who read and received what, and when")
    func history() throws {
        let chat = Chat(people: 4)
        let id = try chat.group([1, 2, 3])
        for number in 1...4 { try chat.send("\(number)", to: id, by: 0) }
        let start = chat.store.now
        func at(_ seconds: Int64) { chat.store.now = start.adding(seconds: seconds) }
        at(1)
        _ = try chat.mark(delivered: 4, id, by: 1)
        at(2)
        _ = try chat.mark(read: 2, id, by: 1)
        at(3)
        _ = try chat.mark(read: 9, id, by: 1)
        _ = try chat.mark(read: 1, delivered: 1, id, by: 1)
        at(4)
        _ = try chat.mark(delivered: 1, id, by: 2)
        for limit in [1, 100] {
            let first = try receipts(chat, 1, id, by: 3, limit: limit)
            #expect(first.keys.sorted() == [1, 2])
            #expect(first[1]?.readAt == start.adding(seconds: 2) && first[1]?.deliveredAt == start.adding(seconds: 1))
            #expect(first[2]?.isRead == false && first[2]?.deliveredAt == start.adding(seconds: 4))
        }
        // One's own are in the marks.
        #expect(try receipts(chat, 1, id, by: 1).keys.sorted() == [2])
        #expect(try receipts(chat, 3, id, by: 0)[1]?.readAt == start.adding(seconds: 3))
        #expect(try receipts(chat, 4, id, by: 0).keys.sorted() == [1])
        #expect(try chat.commands.ownMarks(in: id, by: chat.people[1], store: chat.store).marks.read == 4)
        let others = try chat.commands.othersMarks(in: id, by: chat.people[0], store: chat.store)
        #expect(others.map(\.marks.delivered).sorted() == [1, 4] && others.allSatisfy { $0.marks.read == 0 })
        // The times are kept for 90 days, and of the newest messages.
        at(91 * 86_400)
        let late = try receipts(chat, 3, id, by: 0)[1]
        #expect(late?.isRead == true && late?.readAt == nil)
        for person in [0, 4] where person < 4 { #expect(try receipts(chat, 1, id, by: person)[0] == nil) }
    }

    @Test("of older messages it is kept who read them, and not when")
    func timed() throws {
        var chat = Chat(people: 2)
        var limits = ConversationLimits()
        limits.timedReceipts = 3
        chat.commands = ConversationCommands.quiet(limits)
        let id = try chat.group([1])
        for number in 1...8 {
            try chat.send("\(number)", to: id, by: 0)
            _ = try chat.mark(read: Int64(number), id, by: 1)
        }
        for number: Int64 in 1...8 {
            let receipt = try #require(try receipts(chat, number, id, by: 0)[1])
            #expect(receipt.isRead && (receipt.readAt != nil) == (number >= 6), "\(number)")
        }
        #expect(chat.store.parts.rises.count == 6)
    }

    @Test("who sends no receipts shows none and sees none, and turning them on reveals nothing")
    func setting() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        for number in 1...9 { try chat.send("\(number)", to: id, by: 0) }
        chat.store.parts.withoutReceipts.insert(chat.people[1])
        _ = try chat.mark(read: 4, delivered: 9, id, by: 1)
        _ = try chat.mark(read: 5, id, by: 2)
        #expect(try receipts(chat, 1, id, by: 0).keys.sorted() == [2] && receipts(chat, 1, id, by: 1).isEmpty)
        #expect(try chat.commands.othersMarks(in: id, by: chat.people[1], store: chat.store).isEmpty)
        // The membership decides first.
        _ = try chat.commands.change(
            id, membership: MembershipChange(receipts: true), by: chat.people[1], in: chat.store)
        _ = try chat.mark(read: 6, id, by: 1)
        for number: Int64 in 1...9 {
            #expect((try receipts(chat, number, id, by: 0)[1]?.isRead ?? false) == (5...6).contains(number))
        }
        #expect(try receipts(chat, 5, id, by: 1).keys.sorted() == [2])
        _ = try chat.commands.change(
            id, membership: MembershipChange(receipts: false), by: chat.people[2], in: chat.store)
        _ = try chat.mark(read: 9, id, by: 2)
        #expect(try receipts(chat, 9, id, by: 0).isEmpty && receipts(chat, 5, id, by: 2).isEmpty)
    }

    @Test("no receipts before a request is accepted, and none of what was read before")
    func request() throws {
        let chat = Chat(people: 2, areFriends: false)
        let id = try chat.direct(0, 1)
        for number in 1...2 { try chat.send("\(number)", to: id, by: 0) }
        #expect(try chat.mark(read: 1, delivered: 2, id, by: 1).marks.read == 1)
        #expect(try receipts(chat, 1, id, by: 0).isEmpty)
        #expect(try chat.commands.othersMarks(in: id, by: chat.people[0], store: chat.store).map(\.marks.shown) == [])
        _ = try chat.commands.accept(id, by: chat.people[1], in: chat.store)
        #expect(try receipts(chat, 1, id, by: 0).isEmpty)
        _ = try chat.mark(read: 2, id, by: 1)
        #expect(try receipts(chat, 1, id, by: 0)[1]?.isRead != true)
        #expect(try receipts(chat, 2, id, by: 0)[1]?.isRead == true)
    }

    @Test("who has blocked the other shows nothing, and does not mark what is withheld")
    func blocked() throws {
        let chat = Chat(people: 2)
        let id = try chat.direct(0, 1)
        for number in 1...2 { try chat.send("\(number)", to: id, by: 0) }
        _ = try chat.mark(read: 1, id, by: 1)
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        for number in 3...4 { try chat.send("\(number)", to: id, by: 0) }
        #expect(try chat.mark(read: 4, delivered: 4, id, by: 1).marks.read == 2)
        #expect(try receipts(chat, 1, id, by: 0)[1]?.isRead == true)
        for number: Int64 in 2...4 { #expect(try receipts(chat, number, id, by: 0).isEmpty) }
    }

    @Test("who comes later has not read what was before, and who left is not asked about")
    func later() throws {
        let chat = Chat(people: 4)
        let id = try chat.group([1, 2])
        for number in 1...3 { try chat.send("\(number)", to: id, by: 0) }
        _ = try chat.mark(read: 3, id, by: 2)
        _ = try chat.commands.add([chat.people[3]], to: id, by: chat.people[0], in: chat.store)
        try chat.send("4", to: id, by: 0)
        _ = try chat.mark(read: 4, id, by: 3)
        #expect(try receipts(chat, 2, id, by: 0).keys.sorted() == [2])
        #expect(try receipts(chat, 4, id, by: 0).keys.sorted() == [3])
        #expect(problem { _ = try receipts(chat, 2, id, by: 3) } == .notFound)
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        #expect(try receipts(chat, 2, id, by: 0).isEmpty)
        #expect(problem { _ = try receipts(chat, 2, id, by: 2) } == .forbidden)
        #expect(problem { _ = try chat.mark(read: 1, id, by: 2) } == .forbidden)
        try chat.send("5", to: id, by: 0)
        _ = try chat.commands.add([chat.people[2]], to: id, by: chat.people[0], in: chat.store)
        #expect(try receipts(chat, 2, id, by: 2).isEmpty, "a time before they returned")
    }

    @Test("in large conversations others' marks are not shown and delivery is not kept")
    func large() throws {
        var chat = Chat(people: 3)
        var limits = ConversationLimits()
        limits.markedMembers = 2
        chat.commands = ConversationCommands.quiet(limits)
        let id = try chat.group([1, 2])
        for number in 1...2 { try chat.send("\(number)", to: id, by: 0) }
        _ = try chat.mark(read: 1, delivered: 2, id, by: 1)
        #expect(try chat.commands.othersMarks(in: id, by: chat.people[0], store: chat.store).isEmpty)
        #expect(try receipts(chat, 1, id, by: 0)[1]?.isRead == true && receipts(chat, 2, id, by: 0).isEmpty)
    }

    @Test("a send marks what was on the screen, and reading ends the flag of unread")
    func sending() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        for number in 1...3 { try chat.send("\(number)", to: id, by: 1) }
        _ = try chat.commands.change(
            id, membership: MembershipChange(isMarkedUnread: true), by: chat.people[0], in: chat.store)
        let before = try #require(chat.store.conversation(id)).sequence
        _ = try chat.mark(delivered: 3, id, by: 0)
        #expect(chat.store.membership(of: chat.people[0], in: id).isMarkedUnread)
        #expect(chat.store.conversation(id)?.sequence == before, "marks are no change of the conversation")
        var outgoing = OutgoingMessage(clientID: chat.newID(), text: try MessageText("x"), digest: [])
        outgoing.readUpTo = 2
        _ = try chat.commands.send(outgoing, to: id, by: chat.people[0], in: chat.store)
        #expect(try chat.commands.ownMarks(in: id, by: chat.people[0], store: chat.store).marks.read == 2)
        #expect(!chat.store.membership(of: chat.people[0], in: id).isMarkedUnread)
    }

    @Test("marks only rise, and show nothing that was not read with receipts on, whatever happens")
    func model() throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let chat = Chat(people: 3)
            let id = try chat.group([1, 2])
            var shown: Set<Int64> = []
            var before: MemberMarks?
            for _ in 0..<80 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0...2: try chat.send("x", to: id, by: 0)
                case 3:
                    _ = try chat.commands.change(
                        id, membership: MembershipChange(receipts: .some(.random(using: &random))),
                        by: chat.people[1], in: chat.store)
                case 4:
                    try chat.commands.leave(id, by: chat.people[1], in: chat.store)
                    try chat.send("y", to: id, by: 0)
                    _ = try chat.commands.add([chat.people[1]], to: id, by: chat.people[0], in: chat.store)
                default:
                    let last = chat.store.conversation(id)?.lastNumber ?? 0
                    let number = Int64.random(in: -1...(last + 3), using: &random)
                    let marks = try chat.mark(read: number, delivered: .random(in: 0...last, using: &random), id, by: 1)
                    let (read, wasRead) = (marks.marks.read, before?.marks.read ?? 0)
                    let isOn = chat.store.membership(of: chat.people[1], in: id).receipts ?? true
                    if isOn, read > wasRead {
                        let spans = chat.store.spans(of: chat.people[1], in: id)
                        shown.formUnion(((wasRead + 1)...read).filter { $0 > spans.from })
                    }
                    #expect(read >= wasRead && marks.marks.delivered >= before?.marks.delivered ?? 0, "seed \(seed)")
                    #expect(read <= last, "seed \(seed)")
                    before = marks
                }
            }
            let marks = try #require(before).marks
            guard marks.shown.count < ReadMarks.maxShown else { continue }
            let last = chat.store.conversation(id)?.lastNumber ?? 0
            #expect(Set((1...max(1, last)).filter { marks.isShownAsRead($0) }) == shown, "seed \(seed)")
        }
    }
}

extension Chat {
    func mark(read: Int64? = nil, delivered: Int64? = nil, _ id: ConversationID, by person: Int) throws -> MemberMarks {
        try commands.mark(read: read, delivered: delivered, in: id, by: people[person], store: store)
    }
}
