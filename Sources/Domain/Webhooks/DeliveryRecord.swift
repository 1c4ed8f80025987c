package import Model

/// One event for one address.
///
/// A worker claims it for a while: `notBefore` and `leaseUntil` move to the end of the lease, and `fence` rises. Only the
/// holder of the current fence may settle it. A claim that is lost with its process is due again after the lease.
package struct DeliveryRecord: Hashable, Sendable {
    package let id: Int64
    package var webhook: WebhookID
    /// The event's number.
    package var event: Int64
    /// How many attempts have been settled.
    package var attempt: Int
    package var notBefore: Timestamp
    package var leaseUntil: Timestamp?
    package var fence: Int64
    package var createdAt: Timestamp
    package var doneAt: Timestamp?
    /// Nil until it is done.
    package var outcome: Outcome?
    /// The HTTP status of the last attempt, if there was a response.
    package var status: Int?
    /// Why the last attempt failed.
    package var reason: String?

    package enum Outcome: String, Hashable, Sendable {
        case delivered
        /// All attempts failed, or the webhook responded 410.
        case failed
        /// The event had expired.
        case expired
        /// Too many waited, or for too long.
        case dropped
    }

    package init(
        id: Int64, webhook: WebhookID, event: Int64, attempt: Int = 0, notBefore: Timestamp,
        leaseUntil: Timestamp? = nil, fence: Int64 = 0, createdAt: Timestamp, doneAt: Timestamp? = nil,
        outcome: Outcome? = nil, status: Int? = nil, reason: String? = nil
    ) {
        self.id = id
        self.webhook = webhook
        self.event = event
        self.attempt = attempt
        self.notBefore = notBefore
        self.leaseUntil = leaseUntil
        self.fence = fence
        self.createdAt = createdAt
        self.doneAt = doneAt
        self.outcome = outcome
        self.status = status
        self.reason = reason
    }
}

/// A delivery that this process may attempt until its lease ends.
package struct ClaimedDelivery: Hashable, Sendable {
    package var delivery: DeliveryRecord
    package var event: EventRecord

    package init(delivery: DeliveryRecord, event: EventRecord) {
        self.delivery = delivery
        self.event = event
    }
}

/// What became of an attempt.
package struct Settlement: Hashable, Sendable {
    package var delivery: Int64
    package var webhook: WebhookID
    /// The fence of the claim.
    package var fence: Int64
    package var result: Result

    package enum Result: Hashable, Sendable {
        case delivered(status: Int)
        case retry(at: Timestamp, status: Int?, reason: String)
        case givenUp(status: Int?, reason: String)
        /// The event expired before a response.
        case expired
        /// 410: the webhook is disabled too, with the reason.
        case disabled(reason: String)
        /// The attempt was not made: it is due again at once, and does not count.
        case released
    }

    package init(_ claim: DeliveryRecord, _ result: Result) {
        delivery = claim.id
        webhook = claim.webhook
        fence = claim.fence
        self.result = result
    }
}
