package import Model

/// What a transaction needs that changes something events tell about.
package protocol EventStore {
    /// The wall-clock time of the transaction.
    var now: Timestamp { get }
    /// The subscriptions as they were when the transaction began.
    var subscriptions: WebhookSubscriptions { get }
    /// The app's own ids of those of `users` who have one.
    func externalIDs(of users: [UserID]) throws -> [UserID: String]
    /// The devices on which a user is signed in, the last used first, with their endpoints that are connected.
    func eventDevices(of user: UserID) throws -> [EventDevice]
    /// Writes the event, with a delivery for each webhook that subscribes to its type; nothing if nobody does.
    func insert(_ event: EventRecord) throws
}

/// The storage of webhooks, events and deliveries, inside one transaction.
package protocol WebhookStore: EventStore {
    // Webhooks.
    /// All webhooks, the oldest first.
    func webhooks() throws -> [WebhookRecord]
    func webhook(_ id: WebhookID) throws -> WebhookRecord?
    /// Whether it was removed and has deliveries that remain to be removed.
    func wasRemoved(_ id: WebhookID) throws -> Bool
    func insert(_ webhook: WebhookRecord) throws
    /// Writes name, secrets and whether it is disabled; not the counters.
    func update(_ webhook: WebhookRecord) throws
    /// Removes the webhook; its deliveries follow in batches by `trimEvents`. Returns whether there was one.
    func removeWebhook(_ id: WebhookID) throws -> Bool

    // Deliveries.
    /// Claims up to `limit` deliveries of an enabled webhook that are due, until `leaseUntil`: those that expire first,
    /// then by `notBefore`. What has expired is settled as such instead.
    func claimDeliveries(of webhook: WebhookID, limit: Int, until leaseUntil: Timestamp) throws -> [ClaimedDelivery]
    /// When the next delivery of the webhook is due: its `notBefore`, or the end of a lease. Nil if none waits.
    func nextDelivery(of webhook: WebhookID) throws -> Timestamp?
    /// Settles claims; those whose fence is no longer current are left alone. Returns the ids of those that were settled.
    func settle(_ settlements: [Settlement]) throws -> Set<Int64>
    /// The deliveries of a webhook among the latest 10,000 of all, the newest first.
    func deliveries(of webhook: WebhookID, limit: Int) throws -> [DeliveryRecord]
    /// When the oldest delivery that waits was created.
    func oldestWaiting(of webhook: WebhookID) throws -> Timestamp?

    // Events.
    /// Writes an event with a delivery for one webhook alone; for a puller, all pullers read it. Returns its number.
    @discardableResult
    func insert(_ event: EventRecord, for webhook: WebhookRecord) throws -> Int64
    /// Makes new deliveries for the kept events in `after` to `last` to whose types the webhook subscribes, in batches: pass
    /// the returned number as `after` again until it is nil. Adds their count to `count`.
    func replay(
        to webhook: WebhookRecord, after number: Int64, upTo last: Int64, limit: Int, count: inout Int
    ) throws -> Int64?
    /// The position after the last event, and the one before the oldest that is kept.
    func eventPositions() throws -> (epoch: String, last: Int64, trimmed: Int64)
    /// The number of the last event before `time`.
    func lastEvent(before time: Timestamp) throws -> Int64
    /// The event of a number; nil if it is not kept.
    func event(_ number: Int64) throws -> EventRecord?
    /// The events that pullers read after a number, at most `limit`, in order.
    func pulledEvents(after number: Int64, limit: Int) throws -> [EventRecord]
    /// Removes up to `limit` events and deliveries each that are older than `time`, and deliveries of removed webhooks.
    /// Returns the number of removed rows.
    func trimEvents(before time: Timestamp, limit: Int) throws -> Int
    /// Removes a deleted user's names and external id from kept events, in batches: pass the returned number again until
    /// it is nil. `user.deleted` keeps the external id, which the app needs to delete the user too.
    func redactEvents(of user: UserID, after number: Int64, limit: Int) throws -> Int64?
}

/// The bounds of what is kept.
package enum WebhookLimits {
    package static let webhooks = 100
    /// Deliveries that wait for one webhook; the oldest beyond it are dropped.
    package static let waiting: Int64 = 100_000
    package static let retentionSeconds: Int64 = 30 * 86_400
}
