import Testing

@testable import SwitchboardClient

struct ServerAddressTests {
    @Test(arguments: [
        ("https://calls.example.org", "https://calls.example.org/v1", 443),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1", 8_080),
        ("http://[::1]:9000/switch/board/", "http://[::1]:9000/switch/board/v1", 9_000),
    ])
    func takesAddresses(text: String, url: String, port: Int) throws {
        let address = try ServerAddress(text)
        #expect(address.url("/v1") == url)
        #expect(address.port == port)
    }

    @Test(arguments: ["", "calls.example.org", "ftp://calls.example.org", "https://", "::"])
    func refusesOthers(text: String) {
        #expect(throws: SwitchboardError.self) { try ServerAddress(text) }
    }
}

struct BackoffTests {
    @Test func doublesWithinItsBounds() {
        for seed in 0..<100 as Range<UInt64> {
            var backoff = Backoff(seed: seed)
            var limit = Backoff.initial
            for _ in 0..<20 {
                let wait = backoff.next()
                #expect((limit / 2...limit).contains(wait), "seed \(seed)")
                limit = min(Backoff.maximum, limit * 2)
            }
            backoff.reset()
            #expect(backoff.next() <= Backoff.initial)
        }
    }

    @Test(arguments: [0, 1_500, -5, Int64.max])
    func neverReconnectsBeforeRetryAfter(milliseconds: Int64) {
        var backoff = Backoff(seed: 1)
        let minimum = min(max(0, milliseconds), 3_600_000)
        #expect(backoff.jittered(milliseconds) >= minimum)
    }
}
