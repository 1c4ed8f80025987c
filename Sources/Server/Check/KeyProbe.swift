import Foundation
import Model

/// A server key that was not revoked, for the check of those that expire.
struct KeyExpiry: Codable, Hashable, Sendable {
    var id: String
    var name: String
    /// Milliseconds since 1970; nil if it does not expire.
    var expiresAt: Int64?
}

/// Looks for server keys that expire soon: from then on, the app's own back end is refused.
struct KeyProbe: Sendable {
    /// How long before its end a key is a warning.
    private static let warningDays: Int64 = 30
    private static let dayMilliseconds: Int64 = 86_400_000

    let server: RunningServer
    let clock: @Sendable () -> Timestamp

    func run() async -> CheckOutcome {
        do throws(CheckProblem) {
            let text = try await server.ask(.keyExpiries)
            guard let keys = try? JSONDecoder().decode([KeyExpiry].self, from: Data(text.utf8)) else {
                throw CheckProblem("the server's list of keys cannot be read", remedy: "Look at its log.")
            }
            return evaluate(keys, at: clock())
        } catch {
            return .failed(error)
        }
    }

    func evaluate(_ keys: [KeyExpiry], at now: Timestamp) -> CheckOutcome {
        guard !keys.isEmpty else { return .notConfigured("there are no server keys") }
        let warnings = keys.compactMap { key -> String? in
            guard let expiry = key.expiresAt else { return nil }
            guard expiry > now.milliseconds else {
                return "The key \(key.name) (\(key.id)) has expired: create another one, and revoke it."
            }
            // Neither is negative, so that the difference does not overflow.
            let left = expiry - max(0, now.milliseconds)
            guard left < Self.warningDays * Self.dayMilliseconds else { return nil }
            let days = left / Self.dayMilliseconds
            let time = days == 0 ? "in less than a day" : days == 1 ? "in a day" : "in \(days) days"
            return "The key \(key.name) (\(key.id)) expires \(time): create another one, and give it to who uses it."
        }
        return .passed("\(keys.count == 1 ? "1 key" : "\(keys.count) keys")", warnings: warnings)
    }
}
