import Model

/// Decides when an access token is used, fetched and renewed, and how long a failure counts. It does no I/O.
///
/// A token is renewed while it is still good, and used meanwhile: a token endpoint that is down for a while is not
/// noticed. What fails is not tried again at once, however many ask.
struct AccessTokenState: Sendable {
    struct Token: Hashable, Sendable {
        var text: String
        var expiresAt: Timestamp
    }

    struct Failure: Error, Hashable, Sendable {
        /// Nil if no time was named.
        var retryAfter: Duration?
        var reason: String
    }

    enum Decision: Hashable, Sendable {
        case use(String, renews: Bool)
        /// Somebody else fetches it, unless this one does.
        case wait(fetches: Bool)
        case fail(Failure)
    }

    /// Milliseconds before its end in which a token is renewed, and in which it is not used.
    private static let renewal: Int64 = 600_000
    private static let margin: Int64 = 30_000
    /// A token that is refused sooner than this was refused for another reason than its age, in milliseconds.
    private static let minAge: Int64 = 60_000
    /// Milliseconds from one failed attempt to the next: calls that ring meanwhile do so for half a minute or more.
    private static let delays: [Int64] = [1_000, 5_000, 15_000, 30_000]
    /// The longest that a token endpoint is left alone, whatever it asks for.
    private static let maxDelay: Int64 = 60_000

    private var token: Token?
    private var fetchedAt: Timestamp?
    private var isFetching = false
    private var failures = 0
    private var failure: (reason: String, at: Timestamp, until: Timestamp)?

    mutating func request(at now: Timestamp) -> Decision {
        // A failure in the future: the clock was set back.
        let mayFetch = !isFetching && (failure.map { $0.until <= now || now < $0.at } ?? true)
        if let token, token.expiresAt.milliseconds(since: now) > Self.margin {
            let renews = mayFetch && token.expiresAt.milliseconds(since: now) <= Self.renewal
            if renews { isFetching = true }
            return .use(token.text, renews: renews)
        }
        if isFetching { return .wait(fetches: false) }
        if let failure, !mayFetch {
            let left = Duration.milliseconds(failure.until.milliseconds(since: now))
            return .fail(Failure(retryAfter: left, reason: failure.reason))
        }
        isFetching = true
        return .wait(fetches: true)
    }

    mutating func complete(_ result: Result<Token, Failure>, at now: Timestamp) {
        isFetching = false
        switch result {
        case .success(let token) where token.expiresAt.milliseconds(since: now) > Self.margin:
            (self.token, fetchedAt, failures, failure) = (token, now, 0, nil)
        case .success: fail(Failure(reason: "An access token that ends at once is of no use."), at: now)
        case .failure(let error): fail(error, at: now)
        }
    }

    private mutating func fail(_ error: Failure, at now: Timestamp) {
        let delay = Self.delays[min(failures, Self.delays.count - 1)]
        failures += 1
        let requested = min(error.retryAfter?.components.seconds ?? 0, Self.maxDelay / 1_000) * 1_000
        failure = (error.reason, now, now.adding(milliseconds: max(delay, requested)))
    }

    /// The service has refused a token. Returns whether another one is worth a request.
    mutating func reject(_ text: String, at now: Timestamp) -> Bool {
        // Somebody else has noticed it before.
        guard token?.text == text else { return true }
        guard let fetchedAt, now.milliseconds(since: fetchedAt) >= Self.minAge || now < fetchedAt else { return false }
        token = nil
        return true
    }
}
