import BasicContainers
import RTP
import SDP
package import Wire

// When video packets are sent: at once if the pacer of the receiving leg allows it, otherwise in order a moment later.
// Audio and retransmissions never wait.

extension GatewayEngine {
    /// A packet waits this long only if its layer is being left or the pacing rate is far too low.
    private static let maxQueueNanoseconds: UInt64 = 400_000_000
    /// The least time between two releases.
    private static let minPause: UInt64 = 2_000_000

    /// When the next waiting packet may be sent; the distant future when none waits.
    package var nextRelease: Instant { pacedLegs.isEmpty ? .distantFuture : release }

    /// Sends the waiting packets that are due.
    package mutating func releaseWaiting(at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard !pacedLegs.isEmpty, release <= now else { return }
        release = .distantFuture
        let paced = pacedLegs
        pacedLegs.removeAll(keepingCapacity: true)
        for legIndex in paced {
            guard legs[legIndex].isOpen, let bandwidth = legs[legIndex].bandwidth else { continue }
            bandwidth.isPaced = false
            releaseWaiting(of: legIndex, bandwidth, at: now, into: &outbox)
        }
    }

    mutating func releaseWaiting(
        of legIndex: Int, _ bandwidth: LegBandwidth, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        dropLate(legIndex, bandwidth, at: now)
        while true {
            switch bandwidth.pacer.next(hasPackets: !bandwidth.waiting.isEmpty, at: now) {
            case .send(let probe):
                guard let packet = bandwidth.waiting.removeFirst() else { return }
                send(packet, of: legIndex, probe: probe, at: now, into: &outbox)
            case .pad(_, let probe):
                if !pad(legIndex, bandwidth, probe: probe, at: now, into: &outbox) { bandwidth.pacer.cancelProbe() }
            case .wait(let until):
                pace(legIndex, bandwidth, until: max(until, now.adding(nanoseconds: Self.minPause)))
                return
            case .idle: return
            }
        }
    }

    private mutating func pace(_ legIndex: Int, _ bandwidth: LegBandwidth, until: Instant) {
        release = min(pacedLegs.isEmpty ? .distantFuture : release, until)
        guard !bandwidth.isPaced else { return }
        bandwidth.isPaced = true
        pacedLegs.append(legIndex)
    }

    /// Enqueues a video packet that has to wait, and returns true. Otherwise the packet is to be sent at once, as part
    /// of the probe whose id is in `probe`.
    mutating func enqueueIfPaced(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, to slotIndex: SlotIndex, probe: inout UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let bandwidth = legs[slotIndex.leg].bandwidth, legs[slotIndex.leg].slots[slotIndex.slot].kind == .video,
            isUseful(arrival, to: slotIndex, bandwidth)
        else { return false }
        if bandwidth.waiting.isEmpty {
            switch bandwidth.pacer.next(hasPackets: true, at: now) {
            case .send(let id):
                probe = id
                return false
            case .wait(let until): pace(slotIndex.leg, bandwidth, until: until)
            case .pad, .idle: return false
            }
        }
        bandwidth.waiting.append(
            WaitingPacket(slot: slotIndex.slot, encoding: arrival.encoding, sequence: packet.sequence, since: now))
        counters.waited &+= 1
        return true
    }

    /// Whether the slot shows the packet now, or will after the wait: a packet of the target encoding is only useful
    /// from its key frame on.
    private func isUseful(_ arrival: Arrival, to slotIndex: SlotIndex, _ bandwidth: LegBandwidth) -> Bool {
        // Field by field: this runs for every packet and subscriber, so the rewriter must not be copied.
        if legs[slotIndex.leg].slots[slotIndex.slot].rewriter.source == arrival.encoding { return true }
        guard legs[slotIndex.leg].slots[slotIndex.slot].rewriter.target == arrival.encoding else { return false }
        return arrival.traits.isEntry || bandwidth.waiting.contains(slot: slotIndex.slot, encoding: arrival.encoding)
    }

    private mutating func send(
        _ waiting: WaitingPacket, of legIndex: Int, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard legs[legIndex].slots.indices.contains(waiting.slot), let stream = encodings[waiting.encoding] else {
            return
        }
        var bytes = scratch
        scratch = []
        defer { scratch = bytes }
        let publisher = tracks[stream.track].leg
        guard tracks[stream.track].encodings[stream.encoding].history?.copy(waiting.sequence, into: &bytes) ?? false,
            let packet = try? RTPPacket(bytes.span.bytes),
            let mapping = legs[publisher].payloads.mapping(of: packet.payloadType)
        else {
            // Its track ended, or the history has overwritten it.
            counters.givenUp &+= 1
            return
        }
        let arrival = Arrival(
            packet, waiting.encoding, mapping.codec, legs[publisher].payloads, legs[publisher].extensions)
        deliver(
            packet, arrival, to: SlotIndex(leg: legIndex, slot: waiting.slot), probe: probe, at: now, into: &outbox)
    }

    /// When packets wait for too long, drops those of layers that are being left anyway: their slots resume with the
    /// target layer. After twice that time, drops everything.
    private mutating func dropLate(_ legIndex: Int, _ bandwidth: LegBandwidth, at now: Instant) {
        guard let oldest = bandwidth.waiting.oldest, now.nanoseconds(since: oldest) > Self.maxQueueNanoseconds else {
            return
        }
        let left = legs[legIndex].slots.indices.filter { legs[legIndex].slots[$0].rewriter.isLeaving }
        let all = legs[legIndex].slots.indices.filter { legs[legIndex].slots[$0].kind == .video }
        let isLate = now.nanoseconds(since: oldest) > 2 &* Self.maxQueueNanoseconds
        for slot in isLate ? all : left where bandwidth.waiting.contains(slot: slot) {
            dropWaiting(slot, of: legIndex, bandwidth)
        }
    }

    /// Drops the slot's waiting packets but those of the target layer; the slot shows nothing until that begins.
    mutating func dropWaiting(_ slot: Int, of legIndex: Int, _ bandwidth: LegBandwidth) {
        let target = legs[legIndex].slots[slot].rewriter.isLeaving ? legs[legIndex].slots[slot].rewriter.target : nil
        let removed = bandwidth.waiting.removeAll(of: slot, but: target)
        counters.givenUp &+= UInt64(truncatingIfNeeded: removed)
        legs[legIndex].slots[slot].rewriter.restart()
    }

    /// Retransmits a recent packet of the leg as padding for a probe, which also repairs a loss.
    private mutating func pad(
        _ legIndex: Int, _ bandwidth: LegBandwidth, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        for slot in legs[legIndex].slots.indices where legs[legIndex].slots[slot].kind == .video {
            guard let newest = legs[legIndex].slots[slot].rewriter.newestSequence else { continue }
            for _ in 0..<4 {
                bandwidth.repeated = (bandwidth.repeated &+ 1) % 64
                if `repeat`(
                    newest &- bandwidth.repeated, SlotIndex(leg: legIndex, slot: slot), probe: probe, at: now,
                    into: &outbox)
                {
                    counters.padded &+= 1
                    return true
                }
            }
        }
        return false
    }
}
