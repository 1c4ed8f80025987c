import Foundation
import Logging
import Synchronization
import UnixSignals

/// What SIGTERM and SIGINT do.
///
/// The first drains, then ends the server as gently as it can: sessions are told goodbye, requests are answered. One that
/// comes while it drains ends the draining; one that comes later ends the process where it stands, which costs nothing
/// that is stored, since the database survives a crash.
struct StopSignals: Sendable {
    let draining: Draining
    let drainSeconds: Int
    let logger: Logger

    func obey(_ signals: UnixSignalsSequence, end: @escaping @Sendable () async -> Void) async {
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
