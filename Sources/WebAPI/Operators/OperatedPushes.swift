package import Model
package import Notifications
package import Services
import Synchronization

/// What the operator's page needs of pushes, which the composition root provides.
package struct OperatedPushes: Sendable {
    /// Those that are configured.
    package var kinds: Set<PushKind>
    package var health: @Sendable () async throws -> PushHealth
    package var checker: PushServiceChecker

    package init(
        kinds: Set<PushKind>, health: @escaping @Sendable () async throws -> PushHealth, checker: PushServiceChecker
    ) {
        self.kinds = kinds
        self.health = health
        self.checker = checker
    }
}

/// Tries push services for operators: one at a time, and each a few times a minute, whoever asks.
package final class PushServiceChecker: Sendable {
    package static let checksPerMinute = 10

    private let check: @Sendable (PushKind) async -> PushServiceCheck?
    private let slot = ConcurrencyLimiter(maxConcurrent: 1, maxWaiting: 0, busyWith: "checks of push services")
    private let permits = Mutex(RateLimiter<PushKind>(perMinute: checksPerMinute, capacity: PushKind.allCases.count))
    private let uptime: @Sendable () -> Int64

    /// - Parameters:
    ///   - uptime: in milliseconds.
    ///   - check: returns nil for a service that is not configured.
    package init(
        uptime: @escaping @Sendable () -> Int64, check: @escaping @Sendable (PushKind) async -> PushServiceCheck?
    ) {
        self.check = check
        self.uptime = uptime
    }

    /// - Returns: nil for a service that is not configured.
    /// - Throws: `rate_limited`, and `unavailable` while another check runs.
    func run(_ kind: PushKind) async throws -> PushServiceCheck? {
        let now = uptime()
        if let wait = permits.withLock({ $0.take(kind, at: now) }) {
            throw Problem(
                .rateLimited, "\(kind.rawValue) was checked \(Self.checksPerMinute) times within a minute: wait.",
                retryAfter: wait)
        }
        return try await slot.withSlot { await check(kind) }
    }
}
