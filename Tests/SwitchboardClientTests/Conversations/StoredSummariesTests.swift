import Foundation
import Testing

@testable import SwitchboardClient

/// What the store keeps of summaries.
struct StoredSummariesTests {
    private typealias Fixture = StoredAnswersFixture

    private func summary(_ numbers: [Int]..., seconds: Double = 0) -> StoredSummary {
        var scope = SummaryScope()
        scope.isUnread = true
        return StoredSummary(
            summary: Summary(
                kind: .model, engine: "m", from: 1, to: 30, count: 30,
                items: numbers.map { .init(kind: .point, text: "of \($0)", messages: $0) }),
            scope: scope, receivedAt: Fixture.now.addingTimeInterval(seconds))
    }

    private func items(_ fixture: Fixture, of id: ConversationID = "c1", at time: Date = Fixture.now) throws -> [[Int]]?
    {
        try fixture.store.summary(of: id, at: time)?.summary.items.map(\.messages)
    }

    /// As of the end of the fixture's conversation.
    private func filled(_ summary: StoredSummary, _ fixture: Fixture) throws -> Fixture {
        try fixture.store.save(summary, asOf: 31, of: "c1")
        return fixture
    }

    @Test func givesBackTheLastOne() throws {
        let fixture = try filled(summary([1]), Fixture())
        let last = summary([5, 6], [7], [40])
        try fixture.store.save(last, asOf: 31, of: "c1")
        #expect(try fixture.store.summary(of: "c1", at: Fixture.now) == last)
        #expect(try fixture.store.summary(of: "c2", at: Fixture.now) == nil)
        #expect(try !fixture.hasStored("of [1]"))
        // Where there was nothing to say.
        try fixture.store.save(summary(), asOf: 31, of: "c1")
        #expect(try fixture.store.summary(of: "c1", at: Fixture.now) == summary())
    }

    @Test(arguments: StoredAnswersTests.Change.allCases)
    func anItemGoesWithWhatItRestsOn(change: StoredAnswersTests.Change) throws {
        var fixture = try filled(summary([change.number], [6]), Fixture())
        try change.apply(to: &fixture)
        #expect(try items(fixture) == (change.isOfAll ? nil : [[6]]))
        #expect(try !fixture.hasStored("of [\(change.number)]"))
    }

    @Test func anItemStaysWithWhatItRestsOn() throws {
        var fixture = try filled(summary([5], [40], [41]), Fixture())
        try fixture.change(5) { _ in }
        // Messages that come later, edited before the summary was asked for, and after.
        for (number, textVersion) in [(40, 31), (41, 32)] {
            var message = try fixture.message(number)
            (message.textVersion, message.version, message.editedAt) = (textVersion, 99, Fixture.now)
            try fixture.receive(message)
        }
        #expect(try items(fixture) == [[5], [40]])
    }

    /// Messages that had not come when they were summarised have later versions than what was known.
    @Test func whatWasUnreadIsKeptAsItComes() throws {
        var fixture = try Fixture()
        try fixture.receive(fixture.message(39))
        fixture = try filled(summary([39], [40], [41], [42], [43], [44], []), fixture)
        #expect(try items(fixture) == [[39], [40], [41], [42], [43], [44]], "nothing rests on no message")
        try fixture.receive(fixture.message(40))
        try fixture.keep(InboxRow(id: "c1", lastMessage: fixture.message(41), counter: 1))
        for (number, change) in [(42, \Message.editedAt), (43, \Message.deletedAt)] {
            var message = try fixture.message(number)
            message[keyPath: change] = Fixture.now
            try fixture.receive(message)
        }
        // Transcripts come later than their messages.
        var voice = try fixture.message(44)
        voice.kind = .voice
        try fixture.receive(voice)
        #expect(try items(fixture) == [[39], [40], [41]])
        for number in [39, 40, 41] {
            var message = try fixture.message(number)
            (message.version, message.textVersion, message.editedAt) = (90, 90, Fixture.now)
            try fixture.receive(message)
        }
        #expect(try items(fixture) == nil)
    }

    /// Nobody here knows when messages disappear that have not come.
    @Test func whatHasNotComeIsNotAwaitedForLong() throws {
        var fixture = try filled(summary([5], [40]), Fixture())
        let deadline = Fixture.now.addingTimeInterval(86_400)
        #expect(try items(fixture, at: deadline.addingTimeInterval(-1)) == [[5], [40]])
        #expect(try items(fixture, at: deadline) == [[5]] && fixture.store.nextExpiry() == deadline)
        try fixture.receive(fixture.message(40))
        #expect(try items(fixture, at: deadline) == [[5], [40]] && fixture.store.nextExpiry() == nil)
    }

    @Test(arguments: [true, false])
    func whereMessagesDisappearItIsNotAwaited(isInTheInbox: Bool) throws {
        var fixture = try Fixture()
        var conversation = try #require(fixture.state.conversation)
        conversation.disappearAfter = 3_600
        conversation.version += 100
        if isInTheInbox {
            try fixture.keep(InboxRow(id: "c1", conversation: conversation, counter: 1))
        } else {
            fixture.state.keep(conversation)
            try fixture.store.save(fixture.state, fixture.state.takeChanges())
        }
        #expect(try items(filled(summary([5], [40]), fixture)) == [[5]])
    }

    @Test func itemsDisappear() throws {
        var fixture = try filled(summary([5], [6]), Fixture())
        try fixture.change(5) { $0.expiresAt = Fixture.now.addingTimeInterval(60) }
        try fixture.change(6) { $0.expiresAt = Fixture.now.addingTimeInterval(90) }
        #expect(try items(fixture) == [[5], [6]])
        #expect(try items(fixture, at: Fixture.now.addingTimeInterval(60)) == [[6]])
        try fixture.store.expire(at: Fixture.now.addingTimeInterval(90))
        #expect(try items(fixture) == nil && !fixture.hasStored("of ["))
    }

    @Test func afterARestoreOfTheServerNothingIsLeft() throws {
        var fixture = try filled(summary([5]), Fixture())
        var server = ModelConversation()
        server.restore()
        let (snapshot, position) = server.snapshot(window: 10)
        fixture.state.apply(snapshot, at: position)
        try fixture.store.save(fixture.state, fixture.state.takeChanges())
        #expect(try items(fixture) == nil && !fixture.hasStored("of [5]"))
    }

    @Test func theyAreBounded() throws {
        let fixture = try Fixture(limits: .init(summaries: 2, summaryBytes: 1_000))
        for (index, id) in ["c1", "c2", "c3"].enumerated() {
            try fixture.store.save(summary([1], seconds: Double(index)), asOf: 31, of: .init(id))
        }
        #expect(try ["c1", "c2", "c3"].map { try items(fixture, of: .init($0)) } == [nil, [[1]], [[1]]])
        // One that is too large is not kept, nor the one before.
        try fixture.store.save(summary(Array(1...400)), asOf: 31, of: "c3")
        #expect(try items(fixture, of: "c3") == nil && !fixture.hasStored("399"))
    }
}
