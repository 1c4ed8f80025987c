import Foundation
import Testing

@testable import SwitchboardClient

/// What a client keeps of summaries that it receives, and shows without a connection.
struct KeptSummariesTests {
    private typealias Fixture = StoredAnswersFixture

    @Test(.timeLimit(.minutes(1))) func whatWaitsToBeRemovedIsNotShown() async throws {
        let switchboard = try await Fixture.client()
        var summary = Summary(kind: .model, from: 1, to: 9, count: 9, items: [])
        summary.items = [5, 6].map { .init(kind: .point, text: "of \($0)", messages: [$0]) }
        await switchboard.realtime.keep(summary, of: SummaryScope(), asOf: 31, in: "c1", for: "u1")
        let messages = switchboard.messages(in: "c1")
        #expect(await messages.storedSummary()?.summary == summary)
        try await messages.hide(5)
        #expect(await messages.storedSummary()?.summary.items.map(\.messages) == [[6]])
        try await messages.clear()
        #expect(await messages.storedSummary() == nil)
        await switchboard.close()
    }

    @Test(.timeLimit(.minutes(1))) func aSummaryIsKeptWhereTheConversationIsKnown() async throws {
        let switchboard = try await Fixture.client(isFilled: false)
        let realtime = switchboard.realtime
        let summary = Summary(kind: .model, from: 1, to: 9, count: 9, items: [])
        #expect(await realtime.knownSequence(of: "c1") == nil)
        await realtime.keep(summary, of: SummaryScope(), asOf: nil, in: "c1", for: "u1")
        #expect(await switchboard.messages(in: "c1").storedSummary() == nil)
        // By what is stored, and by the list, which may be further.
        let store = try #require(await realtime.openedStore)
        _ = try StoredAnswersFixture(store)
        #expect(await realtime.knownSequence(of: "c1") == 31)
        var page = InboxPage(conversations: [], totals: .init(unread: 0))
        var last = try #require(try store.conversation("c1", limit: 1)?.messages[30])
        last.version = 77
        page.conversations = [InboxRow(id: "c1", lastMessage: last, counter: 1)]
        await realtime.deliverInbox(
            .snapshot(.inbox(page), StreamPosition(epoch: "e1", sequence: 1)), of: StreamName.inbox("u1"))
        #expect(await realtime.knownSequence(of: "c1") == 77)
        // Versions of before a restore of the server are others.
        last.version = 7
        page.conversations = [InboxRow(id: "c1", lastMessage: last, counter: 1)]
        await realtime.deliverInbox(
            .snapshot(.inbox(page), StreamPosition(epoch: "e2", sequence: 1)), of: StreamName.inbox("u1"))
        #expect(await realtime.knownSequence(of: "c1") == 7)
        page.conversations = [InboxRow(id: "c1", counter: 1)]
        await realtime.deliverInbox(
            .snapshot(.inbox(page), StreamPosition(epoch: "e3", sequence: 1)), of: StreamName.inbox("u1"))
        #expect(await realtime.knownSequence(of: "c1") == 0)
        // Of a call, nothing here knows whether what was said is still there.
        var scope = SummaryScope()
        scope.call = "call"
        await realtime.keep(summary, of: scope, asOf: 77, in: "c1", for: "u1")
        #expect(await switchboard.messages(in: "c1").storedSummary() == nil)
        await realtime.keep(summary, of: SummaryScope(), asOf: 77, in: "c1", for: "u1")
        #expect(await switchboard.messages(in: "c1").storedSummary()?.summary == summary)
        await switchboard.close()
    }
}
