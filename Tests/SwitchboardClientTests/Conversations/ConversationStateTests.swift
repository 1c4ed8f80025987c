import Foundation
import Testing

@testable import SwitchboardClient

/// Single rules of a conversation's state.
struct ConversationStateTests {
    @Test func aGapAfterAnEmptyConversationHasEarlierMessages() throws {
        var server = ModelConversation()
        var state = ConversationState(id: server.id)
        let (snapshot, position) = server.snapshot(window: 10)
        state.apply(snapshot, at: position)
        state.resumed()
        for index in 0..<30 { server.send("m\(index)") }
        state.resume()
        for frame in try #require(server.resume(state.resumption, window: 10, part: 100)) {
            #expect(state.apply(frame) == .applied)
        }
        state.resumed()
        let conversation = OpenConversation(state)
        #expect(conversation.run?.first == 21 && conversation.hasEarlier)
        #expect(conversation.state.apply(server.page(1...20), before: 21) == .applied)
        #expect(conversation.run?.first == 1 && !conversation.hasEarlier)
    }

    @Test func anEpochReplacesEverything() {
        var server = ModelConversation()
        server.send("lost")
        var state = ConversationState(id: server.id)
        let (before, position) = server.snapshot(window: 10)
        state.apply(before, at: position)
        var restored = ModelConversation()
        restored.restore()
        let (after, newPosition) = restored.snapshot(window: 10)
        state.apply(after, at: newPosition)
        #expect(state.messages.isEmpty && state.ranges.all.isEmpty && state.takeChanges().isReplaced)
    }

    @Test func anInboxIsOrderedAndComplete() {
        func row(_ id: ConversationID, _ activity: Int, _ counter: Int, unread: Int = 0, gone: Bool? = nil) -> InboxRow
        {
            InboxRow(id: id, unread: unread, counter: counter, activity: activity, gone: gone)
        }
        var inbox = InboxState()
        let page = InboxPage(
            conversations: [row("a", 9, 9, unread: 1), row("b", 8, 8)], totals: .init(unread: 2), nextCursor: "8.b")
        inbox.apply(page, at: StreamPosition(epoch: "e", sequence: 9))
        #expect(inbox.shown.map(\.id) == ["a", "b"] && inbox.unread == 2)
        // A row from below the window is not shown where others may be missing, but when it moves up.
        let renamed = RowFrame(rows: [row("d", 2, 10)], epoch: "e", after: 9, upTo: 10)
        #expect(inbox.apply(renamed) == .applied && inbox.shown.count == 2)
        let moved = RowFrame(rows: [row("d", 11, 11), row("b", 8, 12, gone: true)], epoch: "e", after: 10, upTo: 12)
        #expect(inbox.isBelow(moved.rows[0]) && inbox.apply(moved) == .applied)
        #expect(inbox.shown.map(\.id) == ["d", "a"])
        #expect(inbox.apply(RowFrame(rows: [], epoch: "e", after: 14, upTo: 15)) == .hole)
        // A late page does not bring back what is gone.
        let late = InboxPage(
            conversations: [row("b", 8, 8), row("c", 1, 1, unread: 3)], totals: .init(unread: 2), nextCursor: nil,
            position: StreamPosition(epoch: "e", sequence: 9))
        #expect(inbox.apply(late, at: "8.b") == .applied)
        #expect(inbox.shown.map(\.id) == ["d", "a", "c"] && inbox.unread == 2 && inbox.boundary == nil)
    }
}
