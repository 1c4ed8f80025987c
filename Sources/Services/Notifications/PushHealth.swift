package import Notifications

/// Whether devices are told, for `switchboard check` and metrics.
package struct PushHealth: Codable, Hashable, Sendable {
    /// Whether browsers are told.
    package var isEnabled: Bool
    /// Whether push services know how to reach the operator.
    package var hasContact: Bool
    package var registrations: Int
    /// Pushes that no service has taken yet.
    package var waiting: Int
    /// The age of the oldest of them, in seconds.
    package var oldestSeconds: Double
    /// Why the last attempt failed; nil if it did not.
    package var reason: String?
    /// Of the services that were tried; nil if none was, as for metrics.
    package var checks: [PushServiceCheck]?

    package init(
        isEnabled: Bool, hasContact: Bool, registrations: Int = 0, waiting: Int = 0, oldestSeconds: Double = 0,
        reason: String? = nil
    ) {
        self.isEnabled = isEnabled
        self.hasContact = hasContact
        self.registrations = registrations
        self.waiting = waiting
        self.oldestSeconds = oldestSeconds
        self.reason = reason
    }
}
