import Model
import Testing
import Wire

@testable import Messaging

/// Counts from the newest messages that are held, against counting all.
@Suite struct CountedMessagesTests {
    private static let users = (1...4).map { _ in UserID.make(at: Timestamp(milliseconds: 0)) }

    @Test(arguments: 0..<200)
    func countsAreThoseOfAllMessages(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let all = (1...Int64.random(in: 1...60, using: &random)).filter { _ in Bool.random(using: &random) }.map {
            CountedMessages.Entry(number: $0, author: Self.users.randomElement(using: &random)!, expiresAt: nil)
        }
        let (held, limit) = (Int.random(in: 0...70, using: &random), Int.random(in: 1...40, using: &random))
        let newest = Array(all.reversed().prefix(held))
        let counted = CountedMessages(newest: newest, isComplete: newest.count == all.count)
        for (index, user) in Self.users.enumerated() {
            // One's own, and in the second half those of another one, who is blocked.
            let uncounted = Set(index < 2 ? [user] : [user, Self.users[index - 2]])
            for after in Int64(0)...61 {
                let expected = min(limit, all.count { $0.number > after && !uncounted.contains($0.author) })
                if let count = counted.count(after: after, notBy: uncounted, limit: limit) {
                    #expect(count == expected, "after \(after), limit \(limit), \(held) held")
                } else {
                    // Only where what is held does not reach back to the number.
                    #expect(newest.count < all.count && newest.last.map { $0.number > after } ?? true)
                }
            }
        }
    }

    @Test func knowsWhenTheFirstDisappears() {
        let times: [Int64?] = [nil, 30, 20, nil, 40]
        let entries = times.enumerated().map {
            CountedMessages.Entry(
                number: Int64(9 - $0.offset), author: Self.users[0],
                expiresAt: $0.element.map { Timestamp(milliseconds: $0) })
        }
        #expect(CountedMessages(newest: entries, isComplete: true).expiresAt == Timestamp(milliseconds: 20))
    }
}
