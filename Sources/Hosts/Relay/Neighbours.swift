import DatagramIO
import TURN
import Wire

/// The workers of one relay as one of them sees them.
struct Neighbours: Sendable {
    let own: UInt8
    let mailboxes: [WorkerMailbox]

    func mailbox(_ worker: UInt8) -> WorkerMailbox? {
        worker < mailboxes.count ? mailboxes[Int(worker)] : nil
    }
}

/// Datagrams on their way to the worker that owns their flow: one after the other in a buffer that is used again.
struct HandedOver: Sendable {
    struct Entry: Sendable {
        let flow: Flow
        let worker: UInt8
        let range: Range<Int>
    }

    /// More than this between two rounds of the owner is dropped, as from the buffer of a socket.
    private static let byteLimit = 1 << 20

    private(set) var bytes: [UInt8] = []
    private(set) var entries: [Entry] = []
    private(set) var dropped: UInt64 = 0

    mutating func append(_ message: UnsafeRawBufferPointer, on flow: Flow, from worker: UInt8) {
        guard bytes.count + message.count <= Self.byteLimit else {
            dropped &+= 1
            return
        }
        let start = bytes.count
        bytes.append(contentsOf: message)
        entries.append(Entry(flow: flow, worker: worker, range: start..<bytes.count))
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        dropped = 0
    }
}

extension Worker {
    /// Serves the datagrams that other workers received for this one's allocations.
    mutating func receiveHandedOver() {
        // The two buffers change places, so that neither is made anew.
        var batch = handedOver
        handedOver = HandedOver()
        mailbox.takeHandedOver(&batch)
        counters.droppedHandedOver &+= batch.dropped
        batch.bytes.withUnsafeBytes { bytes in
            for entry in batch.entries {
                let datagram = UnsafeRawBufferPointer(rebasing: bytes[entry.range])
                let forward = engine.receiveHandedOver(
                    datagram.bytes, on: entry.flow, from: entry.worker, at: now, into: &outbox)
                if let forward { sendToPeer(forward, datagram) }
                if outbox.hasWishes { settle() }
            }
            // Payloads leave from where they lie.
            if !batch.entries.isEmpty { flush() }
        }
        batch.removeAll()
        handedOver = batch
    }
}
