package import Model

/// A subscription of the app's own server: to an address, or without one, which `GET /v1/server/events` reads (a puller).
package struct WebhookRecord: Hashable, Sendable {
    package let id: WebhookID
    package var name: String?
    /// Nil for a puller.
    package var url: String?
    /// Nil for all.
    package var types: Set<EventType>?
    /// Sealed; see `SecretSealer`. Of a puller too, which `webhook listen` signs with a secret of its own.
    package var secret: [UInt8]
    /// The secret before the last rotation, sealed, by which messages are signed too for a while.
    package var previous: Previous?
    package var createdAt: Timestamp
    package var disabledAt: Timestamp?
    /// Why it is disabled, in words for the operator.
    package var disabledReason: String?
    /// Deliveries that were dropped, because too many waited or for too long.
    package var dropped: Int64
    /// Deliveries that wait.
    package var waiting: Int64

    package struct Previous: Hashable, Sendable {
        package var secret: [UInt8]
        package var until: Timestamp

        package init(secret: [UInt8], until: Timestamp) {
            self.secret = secret
            self.until = until
        }
    }

    package init(
        id: WebhookID, name: String? = nil, url: String? = nil, types: Set<EventType>? = nil, secret: [UInt8],
        previous: Previous? = nil, createdAt: Timestamp, disabledAt: Timestamp? = nil, disabledReason: String? = nil,
        dropped: Int64 = 0, waiting: Int64 = 0
    ) {
        self.id = id
        self.name = name
        self.url = url
        self.types = types
        self.secret = secret
        self.previous = previous
        self.createdAt = createdAt
        self.disabledAt = disabledAt
        self.disabledReason = disabledReason
        self.dropped = dropped
        self.waiting = waiting
    }
}

extension WebhookRecord {
    /// How long messages are signed by the old secret too after a rotation, in seconds.
    package static let overlapSeconds: Int64 = 86_400

    package var isPuller: Bool { url == nil }
    package var isEnabled: Bool { disabledAt == nil }

    /// The sealed secrets that sign a message, the current one first.
    package func secrets(at now: Timestamp) -> [[UInt8]] {
        guard let previous, now < previous.until else { return [secret] }
        return [secret, previous.secret]
    }

    /// Replaces the secret. The old one signs for another `overlapSeconds`, and an older one no longer.
    package mutating func rotate(to secret: [UInt8], at now: Timestamp) {
        previous = Previous(secret: self.secret, until: now.adding(seconds: Self.overlapSeconds))
        self.secret = secret
    }
}

/// Encrypts the secrets of webhooks for the database. A sealed secret opens only for the webhook that it was sealed for.
package protocol SecretSealer: Sendable {
    func seal(_ secret: [UInt8], for webhook: WebhookID) throws -> [UInt8]
    /// Throws if it was sealed with another key, for another webhook, or is damaged.
    func open(_ sealed: [UInt8], for webhook: WebhookID) throws -> [UInt8]
}
