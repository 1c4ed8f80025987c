import DatagramIO
import Synchronization
import TURN

/// What other threads tell a worker.
enum WorkerCommand: Sendable {
    case revoke(RevokedName)
    /// What a reload changed.
    case adopt(RelayRules)
    case stop
}

/// The only door into a running worker, and its counters, the only thing that comes out.
final class WorkerMailbox: Sendable {
    let wake: WakeSignal
    private let commands = Mutex<[WorkerCommand]>([])
    private let published = Mutex(RelayCounters())

    init?() {
        guard let wake = WakeSignal() else { return nil }
        self.wake = wake
    }

    func post(_ command: WorkerCommand) {
        commands.withLock { $0.append(command) }
        wake.raise()
    }

    func takeAll() -> [WorkerCommand] {
        commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }

    /// Called by the worker a few times a second, never per packet.
    func publish(_ counters: RelayCounters) {
        published.withLock { $0 = counters }
    }

    var counters: RelayCounters {
        published.withLock { $0 }
    }
}
