import Testing

@testable import switchboard_load

@Suite("What a run of chat reads, holds and plans")
struct ChatFrameTests {
    private static let client = ChatClientID(run: 0xABC_DEF1, worker: 3, serial: 70_000, due: 1_234_567_890)

    private static func message(_ number: Int, _ more: String = "") -> String {
        """
        {"conversation":"0192","number":\(number),"version":\(number),"clientID":"\(client.bits.text)",\
        "author":"00000000-0000-7000-8000-000000000009","sentAt":"2026-11-25T03:52:17.902Z","kind":"text",\
        "text":"a \\"quoted, {text}\\"","ranges":[{"kind":"link","start":0,"length":3}],"textVersion":\(number)\(more)}
        """
    }

    private static func frame(_ text: String) throws -> ChatFrame {
        let bytes = Array(text.utf8)
        let frame = ChatFrame(bytes.span)
        return try #require(frame)
    }

    @Test("a client id carries what it was made of")
    func clientIDs() throws {
        let text = Self.client.bits.text
        #expect(text.count == 36 && text.dropFirst(14).first == "4")
        let read = try #require(UUIDBits(text).flatMap { ChatClientID($0) })
        #expect(read == Self.client && read.key == MessageKey(3 << 32 | 70_000))
        #expect(UUIDBits("0192") == nil && UUIDBits("zz") == nil)
        #expect(ChatClientID(try #require(UUIDBits("00000000-0000-7000-8000-000000000009"))) == nil)
    }

    @Test("rows of a conversation")
    func rows() throws {
        let frame = try Self.frame(
            #"{"stream":"conversation:0192","rows":[{"member":{"user":"u"}},{"message":\#(Self.message(4))},"#
                + #"{"message":\#(Self.message(5, #","editedAt":"2026-11-25T03:52:18.000Z""#))}],"epoch":"e","after":3,"#
                + #""upTo":5,"gap":[1,2]}"#)
        #expect(frame.hasRows && frame.stream == "conversation:0192" && frame.epoch == "e")
        #expect((frame.after, frame.upTo) == (3, 5) && frame.gap == 1...2)
        #expect(frame.messages.map(\.number) == [4, 5] && frame.messages.map(\.isUnchanged) == [true, false])
        #expect(frame.messages[0].clientID == Self.client.bits && frame.messages[0].author.low & 0xF == 9)
        #expect(frame.messages[0].sentAt == 20_261_125_035_217_902)
    }

    @Test("results, pages and inboxes")
    func results() throws {
        let sent = try Self.frame(#"{"id":7,"result":{"message":\#(Self.message(2)),"duplicate":true}}"#)
        #expect(sent.id == 7 && sent.isDuplicate && sent.messages.map(\.number) == [2])
        let page = try Self.frame(
            #"{"id":8,"result":{"messages":[\#(Self.message(1)),\#(Self.message(2, #","deletedAt":"x""#))],"#
                + #""range":[1,2],"hasEarlier":false,"hasLater":true,"position":["e",12]}}"#)
        #expect(page.messages.map(\.isDeleted) == [false, true] && page.hasLater && page.sequence == 12)
        let inbox = try Self.frame(
            #"{"id":9,"result":{"conversations":[{"id":"C","conversation":{"id":"C"},"membership":{"role":"member","#
                + #""spans":[{"from":1,"until":2},{"from":5}],"read":4},"lastMessage":\#(Self.message(6)),"unread":3,"#
                + #""counter":8,"activity":2}],"totals":{"unread":1},"nextCursor":"2.C","position":["e",9]}}"#)
        #expect(inbox.inbox.map(\.conversation) == ["C"] && inbox.nextCursor == "2.C")
        #expect((inbox.inbox[0].unread, inbox.inbox[0].readUpTo, inbox.inbox[0].counter) == (3, 5, 8))
        #expect(inbox.inbox[0].lastMessage?.number == 6)
        let refused = try Self.frame(#"{"id":3,"error":{"title":"t","type":"rate_limited","status":429}}"#)
        #expect(refused.id == 3 && refused.error == "rate_limited")
        let made = try Self.frame(#"{"id":4,"result":{"conversation":{"id":"C9","kind":"group"},"people":[]}}"#)
        #expect(made.conversation == "C9")
    }

    private static func seen(_ number: Int64, changed version: Int64? = nil) -> SeenMessage {
        var message = SeenMessage()
        (message.number, message.version) = (number, version ?? number)
        message.clientID = UUIDBits(high: 0, low: UInt64(number))
        message.isUnchanged = version == nil
        return message
    }

    @Test("what a listener was not sent is missing, unless it was told of a gap")
    func holes() {
        var held = HeldConversation()
        held.take(snapshot: [Self.seen(5)], epoch: "e", sequence: 5)
        #expect(held.take(rows: [Self.seen(8)], epoch: "e", after: 5, upTo: 8, gap: 6...7).count == 1)
        #expect(held.missing == [] && held.isInGap(6) && held.violations == [])
        _ = held.take(rows: [Self.seen(10, changed: 12)], epoch: "e", after: 8, upTo: 12, gap: nil)
        #expect(held.missing == [9])
        // One that was edited comes at the place of its edit.
        _ = held.take(rows: [Self.seen(9, changed: 13)], epoch: "e", after: 12, upTo: 13, gap: nil)
        #expect(held.missing == [] && held.violations == [] && held.position == #"["e",13,5,10]"#)
        // One of before is not held.
        #expect(held.take(rows: [Self.seen(2, changed: 14)], epoch: "e", after: 13, upTo: 14, gap: nil) == [])
        _ = held.take(rows: [], epoch: "e", after: 16, upTo: 17, gap: nil)
        _ = held.take(rows: [], epoch: "f", after: 17, upTo: 17, gap: nil)
        var other = Self.seen(5, changed: 18)
        other.clientID = UUIDBits(high: 1, low: 1)
        _ = held.take(rows: [other], epoch: "e", after: 17, upTo: 18, gap: nil)
        #expect(held.violations.count == 3)
    }

    @Test("pairs meet once, and conversations are spread evenly", arguments: [2, 4, 10])
    func plans(_ users: Int) {
        let pairs = ChatPlan.pairs(of: users)
        let plan = ChatPlan(
            users: users, pairs: pairs, groups: 6, groupSize: 2, senders: 1, listeners: 1, inboxListeners: 1)
        let direct = plan.conversations.filter(\.isDirect)
        #expect(Set(direct.map { Set($0.members) }).count == pairs)
        #expect(direct.allSatisfy { Set($0.members).count == 2 && $0.members.allSatisfy((0..<users).contains) })
        #expect(Set(direct.prefix(users / 2).flatMap(\.members)).count == users)
        #expect(plan.conversations.allSatisfy { $0.senders == [$0.members[0]] && $0.listeners == [$0.members[1]] })
        #expect(plan.conversations.count == pairs + 6)
    }
}
