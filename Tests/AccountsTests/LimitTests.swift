import Accounts
import Testing

@Suite struct LimitTests {
    @Test func extremesDoNotTrap() {
        var delays = SignInDelays()
        #expect(delays.begin([.account("a")], at: .max) == nil)
        #expect(delays.begin([.account("a")], at: .min) != 1)
    }

    @Test func memoryIsBounded() {
        var delays = SignInDelays(capacity: 100)
        for key in 0..<10_000 { _ = delays.begin([.address("\(key)", account: "a")], at: 0) }
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

    @Test func whatIsNotUsedAges() {
        var map = RecentMap<Int, Int>(capacity: 10)
        for key in 0..<4 { map[key] = key }
        map.age()
        #expect(map[0] == 0 && map.count == 4)
        map.age()
        #expect(map.count == 1 && map[0] == 0 && map[1] == nil)
        map.age()
        map.age()
        #expect(map.count == 0)
    }

    @Test func guessingCostsMoreAndMore() {
        var delays = SignInDelays()
        let keys = SignInDelays.keys(account: "a", address: "1", knownDevice: nil)
        var now: Int64 = 0
        var waits: [Int64] = []
        for _ in 0..<15 {
            let wait = delays.begin(keys, at: now) ?? 0
            waits.append(wait)
            now += wait
            if wait > 0 { #expect(delays.begin(keys, at: now) == nil) }
        }
        #expect(
            waits == [0, 0, 0, 0, 0, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
    }

    @Test func guessingFromElsewhereHoldsANewDeviceUpMildlyAndAKnownOneNotAtAll() {
        var delays = SignInDelays()
        var now: Int64 = 0
        for number in 0..<200 {
            now += delays.begin(SignInDelays.keys(account: "a", address: "\(number)", knownDevice: nil), at: now) ?? 0
        }
        let owner = SignInDelays.keys(account: "a", address: "home", knownDevice: nil)
        #expect((delays.begin(owner, at: now) ?? 0) <= 5000)
        #expect(delays.begin(SignInDelays.keys(account: "a", address: "home", knownDevice: "d"), at: now) == nil)
        #expect(delays.begin(SignInDelays.keys(account: "b", address: "home", knownDevice: nil), at: now) == nil)
    }

    @Test func anAddressIsSlowedDownByTheAccountsThatWereTriedFromIt() {
        var delays = SignInDelays()
        func keys(_ account: Int) -> [SignInDelays.Key] {
            SignInDelays.keys(account: "\(account)", address: "1", knownDevice: nil)
        }
        // One who mistypes the same password again and again is one account.
        var now: Int64 = 0
        for _ in 0..<30 {
            if let wait = delays.begin(keys(0), at: now) {
                now += wait
                #expect(delays.begin(keys(0), at: now) == nil)
            }
        }
        #expect(delays.begin(keys(1), at: now) == nil)
        for account in 2..<20 { #expect(delays.begin(keys(account), at: now) == nil) }
        #expect(delays.begin(keys(20), at: now) == 500)
        #expect(delays.begin(SignInDelays.keys(account: "1", address: "1", knownDevice: "d"), at: now) == nil)
        #expect(delays.begin(SignInDelays.keys(account: "99", address: "2", knownDevice: nil), at: now) == nil)
        #expect(delays.begin(keys(21), at: now + 16 * 60_000) == nil)
    }

    @Test func peopleBehindOneAddressWhoGetInAreNoSuspects() {
        var delays = SignInDelays()
        for account in 0..<500 {
            let keys = SignInDelays.keys(account: "\(account)", address: "1", knownDevice: nil)
            #expect(delays.begin(keys, at: 0) == nil)
            #expect(delays.begin(keys, at: 0) == nil)
            delays.succeeded(keys)
        }
    }

    @Test func aRightPasswordClearsTheAccountButNotTheOthersOfTheAddress() {
        var delays = SignInDelays()
        let keys = SignInDelays.keys(account: "a", address: "1", knownDevice: nil)
        for _ in 0..<4 { #expect(delays.begin(keys, at: 0) == nil) }
        for number in 0..<19 {
            #expect(
                delays.begin(SignInDelays.keys(account: "x\(number)", address: "1", knownDevice: nil), at: 0) == nil)
        }
        #expect(delays.begin(keys, at: 0) == 500)
        #expect(delays.begin(keys, at: 500) == nil)
        delays.succeeded(keys)
        // Of twenty accounts one is forgiven: one more is free, and the next is not.
        #expect(delays.begin(SignInDelays.keys(account: "y", address: "1", knownDevice: nil), at: 500) == nil)
        #expect(delays.begin(SignInDelays.keys(account: "z", address: "1", knownDevice: nil), at: 500) == 500)
    }
}
