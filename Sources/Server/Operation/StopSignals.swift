import Foundation
import Logging
import Synchronization
import UnixSignals

/// Handles SIGTERM and SIGINT.
///
/// The first signal drains the server and then shuts it down gracefully: sessions get a bye, and requests in progress
/// are completed. A signal during draining ends the draining. A later one exits at once, which loses no stored data,
/// since the database survives a crash.
struct StopSignals: Sendable {
    let draining: Draining
    let drainSeconds: Int
    let logger: Logger

    func handle(_ signals: UnixSignalsSequence, end: @escaping @Sendable () async -> Void) async {
        let isEnding = Flag()
        var drain: Task<Void, Never>?
        for await signal in signals {
            if let drain {
                guard !isEnding.isSet else {
                    logger.warning("ended at once", metadata: ["signal": "\(signal)"])
                    exit(1)
                }
                logger.notice("a second signal: ending", metadata: ["signal": "\(signal)"])
                drain.cancel()
            } else {
                logger.notice("stopping", metadata: ["signal": "\(signal)"])
                drain = Task {
                    await draining.run(seconds: drainSeconds)
                    isEnding.set()
                    await end()
                }
            }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
