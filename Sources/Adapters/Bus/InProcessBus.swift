package import Model
import Synchronization

/// The bus of a server that is one process: publishing is a function call.
package final class InProcessBus: EventBus {
    private let subscribers = Mutex<[@Sendable (BusMessage) -> Void]>([])

    package init() {}

    package func publish(_ changes: [Change]) {
        guard !changes.isEmpty else { return }
        deliver(.changes(changes))
    }

    package func publish(_ updates: [ConversationUpdate]) {
        guard !updates.isEmpty else { return }
        deliver(.conversations(updates))
    }

    package func publish(_ event: EphemeralEvent) {
        deliver(.event(event))
    }

    package func subscribe(_ subscriber: @escaping @Sendable (BusMessage) -> Void) {
        subscribers.withLock { $0.append(subscriber) }
    }

    /// Subscribers run outside the lock, so that one of them may publish in turn.
    private func deliver(_ message: BusMessage) {
        for subscriber in subscribers.withLock({ $0 }) {
            subscriber(message)
        }
    }
}
