import Services

extension ServerMetrics {
    func collect(_ health: PushHealth) {
        set("push_registrations", health.registrations)
        set("push_waiting", health.waiting)
        set("push_oldest_seconds", health.oldestSeconds)
    }
}
