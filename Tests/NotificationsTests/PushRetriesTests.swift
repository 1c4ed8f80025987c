import Model
import Notifications
import Testing

@Suite struct PushRetriesTests {
    private let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func delay(
        _ attempts: Int, isRing: Bool = false, end: Int64 = .max / 2, retryAfter: Duration? = nil, random: Double = 0.5
    ) -> Int64? {
        PushRetries.next(
            after: attempts, isRing: isRing, until: start.adding(milliseconds: end), retryAfter: retryAfter,
            random: random, at: start
        ).map { $0.milliseconds(since: start) }
    }

    @Test func messagesWaitLongerEachTime() {
        let delays = (1...12).compactMap { delay($0) }
        #expect(delays.map { $0 / 1_000 } == [1, 5, 15, 60, 120, 300, 600, 900, 1_800, 3_600, 3_600, 3_600])
        #expect(delay(Int.max) == 3_600_000 && delay(0) == 1_000 && delay(-1) == 1_000)
    }

    @Test(arguments: [(0.0, 800), (1.0, 1_200), (-7.0, 800), (9.0, 1_200)])
    func failuresHaveJitter(random: Double, milliseconds: Int64) {
        #expect(delay(1, random: random) == milliseconds)
    }

    @Test func aRingIsRepeatedAtOnce() {
        #expect((1...6).compactMap { delay($0, isRing: true) } == [250, 500, 1_000, 2_000, 4_000, 4_000])
    }

    @Test func nothingIsRepeatedForWhichNobodyWaits() {
        #expect(delay(5, isRing: true, end: 4_001) == 4_000)
        #expect(delay(5, isRing: true, end: 4_000) == nil)
        #expect(delay(1, isRing: true, end: 30_000, retryAfter: .seconds(30)) == nil)
        #expect(delay(20, end: 3_600_001) == 3_600_000 && delay(20, end: 3_600_000) == nil && delay(1, end: -5) == nil)
    }

    @Test func theServiceSaysWhen() {
        #expect(delay(1, retryAfter: .seconds(90), random: 0) == 90_000)
        #expect(
            delay(1, retryAfter: .seconds(90), random: 1) == 108_000, "what failed together is not repeated together")
        #expect(delay(5, retryAfter: .seconds(1)) == 120_000, "never sooner")
        #expect(delay(1, retryAfter: .seconds(Int64.max), random: 0) == 3_600_000, "at most an hour")
        #expect(delay(1, retryAfter: .seconds(-5)) == 1_000)
    }
}
