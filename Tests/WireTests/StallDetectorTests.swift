import Testing
import Wire

@Suite("Who keeps time finds out that they did not run")
struct StallDetectorTests {
    private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: (1_000 + milliseconds) * 1_000_000) }

    @Test("being a little late is no stall; being more than a second late is one, as long as nobody looked")
    func stalls() {
        var keeper = StallDetector(at: at(0))
        keeper.plan(at(500), at: at(0))
        #expect(keeper.stall(at: at(100)) == 0, "Something woke it before.")
        #expect(keeper.stall(at: at(1_500)) == 0)
        #expect(keeper.stall(at: at(1_501)) == 1_501_000_000)
        #expect(keeper.stall(at: at(1_502)) == 0, "It is reported once.")
        keeper.plan(at(2_502), at: at(1_502))
        #expect(keeper.stall(at: at(60_000)) == 58_498_000_000)
    }

    @Test("a clock that goes back, or a plan that lies behind, does no harm")
    func oddClocks() {
        var keeper = StallDetector(at: at(900))
        keeper.plan(at(100), at: at(900))
        #expect(keeper.stall(at: at(0)) == 0)
        #expect(keeper.stall(at: at(1_900)) == 0)
        #expect(keeper.stall(at: at(1_901)) == 1_001_000_000)
        keeper.plan(.distantFuture, at: at(2_000))
        #expect(keeper.stall(at: .distantFuture) == 0)
    }
}
