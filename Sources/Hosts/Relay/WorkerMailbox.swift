import DatagramIO
import Synchronization
import TURN
import Wire

/// What other threads tell a worker.
enum WorkerCommand: Sendable {
    /// Ends allocations, and voids ephemeral credentials that expire until then (Unix seconds).
    case revoke(RevokedName, voidingUntil: Int64, issuedUntil: Int64)
    /// What a reload changed.
    case adopt(RelayRules)
    /// What becomes of a flow that this worker receives and another one owns, with the answer to the move.
    case keepStranger(Flow, of: UInt8, Claim, answer: [UInt8])
    case forgetStranger(Flow, of: UInt8, Claim)
    /// Another worker receives this flow and has given it to somebody else.
    case loseGuest(Flow, Claim)
    /// A client's connection that claims a peer's connection of this worker.
    case take(MovedConnection)
    case stop
}

/// The only door into a running worker, and its counters, the only thing that comes out.
final class WorkerMailbox: Sendable {
    let wake: WakeSignal
    private let commands = Mutex<[WorkerCommand]>([])
    private let handedOver = Mutex(HandedOver())
    private let published = Mutex(RelayCounters())

    init?() {
        guard let wake = WakeSignal() else { return nil }
        self.wake = wake
    }

    /// More commands wait than a worker finds between two rounds, unless somebody floods it with connections.
    var isCrowded: Bool {
        commands.withLock { $0.count >= 4096 }
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

    /// A datagram for this worker that another one received, or a message that this one is to send.
    func handOver(_ message: UnsafeRawBufferPointer, on flow: Flow, from worker: UInt8, _ kind: HandedOver.Kind) {
        let isFirst = handedOver.withLock { handedOver in
            handedOver.append(message, on: flow, from: worker, kind)
            return handedOver.entries.count == 1
        }
        if isFirst { wake.raise() }
    }

    /// Changes an empty buffer for what was handed over.
    func takeHandedOver(_ spare: inout HandedOver) {
        handedOver.withLock { swap(&$0, &spare) }
    }

    /// Called by the worker a few times a second, never per packet.
    func publish(_ counters: RelayCounters) {
        published.withLock { $0 = counters }
    }

    var counters: RelayCounters {
        published.withLock { $0 }
    }
}
