import Logging
import Relay
import Synchronization

/// Whether the server drains.
///
/// While it drains, the relay rejects new allocations and `/readyz` fails, so that a load balancer sends clients
/// elsewhere. Everything else goes on: relayed calls, and signalling.
final class Draining: Sendable {
    /// How often the number of allocations is polled, and how many polls there are between two log lines.
    private static let pollInterval = Duration.milliseconds(100)
    private static let pollsPerLogLine = 50

    private let relay: RelayServer?
    private let logger: Logger
    private let state = Atomic(false)

    init(relay: RelayServer?, logger: Logger) {
        self.relay = relay
        self.logger = logger
    }

    var isOn: Bool { state.load(ordering: .relaxed) }
    var allocationsLeft: Int { relay?.outstanding.allocations ?? 0 }

    func set(_ isOn: Bool) {
        relay?.isDraining = isOn
        let wasOn = state.exchange(isOn, ordering: .relaxed)
        guard wasOn != isOn else { return }
        let message: Logger.Message = isOn ? "draining: new allocations are refused" : "no longer draining"
        logger.notice(message, metadata: ["allocations": "\(allocationsLeft)"])
    }

    /// Handles `switchboard drain`, and returns what it prints.
    func handleDrain(isOn: Bool) -> ControlResponse {
        set(isOn)
        return ControlResponse(
            lines: [
                isOn
                    ? "Draining: new allocations are refused, /readyz says no, \(allocationsLeft) allocations are left."
                    : "No longer draining: new allocations are accepted, /readyz says yes."
            ])
    }

    /// Drains. Returns when no allocation is left, when the time is over, or when its task is cancelled.
    func run(seconds: Int) async {
        set(true)
        let deadline = ContinuousClock.now + .seconds(seconds)
        var polls = 0
        while !Task.isCancelled {
            let left = allocationsLeft
            if left == 0 { return }
            let remaining = deadline - ContinuousClock.now
            if remaining <= .zero {
                logger.warning("the time to drain is over", metadata: ["allocations": "\(left)"])
                return
            }
            if polls % Self.pollsPerLogLine == 0 {
                logger.notice(
                    "draining: waiting for allocations to end",
                    metadata: ["allocations": "\(left)", "seconds": "\(remaining.components.seconds)"])
            }
            polls += 1
            try? await Task.sleep(for: Self.pollInterval)
        }
    }
}
