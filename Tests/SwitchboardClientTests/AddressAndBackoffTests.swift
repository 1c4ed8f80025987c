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
            var longest = Backoff.first
            for _ in 0..<20 {
                let wait = backoff.next()
                #expect((longest / 2...longest).contains(wait), "seed \(seed)")
                longest = min(Backoff.last, longest * 2)
            }
            backoff.reset()
            #expect(backoff.next() <= Backoff.first)
        }
    }

    @Test(arguments: [0, 1_500, -5, Int64.max])
    func neverComesBackBeforeItWasTold(milliseconds: Int64) {
        var backoff = Backoff(seed: 1)
        let told = min(max(0, milliseconds), 3_600_000)
        #expect(backoff.spread(milliseconds) >= told)
    }
}
