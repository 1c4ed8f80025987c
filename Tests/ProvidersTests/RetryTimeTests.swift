import Testing

@testable import Providers

@Suite("When a service accepts requests again")
struct RetryTimeTests {
    private func read(_ headers: [String: String]) -> Duration? {
        RetryTime.read(now: 784_111_777) { headers[$0] }
    }

    @Test func forms() {
        #expect(read([:]) == nil)
        #expect(read(["Retry-After": "20"]) == .seconds(20))
        #expect(read(["Retry-After": "0.5"]) == .milliseconds(500))
        // 784111777 is the example of RFC 9110: Sun, 06 Nov 1994 08:49:37 GMT.
        #expect(read(["Retry-After": "Sun, 06 Nov 1994 08:50:00 GMT"]) == .seconds(23))
        #expect(read(["Retry-After": "Sun, 06 Nov 1994 08:49:00 GMT"]) == .zero)
        #expect(read(["Retry-After": "Sunday, 06-Nov-94 08:50:00 GMT"]) == .seconds(23))
        #expect(read(["Retry-After": "Sun Nov  6 08:50:00 1994"]) == .seconds(23))
        #expect(read(["Retry-After": "172800"]) == .seconds(86_400))
        #expect(read(["Retry-After": "Wed, 09 Nov 1994 08:50:00 GMT"]) == .seconds(86_400))
        #expect(read(["retry-after-ms": "1500", "Retry-After": "2"]) == .milliseconds(1500))
        #expect(read(["x-ratelimit-reset-requests": "20ms"]) == .milliseconds(20))
        #expect(read(["x-ratelimit-reset-tokens": "1h2m3.5s"]) == .milliseconds(3_723_500))
        #expect(
            read([
                "anthropic-ratelimit-requests-reset": "1994-11-06T08:49:40Z",
                "anthropic-ratelimit-input-tokens-reset": "1994-11-06T08:50:37Z",
            ]) == .seconds(60))
    }

    @Test func whatIsNoTimeIsIgnored() {
        for value in ["", "soon", "-1", "nan", "inf", "-inf", "Sun, 99 Nov 1994 08:50:00 GMT"] {
            #expect(read(["Retry-After": value]) == nil, "\(value)")
        }
        for value in ["", "1x", "s", "1.2.3s", "-5s", "1e99h"] {
            #expect(read(["x-ratelimit-reset-tokens": value]) == nil, "\(value)")
        }
    }
}
