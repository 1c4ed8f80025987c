import Testing
import Wire

@testable import WebAPI

@Suite struct RateLimiterTests {
    @Test func aBucketEmptiesAndFills() {
        var limiter = RateLimiter<String>(perMinute: 60, burst: 3)
        #expect((0..<3).map { _ in limiter.take("a", at: 0) } == [nil, nil, nil])
        #expect(limiter.take("a", at: 0) == 1000)
        #expect(limiter.take("a", at: 400) == 600)
        #expect(limiter.take("b", at: 400) == nil)
        #expect(limiter.take("a", at: 1000) == nil)
        #expect(limiter.take("a", at: 1001) == 999)
        #expect((0..<4).map { _ in limiter.take("a", at: 1_000_000) } == [nil, nil, nil, 1000])
        // A clock that stands still or jumps back takes nothing away.
        #expect(limiter.take("a", at: 0) != nil)
    }

    @Test func whatIsGivenBackCanBeTakenAgain() {
        var limiter = RateLimiter<String>(perMinute: 10)
        for _ in 0..<100 {
            #expect(limiter.take("a", at: 0) == nil)
            limiter.giveBack("a")
        }
        #expect((0..<11).map { _ in limiter.take("a", at: 0) == nil } == Array(repeating: true, count: 10) + [false])
        // No bucket holds more than its burst.
        limiter.giveBack("b")
        for _ in 0..<20 { limiter.giveBack("a") }
        #expect((0..<11).map { _ in limiter.take("a", at: 0) == nil } == Array(repeating: true, count: 10) + [false])
    }

    @Test(arguments: [1, 7, 30, 600, 100_000])
    func theLongRunIsExact(perMinute: Int) {
        var limiter = RateLimiter<Int>(perMinute: perMinute, burst: 1)
        var random = SeededRandom(seed: UInt64(perMinute))
        var (now, taken) = (Int64(0), 0)
        while now < 3_600_000 {
            if limiter.take(1, at: now) == nil { taken += 1 }
            now += Int64(random.next() % 20) + (perMinute > 3000 ? 0 : 1)
            if perMinute > 3000, taken > 200_000 { break }
        }
        let allowed = Double(perMinute) * Double(now) / 60_000 + 1
        #expect(Double(taken) <= allowed + 1)
        if perMinute <= 600 { #expect(Double(taken) >= allowed * 0.8) }
    }

    @Test(arguments: [1, 5, 60]) func noHourHasMoreThanItsLimit(limit: Int) {
        var limiter = HourlyLimiter<String>(limit: limit)
        var taken: [Int64] = []
        var random = SeededRandom(seed: UInt64(limit))
        var now: Int64 = 0
        while now < 12 * 3_600_000 {
            if let wait = limiter.take("a", at: now) {
                #expect(wait > 0 && wait <= 65 * 60_000)
            } else {
                taken.append(now)
            }
            // Now a crowd, now nobody for up to half an hour.
            now += Int64(random.next() % 50) == 0 ? Int64(random.next() % 1_800_000) : Int64(random.next() % 1000)
        }
        for first in taken { #expect(taken.count { $0 >= first && $0 < first + 3_600_000 } <= limit) }
        #expect(taken.count >= limit * 8)
        #expect(limiter.take("b", at: now) == nil)
    }

    @Test func theHourlyLimitSaysWhenToComeBack() throws {
        var limiter = HourlyLimiter<String>(limit: 2)
        #expect(limiter.take("a", at: 299_000) == nil)
        #expect(limiter.take("a", at: 301_000) == nil)
        let refused = limiter.take("a", at: 302_000)
        let wait = try #require(refused)
        #expect(limiter.take("a", at: 302_000 + wait - 1) != nil)
        #expect(limiter.take("a", at: 302_000 + wait) == nil)
        #expect(limiter.take("a", at: .max) == nil)
        #expect(limiter.take("a", at: .min) == nil)
        #expect(limiter.take("a", at: .min) != nil)
        var many = HourlyLimiter<Int>(limit: 1, capacity: 100)
        for key in 0..<1000 { #expect(many.take(key, at: 0) == nil) }
        #expect(many.count <= 100)
    }

    @Test func extremesDoNotTrap() {
        var limiter = RateLimiter<Int>(perMinute: .max, burst: .max)
        #expect(limiter.take(1, at: .min) == nil)
        #expect(limiter.take(1, at: .max) == nil)
        var slow = RateLimiter<Int>(perMinute: -5, burst: 0)
        #expect(slow.take(1, at: .max) == nil)
        #expect(slow.take(1, at: .max) == 60_000)
    }

    @Test func memoryIsBounded() {
        var limiter = RateLimiter<Int>(perMinute: 1, capacity: 100)
        for key in 0..<10_000 { _ = limiter.take(key, at: 0) }
        #expect(limiter.count <= 100)
    }
}
