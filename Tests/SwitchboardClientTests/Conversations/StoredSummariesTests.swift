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
        // Messages that come later with the texts that they had, and one that was edited after the summary was asked for.
        var message = try #require(fixture.state.messages[30])
        for (number, textVersion) in [(40, 31), (41, 32)] {
            (message.number, message.version, message.textVersion) = (number, 99, textVersion)
            fixture.state.keep(message)
        }
        try fixture.store.save(fixture.state, fixture.state.takeChanges())
        #expect(try items(fixture) == [[5], [40]])
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
