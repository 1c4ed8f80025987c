package import Logging
package import Messaging
import Metrics
import ServiceLifecycle
package import Storage

/// Erases messages that are older than the server or their group keeps them: at the start, and then every ten minutes.
///
/// How far it has come is in rows, so that a start goes on where the last process ended. It works in small transactions
/// with pauses of three times their length, so that other writers hardly notice it.
package struct MessageEraser: Service {
    /// Messages of one transaction.
    private static let batch = 50
    private static let interval = Duration.seconds(600)

    private let store: Store
    private let commands: ConversationCommands
    private let keepDays: Int
    private let logger: Logger

    /// - Parameter keepDays: those of the server; 0 for ever.
    package init(store: Store, commands: ConversationCommands, keepDays: Int, logger: Logger) {
        self.store = store
        self.commands = commands
        self.keepDays = keepDays
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                do {
                    try await sweep()
                } catch {
                    // A full disk is logged once, and not every few minutes.
                    if !Task.isCancelled, (error as? SQLError)?.kind != .diskFull {
                        logger.error("old messages could not be erased", metadata: ["error": "\(error)"])
                    }
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    package func sweep() async throws {
        let (commands, keepDays) = (commands, keepDays)
        // Most of the time there is nothing to erase, which needs no write.
        guard try await store.read({ try commands.hasOldMessages(keepDays: keepDays, in: $0) }) else { return }
        var total = 0
        while !Task.isCancelled {
            let began = ContinuousClock.now
            let step = try await store.write {
                try commands.eraseOldMessages(keepDays: keepDays, limit: Self.batch, in: $0)
            }.value
            Counter(label: "retention_removed_total", dimensions: [("kind", "message")]).increment(by: step.erased)
            total += step.erased
            guard step.hasMore else { break }
            try await Task.sleep(for: (ContinuousClock.now - began) * 3)
        }
        if total > 0 {
            logger.notice(
                "removed items past their retention period", metadata: ["kind": "message", "count": "\(total)"])
        }
    }
}
