import BasicContainers
import DatagramIO
import TURN
import Wire

// How much of the thread's time TLS handshakes may take. A connection that has to wait is not read meanwhile, and loses
// nothing.

/// A connection whose TLS handshake has to wait.
struct HeldHandshake: Sendable {
    let slot: Int
    let generation: UInt32
}

extension Worker {
    /// A quarter of the thread's time, in bursts no longer than other clients' packets may wait.
    static let handshakeShare = WorkBudget(perSecond: 250_000_000, burst: 5_000_000)

    /// Whether a handshake may proceed now: those that wait come first.
    mutating func mayHandshake() -> Bool {
        (heldHandshakes.isEmpty || isResumingHandshake) && handshakeBudget.allowsMore(at: now)
    }

    mutating func holdHandshake(_ slot: Int) {
        guard !outbox.connections.slots[slot].isHeld else { return }
        counters.handshakesDelayed &+= 1
        outbox.connections.setHeld(slot, true)
        heldHandshakes.append(
            HeldHandshake(
                slot: slot, generation: outbox.connections.slots[slot].generation & EventTag.generationMask),
            of: outbox.connections.slots[slot].flow.remote.address)
    }

    /// Resumes waiting handshakes, taking turns between sources.
    mutating func resumeHandshakes() {
        // Each at most once: one that has to wait again goes to the end of the queue.
        for _ in 0..<heldHandshakes.count {
            guard handshakeBudget.allowsMore(at: now), let held = heldHandshakes.popFirst() else { return }
            guard let slot = outbox.connections.slot(held.slot, generation: held.generation) else { continue }
            outbox.connections.setHeld(slot, false)
            resumeHandshake(slot, held.generation)
        }
    }

    private mutating func resumeHandshake(_ slot: Int, _ generation: UInt32) {
        isResumingHandshake = true
        defer { isResumingHandshake = false }
        if outbox.connections.slots[slot].isOpening, outbox.connections.slots[slot].isReading {
            let first = Array(outbox.connections.slots[slot].unread.bytes)
            outbox.connections.keep(slot, UnsafeRawBufferPointer(start: nil, count: 0))
            first.withUnsafeBytes { receive($0, from: slot) }
        }
        serve(slot, .perhapsReadable, EventTag.connection(slot, generation: generation))
    }
}
