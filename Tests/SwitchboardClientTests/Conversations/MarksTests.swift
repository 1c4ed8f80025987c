import Foundation
import Testing

@testable import SwitchboardClient

struct MarksTests {
    private func frame(_ text: String) throws -> RowFrame<MarksRow> {
        guard case .rows(_, .marks(let frame)) = try ServerFrame(Array(text.utf8)) else {
            throw SwitchboardError.invalidResponse(text)
        }
        return frame
    }

    private func snapshot(_ text: String) throws -> MarksSnapshot {
        try JSON.decode(MarksSnapshot.self, from: text.utf8)
    }

    @Test func marksOnlyRiseAndOthersAreAsTheyShow() throws {
        var state = MarksState()
        // A frame before the snapshot has nothing to be applied to.
        state.apply(
            try frame(
                #"{"stream": "marks:c1", "epoch": "e1", "after": 0, "upTo": 9, "rows": [{"marks": {"user": "me", "read": 9, "delivered": 9}}]}"#
            ))
        #expect(state.marks.read == 0 && state.position == nil)
        state.apply(
            try snapshot(
                #"{"marks": [{"user": "me", "read": 5, "delivered": 6}, {"user": "ben", "delivered": 8, "shown": [[0, 3], [5, 7]]}]}"#
            ), at: StreamPosition(epoch: "e1", sequence: 20))
        #expect(state.marks.read == 5 && state.marks.delivered == 6)
        #expect(state.marks.others["ben"]?.read == [1...3, 6...7])
        #expect(state.marks.readers(of: 3) == ["ben"] && state.marks.readers(of: 4).isEmpty)
        #expect(state.marks.receivers(of: 8) == ["ben"] && state.marks.receivers(of: 9).isEmpty)
        state.apply(
            try frame(
                #"{"stream": "marks:c1", "epoch": "e1", "after": 0, "upTo": 22, "rows": [{"marks": {"user": "me", "read": 4, "delivered": 9}}, {"marks": {"user": "ben", "delivered": 0, "shown": []}}, {"later": 1}]}"#
            ))
        #expect(state.marks.read == 5 && state.marks.delivered == 9 && state.position?.sequence == 22)
        #expect(state.marks.receivers(of: 1).isEmpty)
        // One of another epoch is followed by a snapshot, which replaces everything.
        state.apply(
            try frame(#"{"stream": "marks:c1", "epoch": "e2", "after": 0, "upTo": 1, "rows": []}"#))
        #expect(state.position?.epoch == "e1")
        state.apply(
            try snapshot(#"{"marks": [{"user": "me", "read": 1, "delivered": 1}]}"#),
            at: StreamPosition(epoch: "e2", sequence: 3))
        #expect(state.marks.read == 1 && state.position == StreamPosition(epoch: "e2", sequence: 3))
    }

    @Test func ofTwoNotesTheNewerOneCounts() throws {
        var state = MarksState()
        state.keep(OwnMessage(number: 4, starred: true, hidden: nil, reacted: [], counter: 7))
        state.keep(OwnMessage(number: 4, starred: false, hidden: nil, reacted: ["👍"], counter: 6))
        #expect(state.marks.own[4]?.starred == true)
        state.keep(OwnMessage(number: 4, starred: false, hidden: nil, reacted: ["👍"], counter: 8))
        #expect(state.marks.own[4]?.reacted == ["👍"])
    }

    @Test func whoDoesNotSaySoAgainHasStopped() {
        var book = TypingBook()
        book.apply(TypingEvent(user: "ben", state: .typing), at: 1_000)
        book.apply(TypingEvent(user: "cleo", state: .recording), at: 2_000)
        #expect(book.all == ["ben": .typing, "cleo": .recording] && book.deadline == 4_000)
        book.expire(4_000)
        #expect(book.all == ["cleo": .recording] && book.deadline == 5_000)
        book.apply(TypingEvent(user: "cleo", state: TypingActivity(rawValue: "stopped")), at: 4_500)
        #expect(book.all.isEmpty && book.deadline == nil)
    }

    @Test func whatIsClearedAndHiddenIsNotHeld() throws {
        var server = ModelConversation()
        for number in 1...6 { server.send("m\(number)") }
        var state = ConversationState(id: "c1")
        let (snapshot, position) = server.snapshot(window: 10)
        state.apply(snapshot, at: position)
        _ = state.takeChanges()
        state.hide([2, 9])
        #expect(state.messages.keys.sorted() == [1, 3, 4, 5, 6] && state.takeChanges().messages == [2])
        state.keep(
            Membership(
                role: .member, state: .member, joinedAt: Date(timeIntervalSince1970: 0), version: 1,
                spans: [.init(from: 4)]))
        #expect(state.messages.keys.sorted() == [5, 6] && state.start == 5)
        #expect(state.ranges.all.map(\.first) == [5] && state.takeChanges().removedBefore == 5)
        state.remove(before: 7)
        #expect(state.messages.isEmpty && state.ranges.all.isEmpty)
    }

    @Test func aTimeIsWrittenAsItIsRead() throws {
        let text = try JSON.encode(Mute(until: Date(timeIntervalSince1970: 1_700_000_000.5), mentions: false))
        #expect(String(decoding: text, as: UTF8.self).contains(#""until":"2023-11-14T22:13:20.500Z""#))
    }
}
