import DatagramIO
import Synchronization
import TURN
import Wire

/// A command from another thread to a worker.
enum WorkerCommand: Sendable {
    /// Ends allocations, and voids ephemeral credentials that expire until then (Unix seconds).
    case revoke(RevokedName, voidingUntil: Int64, issuedUntil: Int64)
    /// What a reload changed.
    case adopt(RelayRules)
    /// Another worker owns a flow that this one receives. With the response to the request that moved it there.
    case keepForwardedFlow(Flow, of: UInt8, Claim, response: [UInt8])
    case forgetForwardedFlow(Flow, of: UInt8, Claim)
    /// The worker that receives this flow has assigned it to another allocation.
    case removeIngress(Flow, Claim)
    /// A client's connection that claims a peer's connection of this worker.
    case adoptConnection(MovedConnection)
    case stop
}

/// The only input of a running worker, and its only output, the counters.
final class WorkerMailbox: Sendable {
    let wake: WakeSignal
    private let commands = Mutex<[WorkerCommand]>([])
    private let handedOver = Mutex(HandedOver())
    private let published = Mutex(RelayCounters())

    init?() {
        guard let wake = WakeSignal() else { return nil }
        self.wake = wake
    }

    /// More commands wait than ever arrive between two rounds, except in a flood of connections.
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
    func forward(_ message: UnsafeRawBufferPointer, on flow: Flow, from worker: UInt8, _ kind: HandedOver.Kind) {
        let isFirst = handedOver.withLock { handedOver in
            handedOver.append(message, on: flow, from: worker, kind)
            return handedOver.entries.count == 1
        }
        if isFirst { wake.raise() }
    }

    /// Swaps an empty buffer for the datagrams that were handed over.
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
