import Foundation
import Testing

@testable import SwitchboardClient

struct RingDeadlineTests {
    private let start = ContinuousClock.now

    /// The user's part of a document, in which the user rings.
    private func rings(_ remainingMs: Int?, until deadline: TimeInterval? = 1_000) -> Participant {
        Participant(
            user: "ben", displayName: "Ben", state: .ringing,
            ringDeadline: deadline.map { Date(timeIntervalSince1970: $0) }, remainingMs: remainingMs, connected: false,
            media: .init(audio: true, video: false, screen: false, held: false))
    }

    @Test func boundsTheExpiryOfThePush() {
        let ends: [(TimeInterval?, Duration)] = [
            (nil, .seconds(120)), (45, .seconds(45)), (-3_600, .seconds(10)), (1e300, .seconds(120)),
            (-.infinity, .seconds(10)), (.nan, .seconds(10)),
        ]
        for (remaining, end) in ends {
            let deadline = RingDeadline(remaining: remaining, at: start)
            #expect(deadline.end == start + end, "\(String(describing: remaining))")
        }
    }

    @Test func goesByTheRemainingTimeOfTheDocument() {
        // The clock of the device is fast, or slow.
        for remaining in [-3_600, 60, 3_600] as [TimeInterval] {
            var deadline = RingDeadline(remaining: remaining, at: start)
            deadline.apply(rings(50_000), at: start + .seconds(2))
            #expect(deadline.end == start + .seconds(52))
            // Written long ago, such as with a change of another participant.
            deadline.apply(rings(50_000), at: start + .seconds(20))
            #expect(deadline.end == start + .seconds(52))
            // Invited again.
            deadline.apply(rings(60_000, until: 1_030), at: start + .seconds(30))
            #expect(deadline.end == start + .seconds(90))
        }
    }

    @Test func survivesOddDocuments() {
        var deadline = RingDeadline(remaining: 60, at: start)
        deadline.apply(rings(nil), at: start)
        #expect(deadline.end == start + .seconds(60))
        deadline.apply(rings(.max, until: nil), at: start)
        #expect(deadline.end == start + .seconds(120))
        deadline.apply(rings(.min, until: nil), at: start + .seconds(1))
        #expect(deadline.end == start + .seconds(1))
    }
}
