import Testing

@testable import WebAPI

@Suite struct RateLimitStatusTests {
    @Test func theFieldsTellPolicyAndRest() {
        let rate = RequestRate.perMinute(600, burst: 600)
        let state = RateLimitState(wait: nil, remaining: 599, reset: 100)
        let status = RateLimitStatus(limit: .requests, rate: rate, state: state)
        #expect(status.policyField == #""requests";q=600;w=60"#)
        #expect(status.rateLimitField == #""requests";r=599;t=1"#)
    }

    /// The window is the time in which a bucket fills.
    @Test(arguments: [
        (RequestRate.perMinute(60, burst: 60), 60, 60), (.perMinute(60, burst: 10), 10, 10),
        (.perMinute(7, burst: 1), 1, 9), (.perHour(5), 5, 3600), (.perMinute(0, burst: 0), 1, 60),
        (.perMinute(.max, burst: .max), 1_000_000_000, 60), (.perMinute(.min, burst: .min), 1, 60),
        (.perHour(.min), 1, 3600),
    ])
    func aWindowBelongsToEachRate(rate: RequestRate, quota: Int64, seconds: Int64) {
        #expect(rate.quota == quota)
        #expect(rate.windowSeconds == seconds)
    }

    @Test func aBucketTellsWhatIsLeft() {
        var limiter = RateLimiter<String>(perMinute: 60, burst: 3)
        #expect(limiter.count("a", at: 0) == RateLimitState(wait: nil, remaining: 2, reset: 1000))
        #expect(limiter.count("a", at: 0) == RateLimitState(wait: nil, remaining: 1, reset: 2000))
        #expect(limiter.count("a", at: 0) == RateLimitState(wait: nil, remaining: 0, reset: 3000))
        #expect(limiter.count("a", at: 0) == RateLimitState(wait: 1000, remaining: 0, reset: 3000))
        #expect(limiter.count("a", at: 500) == RateLimitState(wait: 500, remaining: 0, reset: 2500))
        #expect(limiter.count("a", at: 3000) == RateLimitState(wait: nil, remaining: 2, reset: 1000))
    }

    /// What was counted in a slot of five minutes is free when the slot is outside of the last hour.
    @Test func anHourTellsWhatIsLeft() {
        var limiter = HourlyLimiter<String>(limit: 2)
        #expect(limiter.count("a", at: 0) == RateLimitState(wait: nil, remaining: 1, reset: 3_900_000))
        #expect(limiter.count("a", at: 300_000) == RateLimitState(wait: nil, remaining: 0, reset: 3_900_000))
        #expect(limiter.count("a", at: 400_000) == RateLimitState(wait: 3_500_000, remaining: 0, reset: 3_800_000))
        #expect(limiter.count("a", at: 3_900_000) == RateLimitState(wait: nil, remaining: 0, reset: 3_900_000))
        #expect(limiter.count("b", at: .max).remaining == 1)
        #expect(limiter.count("b", at: .min).remaining == 0)
    }

    @Test func aResetIsRoundedUp() {
        func field(_ reset: Int64) -> String {
            let state = RateLimitState(wait: 1, remaining: 0, reset: reset)
            return RateLimitStatus(limit: .address, rate: .perHour(1), state: state).rateLimitField
        }
        #expect(field(0).hasSuffix("t=0"))
        #expect(field(1).hasSuffix("t=1"))
        #expect(field(1001).hasSuffix("t=2"))
        #expect(field(-1).hasSuffix("t=0"))
        #expect(field(.max).hasSuffix("t=9223372036854776"))
    }
}
