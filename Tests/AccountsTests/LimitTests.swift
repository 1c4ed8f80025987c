import Accounts
import Testing

@Suite struct LimitTests {
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

    @Test(arguments: [1, 7, 30, 600, 100_000])
    func theLongRunIsExact(perMinute: Int) {
        var limiter = RateLimiter<Int>(perMinute: perMinute, burst: 1)
        var random = SplitMix(state: UInt64(perMinute))
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

    @Test func extremesDoNotTrap() {
        var limiter = RateLimiter<Int>(perMinute: .max, burst: .max)
        #expect(limiter.take(1, at: .min) == nil)
        #expect(limiter.take(1, at: .max) == nil)
        var slow = RateLimiter<Int>(perMinute: -5, burst: 0)
        #expect(slow.take(1, at: .max) == nil)
        #expect(slow.take(1, at: .max) == 60_000)
        var delays = SignInDelays()
        #expect(delays.begin([.account("a")], at: .max) == nil)
        #expect(delays.begin([.account("a")], at: .min) != 1)
    }

    @Test func memoryIsBounded() {
        var limiter = RateLimiter<Int>(perMinute: 1, capacity: 100)
        for key in 0..<10_000 { _ = limiter.take(key, at: 0) }
        #expect(limiter.count <= 100)
        var delays = SignInDelays(capacity: 100)
        for key in 0..<10_000 { _ = delays.begin([.address("\(key)")], at: 0) }
        #expect(delays.count <= 100)
    }

    @Test func whatIsUsedIsKept() {
        var map = RecentMap<Int, Int>(capacity: 10)
        map[0] = 100
        for key in 1..<100 {
            map[key] = key
            #expect(map[0] == 100)
        }
        #expect(map[1] == nil)
        map[0] = nil
        #expect(map[0] == nil)
        map.removeAll { $1 > 97 }
        #expect(map[99] == nil && map[97] == 97)
    }

    @Test func guessingCostsMoreAndMore() {
        var delays = SignInDelays()
        let keys: [SignInDelays.Key] = [.account("a"), .address("1")]
        var now: Int64 = 0
        var waits: [Int64] = []
        for _ in 0..<12 {
            let wait = delays.begin(keys, at: now) ?? 0
            waits.append(wait)
            now += wait
            if wait > 0 { #expect(delays.begin(keys, at: now) == nil) }
        }
        #expect(waits == [0, 0, 0, 0, 0, 500, 1000, 2000, 4000, 8000, 15_000, 15_000])
    }

    @Test func anotherDeviceOfTheOwnerIsNotHeldUp() {
        var delays = SignInDelays()
        for _ in 0..<20 { _ = delays.begin([.account("a"), .address("1")], at: 0) }
        #expect(delays.begin([.account("a"), .address("2")], at: 0) != nil)
        #expect(delays.begin([.device(account: "a", device: "d"), .address("2")], at: 0) == nil)
    }

    @Test func aRightPasswordClearsTheAccountButNotTheAddress() {
        var delays = SignInDelays()
        for _ in 0..<4 { #expect(delays.begin([.account("a"), .address("1")], at: 0) == nil) }
        delays.succeeded([.account("a"), .address("1")])
        for _ in 0..<5 { #expect(delays.begin([.account("a"), .address("1")], at: 0) == nil) }
        #expect(delays.begin([.account("a"), .address("2")], at: 0) == 500)
        for number in 0..<12 { #expect(delays.begin([.account("x\(number)"), .address("1")], at: 0) == nil) }
        #expect(delays.begin([.account("y"), .address("1")], at: 0) == 500)
        #expect(delays.begin([.account("y"), .address("1")], at: 16 * 60_000) == nil)
    }
}
