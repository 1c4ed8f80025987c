import Notifications
import Services

extension ServerMetrics {
    func collect(_ health: PushHealth) {
        for kind in health.kinds {
            let dimensions = [("kind", kind.kind.rawValue)]
            set("push_registrations", kind.registrations, dimensions)
            set("push_waiting", kind.waiting, dimensions)
            set("push_oldest_seconds", kind.oldestSeconds, dimensions)
        }
    }
}
