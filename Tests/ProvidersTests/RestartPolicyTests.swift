import Testing

@testable import Providers

@Suite("When programs are started again")
struct RestartPolicyTests {
    private let start = ContinuousClock.now

    @Test func pausesDouble() {
        var policy = RestartPolicy()
        policy.maxEnds = 100
        #expect(policy.admission(at: start) == .now)
        var expected = Duration.milliseconds(500)
        for _ in 0..<10 {
            policy.recordEnd(at: start)
            #expect(policy.admission(at: start) == .later(start + expected))
            #expect(policy.admission(at: start + expected) == .now)
            expected = min(expected * 2, .seconds(60))
        }
    }

    @Test func offAfterFiveEndsInTenMinutes() {
        var policy = RestartPolicy()
        for second in 0..<4 { policy.recordEnd(at: start + .seconds(second)) }
        #expect(policy.admission(at: start + .seconds(100)) == .now)
        // The first has left the window.
        policy.recordEnd(at: start + .seconds(600))
        #expect(!policy.isOff)
        policy.recordEnd(at: start + .seconds(600))
        #expect(policy.admission(at: start + .seconds(10_000)) == .off)
        policy.reset()
        #expect(policy.admission(at: start) == .now)
    }

    @Test func requestsThatEndProgramsAreCounted() {
        var requests = FatalRequests()
        for _ in 0..<2 { requests.record(1) }
        #expect(requests.count(1) == 2 && requests.count(2) == 0)
        for key in 2..<1_002 { requests.record(key) }
        #expect(requests.count(1) == 0 && requests.count(2) == 1)
    }
}
