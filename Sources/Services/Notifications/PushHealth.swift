package import Model
package import Notifications

/// Whether devices are told, for `switchboard check`, metrics and the operator's page.
package struct PushHealth: Codable, Hashable, Sendable {
    /// Of one kind of registrations.
    package struct Kind: Codable, Hashable, Sendable {
        package var kind: PushKind
        package var registrations = 0
        /// Pushes that no service has taken yet.
        package var waiting = 0
        /// The age of the oldest of them, in seconds.
        package var oldestSeconds = 0.0
        /// Nil if the last attempt did not fail.
        package var failure: Failure?

        package init(_ kind: PushKind) { self.kind = kind }
    }

    package struct Failure: Codable, Hashable, Sendable {
        /// Of the last attempt.
        package var reason: String
        /// When the first one failed after the last that did not.
        package var since: Timestamp

        package init(reason: String, since: Timestamp) {
            self.reason = reason
            self.since = since
        }
    }

    /// With which browsers subscribe, base64url; nil if they are not pushed to.
    package var webKey: String?
    /// Whether push services know how to reach the operator.
    package var hasContact: Bool
    /// Every kind, those that are not configured too.
    package var kinds: [Kind]
    /// Of the services that were tried; nil if none was, as for metrics.
    package var checks: [PushServiceCheck]?

    package init(webKey: String?, hasContact: Bool, kinds: [Kind] = PushKind.allCases.map { Kind($0) }) {
        self.webKey = webKey
        self.hasContact = hasContact
        self.kinds = kinds
    }

    /// Whether browsers are pushed to.
    package var isEnabled: Bool { webKey != nil }
    package var registrations: Int { kinds.reduce(0) { $0 + $1.registrations } }
    package var waiting: Int { kinds.reduce(0) { $0 + $1.waiting } }
    package var oldestSeconds: Double { kinds.map(\.oldestSeconds).max() ?? 0 }
    /// Why the last attempts failed; nil if none did.
    package var reason: String? {
        let reasons = kinds.compactMap { kind in kind.failure.map { "\(kind.kind): \($0.reason)" } }
        return reasons.isEmpty ? nil : reasons.sorted().joined(separator: " ")
    }
}
