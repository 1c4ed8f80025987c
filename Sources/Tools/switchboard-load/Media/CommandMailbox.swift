import DatagramIO
import Synchronization

/// Commands for a thread, which are in order and wake it.
final class CommandMailbox<Command: Sendable>: Sendable {
    let wake: WakeSignal
    private let commands = Mutex<[Command]>([])

    init() throws {
        guard let wake = WakeSignal() else { throw MediaFailure("no more descriptors: raise ulimit -n") }
        self.wake = wake
    }

    func post(_ command: Command) {
        commands.withLock { $0.append(command) }
        wake.raise()
    }

    func takeAll() -> [Command] {
        commands.withLock { commands in
            defer { commands.removeAll(keepingCapacity: true) }
            return commands
        }
    }
}
