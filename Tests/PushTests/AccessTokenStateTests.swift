import Model
import Testing

@testable import Push

@Suite("Access tokens") struct AccessTokenStateTests {
    private let start = Timestamp(milliseconds: 1_800_000_000_000)
    private let failure = AccessTokenState.Failure(retryAfter: nil, reason: "down")

    private func at(_ seconds: Int64) -> Timestamp { start.adding(seconds: seconds) }

    private func token(_ text: String, until seconds: Int64) -> Result<AccessTokenState.Token, AccessTokenState.Failure>
    {
        .success(.init(text: text, expiresAt: at(seconds)))
    }

    @Test("one is fetched for all, and used until shortly before its end") func reuse() {
        var state = AccessTokenState()
        let first = state.request(at: start)
        let second = state.request(at: start)
        #expect(first == .wait(fetches: true) && second == .wait(fetches: false))
        state.complete(token("a", until: 3_600), at: start)
        for seconds: Int64 in [0, 1_000, 2_999] {
            let decision = state.request(at: at(seconds))
            #expect(decision == .use("a", renews: false))
        }
        // It is renewed once, and used meanwhile.
        let renewing = state.request(at: at(3_000))
        let meanwhile = state.request(at: at(3_001))
        #expect(renewing == .use("a", renews: true) && meanwhile == .use("a", renews: false))
        state.complete(token("b", until: 6_900), at: at(3_002))
        let renewed = state.request(at: at(3_003))
        #expect(renewed == .use("b", renews: false))
    }

    @Test("a renewal that fails is tried again, and nobody waits until the end") func failedRenewal() {
        var state = AccessTokenState()
        _ = state.request(at: start)
        state.complete(token("a", until: 3_600), at: start)
        _ = state.request(at: at(3_000))
        state.complete(.failure(failure), at: at(3_000))
        let early = state.request(at: at(3_000))
        let again = state.request(at: at(3_001))
        #expect(early == .use("a", renews: false) && again == .use("a", renews: true))
        state.complete(.failure(failure), at: at(3_001))
        let end = state.request(at: at(3_570))
        #expect(end == .wait(fetches: true))
    }

    @Test("failures are not repeated in a storm") func failures() {
        var state = AccessTokenState()
        var now = start
        for delay: Int64 in [1, 5, 15, 30, 30] {
            let begin = state.request(at: now)
            #expect(begin == .wait(fetches: true))
            state.complete(.failure(failure), at: now)
            let denied = state.request(at: now)
            #expect(denied == .fail(.init(retryAfter: .seconds(delay), reason: "down")))
            now = now.adding(seconds: delay)
        }
        _ = state.request(at: now)
        // A day is more than anybody who is called would wait.
        state.complete(.failure(.init(retryAfter: .seconds(86_400), reason: "busy")), at: now)
        let busy = state.request(at: now.adding(seconds: 40))
        #expect(busy == .fail(.init(retryAfter: .seconds(20), reason: "busy")))
        _ = state.request(at: now.adding(seconds: 60))
        state.complete(token("a", until: 10_000), at: now.adding(seconds: 60))
        let good = state.request(at: now.adding(seconds: 61))
        #expect(good == .use("a", renews: false))
    }

    @Test("an endpoint that is back is used within half a minute, and nobody has noticed") func outage() {
        var state = AccessTokenState()
        _ = state.request(at: start)
        state.complete(token("a", until: 3_600), at: start)
        for seconds: Int64 in 3_000..<3_600 {
            let decision = state.request(at: at(seconds))
            guard case .use(_, let renews) = decision else {
                Issue.record("\(decision) at \(seconds)")
                return
            }
            guard renews else { continue }
            let isBack = seconds >= 3_530
            state.complete(isBack ? token("b", until: seconds + 3_600) : .failure(failure), at: at(seconds))
            guard isBack else { continue }
            #expect(seconds <= 3_560)
            return
        }
        Issue.record("It is not fetched.")
    }

    @Test("a failure ends where the clock is set back") func clock() {
        var state = AccessTokenState()
        _ = state.request(at: at(1_000_000))
        state.complete(.failure(failure), at: at(1_000_000))
        let decision = state.request(at: start)
        #expect(decision == .wait(fetches: true))
    }

    @Test("one that is refused is replaced once, unless it is new") func rejected() {
        var state = AccessTokenState()
        _ = state.request(at: start)
        state.complete(token("a", until: 3_600), at: start)
        // Another one would fare no better.
        let young = state.reject("a", at: at(59))
        #expect(!young)
        let kept = state.request(at: at(59))
        #expect(kept == .use("a", renews: false))
        let old = state.reject("a", at: at(60))
        let again = state.request(at: at(60))
        #expect(old && again == .wait(fetches: true))
        state.complete(token("b", until: 3_600), at: at(61))
        // Of those who noticed it late, none fetches another one.
        let late = state.reject("a", at: at(61))
        let current = state.request(at: at(61))
        #expect(late && current == .use("b", renews: false))
    }

    @Test("a token that ends too soon is not asked for again and again") func short() {
        var state = AccessTokenState()
        _ = state.request(at: start)
        state.complete(token("a", until: 30), at: start)
        let again = state.request(at: start)
        #expect(
            again == .fail(.init(retryAfter: .seconds(1), reason: "An access token that ends at once is of no use.")))
    }
}
