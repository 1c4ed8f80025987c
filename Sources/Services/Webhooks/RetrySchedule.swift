import Model
import Providers
import Webhooks

/// What becomes of a delivery after an attempt, and when the next one is.
///
/// The delays are those that Standard Webhooks 1.0 proposes, stretched to about three days, so that a weekend's outage
/// loses nothing. Each varies by a fifth, so that what failed together is not repeated together.
enum RetrySchedule {
    /// Seconds before each further attempt; after the last one the delivery is given up.
    static let delays: [Int64] = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 50_400, 64_800, 79_200]
    static let jitter = 0.2
    /// The longest `Retry-After` that is honoured, in seconds.
    static let maxRetryAfter: Int64 = 86_400

    /// When a delivery is attempted again; nil if it is given up.
    ///
    /// - Parameters:
    ///   - attempts: how many have failed.
    ///   - retryAfter: what the response asked for: it only makes the delay longer.
    ///   - random: from 0 to 1.
    static func next(after attempts: Int, retryAfter: Duration?, random: Double, at now: Timestamp) -> Timestamp? {
        guard attempts >= 1, attempts <= delays.count else { return nil }
        let factor = 1 + jitter * (2 * min(max(random, 0), 1) - 1)
        let scheduled = Int64(Double(delays[attempts - 1] * 1_000) * factor)
        let requested = min(max(retryAfter?.components.seconds ?? 0, 0), maxRetryAfter) * 1_000
        return now.adding(milliseconds: max(scheduled, requested))
    }

    /// What becomes of a claim whose attempt has ended.
    static func settlement(
        of claim: ClaimedDelivery, after result: AttemptResult, random: Double, at now: Timestamp
    ) -> Settlement.Result {
        switch result {
        case .response(let response) where response.isSuccess: return .delivered(status: response.status)
        case .response(let response) where response.status == 410:
            return .disabled(reason: "Its address responded 410 (gone).")
        case .response(let response):
            return failure(
                of: claim, response.status, words(response), retryAfter: response.retryAfter, random: random, at: now)
        case .noResponse(let failure):
            return self.failure(of: claim, nil, "\(failure)", retryAfter: nil, random: random, at: now)
        case .cancelled: return .released
        }
    }

    private static func failure(
        of claim: ClaimedDelivery, _ status: Int?, _ reason: String, retryAfter: Duration?, random: Double,
        at now: Timestamp
    ) -> Settlement.Result {
        let attempts = claim.delivery.attempt + 1
        guard let next = next(after: attempts, retryAfter: retryAfter, random: random, at: now) else {
            return .givenUp(status: status, reason: reason)
        }
        // What nobody waits for by then is not attempted again; the reason says what failed.
        if let expiresAt = claim.event.expiresAt, expiresAt <= next {
            return .givenUp(status: status, reason: reason)
        }
        return .retry(at: next, status: status, reason: reason)
    }

    private static func words(_ response: WebhookResponse) -> String {
        let kind = (300..<400).contains(response.status) ? ", a redirect, which is not followed" : ""
        return "It responded \(response.status)\(kind)" + (response.reason.isEmpty ? "." : ": \(response.reason)")
    }
}

/// How an attempt has ended.
enum AttemptResult: Sendable {
    case response(WebhookResponse)
    case noResponse(ProviderFailure)
    /// The server stops.
    case cancelled
}
