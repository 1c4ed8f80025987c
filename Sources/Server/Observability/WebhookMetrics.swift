import Services

extension ServerMetrics {
    func collect(_ stats: WebhookStats) {
        set("webhook_waiting", stats.waiting)
        set("webhook_oldest_seconds", stats.oldestSeconds)
        set("webhook_in_flight", stats.inFlight)
        set("webhook_disabled", stats.disabled)
        set("webhook_dropped_total", stats.dropped)
    }
}
