import Logging
import Relay
import Synchronization

/// Whether the server takes new work.
///
/// While it drains, the relay refuses new allocations and `/readyz` says no, so that a load balancer sends people
/// elsewhere; everything else goes on: calls that are relayed, their signalling, and their hanging up.
final class Draining: Sendable {
    /// How often it is looked whether the last allocation has ended, and how many looks apart progress is logged.
    private static let pause = Duration.milliseconds(100)
    private static let looksPerLine = 50

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

    /// What `switchboard drain` does and prints.
    func answer(isOn: Bool) -> ControlAnswer {
        set(isOn)
        return ControlAnswer(
            lines: [
                isOn
                    ? "Draining: new allocations are refused, /readyz says no, \(allocationsLeft) allocations are left."
                    : "No longer draining: new allocations are accepted, /readyz says yes."
            ])
    }

    /// Drains, and comes back when no allocation is left, when the time is over, or when its task is cancelled.
    func run(seconds: Int) async {
        set(true)
        let deadline = ContinuousClock.now + .seconds(seconds)
        var looks = 0
        while !Task.isCancelled {
            let left = allocationsLeft
            if left == 0 { return }
            let remaining = deadline - ContinuousClock.now
            if remaining <= .zero {
                logger.warning("the time to drain is over", metadata: ["allocations": "\(left)"])
                return
            }
            if looks % Self.looksPerLine == 0 {
                logger.notice(
                    "draining: waiting for allocations to end",
                    metadata: ["allocations": "\(left)", "seconds": "\(remaining.components.seconds)"])
            }
            looks += 1
            try? await Task.sleep(for: Self.pause)
        }
    }
}
