import BasicContainers
import DatagramIO
import TURN
import Wire

/// Streams of TCP allocations that are not read until their allocation's bytes per second allow more.
///
/// Their bytes wait in the kernel, whose full receive window makes the sender wait: nothing is lost, and nothing is
/// buffered here. All streams are resumed together, a fixed time after the first was added, so that the worker has one
/// deadline for any number of streams, and each read is worth its system call.
struct HeldStreams {
    enum Stream {
        case client(slot: Int, generation: UInt32)
        case peer(slot: Int, generation: UInt32)
    }

    private static let pauseNanoseconds: UInt64 = 20_000_000
    private var waiting: [Stream] = []
    /// When the streams are resumed.
    private(set) var next = Instant.distantFuture

    mutating func append(_ stream: Stream, at now: Instant) {
        if waiting.isEmpty { next = now.adding(nanoseconds: Self.pauseNanoseconds) }
        waiting.append(stream)
    }

    mutating func takeAll() -> [Stream] {
        next = .distantFuture
        defer { waiting = [] }
        return waiting
    }

    /// Puts streams that still wait before those that were served and wait again, so that each has its turn.
    mutating func putBack(_ streams: [Stream], at now: Instant) {
        guard !streams.isEmpty else { return }
        waiting.insert(contentsOf: streams, at: 0)
        next = now.adding(nanoseconds: Self.pauseNanoseconds)
    }
}

extension Worker {
    /// How many bytes of a client's connection may be read at once: a full buffer, unless it carries a stream.
    mutating func allowance(ofClient slot: Int) -> Int {
        guard let peer = outbox.connections.slots[slot].peer else { return Self.readByteCount }
        return engine.streamAllowance(
            outbox.peers.slots[peer].id, from: .client, upTo: Self.readByteCount, at: now)
    }

    /// The same for a peer's.
    mutating func allowance(ofPeer slot: Int) -> Int {
        engine.streamAllowance(outbox.peers.slots[slot].id, from: .peer, upTo: Self.readByteCount, at: now)
    }

    mutating func holdClient(_ slot: Int) {
        counters.streamsHeld &+= 1
        outbox.connections.setHeld(slot, true)
        let generation = outbox.connections.slots[slot].generation & EventTag.generationMask
        heldStreams.append(.client(slot: slot, generation: generation), at: now)
    }

    mutating func holdPeer(_ slot: Int) {
        counters.streamsHeld &+= 1
        outbox.peers.setHeld(slot, true)
        let generation = outbox.peers.slots[slot].generation & EventTag.generationMask
        heldStreams.append(.peer(slot: slot, generation: generation), at: now)
    }

    /// Resumes reading when the pause is over.
    mutating func resumeHeldStreams() {
        guard now >= heldStreams.next else { return }
        var waiting: [HeldStreams.Stream] = []
        for stream in heldStreams.takeAll() where !resume(stream) { waiting.append(stream) }
        heldStreams.putBack(waiting, at: now)
    }

    /// False when the stream has to wait longer.
    private mutating func resume(_ stream: HeldStreams.Stream) -> Bool {
        switch stream {
        case .client(let slot, let generation):
            guard let slot = outbox.connections.slot(slot, generation: generation) else { return true }
            guard allowance(ofClient: slot) > 0 else { return false }
            outbox.connections.setHeld(slot, false)
            serve(slot, .perhapsReadable, EventTag.connection(slot, generation: generation))
        case .peer(let slot, let generation):
            guard let slot = outbox.peers.slot(slot, generation: generation) else { return true }
            guard allowance(ofPeer: slot) > 0 else { return false }
            outbox.peers.setHeld(slot, false)
            servePeer(slot, .perhapsReadable, EventTag.peer(slot, generation: generation))
        }
        return true
    }
}
