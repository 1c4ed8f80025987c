import DatagramIO
import TURN
import Wire

/// The workers of one relay, from the view of one of them.
struct WorkerGroup: Sendable {
    let own: UInt8
    let mailboxes: [WorkerMailbox]

    func mailbox(_ worker: UInt8) -> WorkerMailbox? {
        worker < mailboxes.count ? mailboxes[Int(worker)] : nil
    }
}

/// Datagrams on their way to the worker that owns their flow, or back to the one that sends them, in one reusable
/// buffer.
struct HandedOver: Sendable {
    enum Kind: Sendable {
        /// From a client. `isOccupied`: the flow belongs to an allocation of the receiving worker that cannot give it up.
        case received(isOccupied: Bool)
        /// For a client.
        case outgoing
    }

    struct Entry: Sendable {
        let flow: Flow
        let worker: UInt8
        let kind: Kind
        let range: Range<Int>
    }

    /// More than this between two rounds of the owner is dropped, as from a socket's buffer.
    private static let byteLimit = 1 << 20

    private(set) var bytes: [UInt8] = []
    private(set) var entries: [Entry] = []
    private(set) var dropped: UInt64 = 0

    mutating func append(
        _ message: UnsafeRawBufferPointer, on flow: Flow, from worker: UInt8, _ kind: Kind
    ) {
        guard bytes.count + message.count <= Self.byteLimit else {
            dropped &+= 1
            return
        }
        let start = bytes.count
        bytes.append(contentsOf: message)
        entries.append(Entry(flow: flow, worker: worker, kind: kind, range: start..<bytes.count))
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        dropped = 0
    }
}

extension Worker {
    /// Handles the datagrams that other workers received for this worker's allocations, and sends the ones that they
    /// have for clients of this worker's sessions.
    mutating func receiveForwarded() {
        // The two buffers are swapped, so that neither is allocated anew.
        var batch = handedOver
        handedOver = HandedOver()
        mailbox.takeHandedOver(&batch)
        counters.droppedHandedOver &+= batch.dropped
        batch.bytes.withUnsafeBytes { bytes in
            for entry in batch.entries {
                let datagram = UnsafeRawBufferPointer(rebasing: bytes[entry.range])
                switch entry.kind {
                case .received(let isOccupied):
                    let forward = engine.receiveForwarded(
                        datagram.bytes, on: entry.flow, from: entry.worker, isOccupied: isOccupied, at: now,
                        into: &outbox)
                    if let forward { sendToPeer(forward, datagram) }
                    if outbox.hasPendingRequests { executeRequests() }
                case .outgoing:
                    guard engine.mayPass(datagram.bytes, on: entry.flow, of: entry.worker) else { continue }
                    outbox.send(datagram.bytes, on: entry.flow)
                }
            }
            // Payloads are sent from the batch's buffer.
            if !batch.entries.isEmpty { flush() }
        }
        batch.removeAll()
        handedOver = batch
    }
}
