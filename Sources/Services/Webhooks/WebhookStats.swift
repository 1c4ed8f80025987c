import Model
import Storage
import Webhooks

/// Numbers of all webhooks together.
package struct WebhookStats: Hashable, Sendable {
    package var waiting: Int64 = 0
    /// Since they were added.
    package var dropped: Int64 = 0
    /// The age of the oldest delivery that waits, in seconds.
    package var oldestSeconds = 0.0
    package var inFlight = 0
    package var disabled = 0
}

extension WebhookDispatcher {
    package func stats() async throws -> WebhookStats {
        var stats = try await store.read { store in
            var stats = WebhookStats()
            for webhook in try store.webhooks() {
                stats.dropped += webhook.dropped
                guard webhook.isEnabled else {
                    stats.disabled += 1
                    continue
                }
                stats.waiting += webhook.waiting
                guard webhook.waiting > 0, let oldest = try store.oldestWaiting(of: webhook.id) else { continue }
                stats.oldestSeconds = max(stats.oldestSeconds, Double(store.now.milliseconds(since: oldest)) / 1_000)
            }
            return stats
        }
        stats.inFlight = inFlight
        return stats
    }
}
