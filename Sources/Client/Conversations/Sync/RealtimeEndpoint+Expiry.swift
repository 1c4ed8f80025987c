import Foundation

// Messages that disappear: at their time, with a connection or without.
extension RealtimeEndpoint {
    /// The wall clock may be set, or the device sleep: it is looked at so often while anything disappears.
    private static let maxWait = 60.0

    /// Removes the texts that have disappeared from the held and the stored state.
    func expireMessages() {
        let now = Date()
        cache { try $0.expire(at: now) }
        for conversation in messaging.open.values {
            conversation.state.expire(at: now)
            changed(conversation)
        }
        messaging.inbox.expire(at: now)
        inboxChanged()
        setExpiryTimer()
    }

    /// Wakes when the next text disappears. An earlier one replaces the timer.
    func setExpiryTimer() {
        var times = messaging.open.values.compactMap(\.state.nextExpiry)
        if let time = messaging.inbox.nextExpiry { times.append(time) }
        cache { store in
            if let time = try store.nextExpiry() { times.append(time) }
        }
        guard let next = times.min() else { return }
        if let timer = messaging.expiryTimer, timer.at <= next, timer.at > Date() { return }
        messaging.expiryTimer?.task.cancel()
        let seconds = min(Self.maxWait, max(0.001, next.timeIntervalSinceNow))
        messaging.expiryTimer = (
            Date(timeIntervalSinceNow: seconds),
            Task { [weak self, clock] in
                try? await clock.sleep(for: .seconds(seconds))
                if !Task.isCancelled { await self?.expireMessages() }
            }
        )
    }
}
