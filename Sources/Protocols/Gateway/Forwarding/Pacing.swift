import BasicContainers
import RTP
import SDP
package import Wire

// When packets of video leave: at once, while the pacer of the receiving leg allows it, else in their order a moment later.
// Sound and what was asked for again never wait.

extension GatewayEngine {
    /// Something waits so long only when its layer is no longer the one that is wanted, or the pace is far too low.
    private static let patienceNanoseconds: UInt64 = 400_000_000
    /// How long at least before it is looked again at what waits.
    private static let leastPause: UInt64 = 2_000_000

    /// When the next packet that waits may leave; the distant future when none does.
    package var nextRelease: Instant { pacedLegs.isEmpty ? .distantFuture : release }

    /// Sends what waited and may leave now.
    package mutating func releaseWaiting(at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard !pacedLegs.isEmpty, release <= now else { return }
        release = .distantFuture
        let places = pacedLegs
        pacedLegs.removeAll(keepingCapacity: true)
        for place in places {
            guard legs[place].isOpen, let bandwidth = legs[place].bandwidth else { continue }
            bandwidth.isPaced = false
            releaseWaiting(of: place, bandwidth, at: now, into: &outbox)
        }
    }

    mutating func releaseWaiting(
        of place: Int, _ bandwidth: LegBandwidth, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        cutOff(place, bandwidth, at: now)
        while true {
            switch bandwidth.pacer.next(hasPackets: !bandwidth.waiting.isEmpty, at: now) {
            case .send(let probe):
                guard let packet = bandwidth.waiting.removeFirst() else { return }
                send(packet, of: place, probe: probe, at: now, into: &outbox)
            case .pad(_, let probe):
                if !pad(place, bandwidth, probe: probe, at: now, into: &outbox) { bandwidth.pacer.giveUpProbe() }
            case .wait(let until):
                pace(place, bandwidth, until: max(until, now.adding(nanoseconds: Self.leastPause)))
                return
            case .idle: return
            }
        }
    }

    private mutating func pace(_ place: Int, _ bandwidth: LegBandwidth, until: Instant) {
        release = min(pacedLegs.isEmpty ? .distantFuture : release, until)
        guard !bandwidth.isPaced else { return }
        bandwidth.isPaced = true
        pacedLegs.append(place)
    }

    /// True when a packet of video has to wait, and does now. Otherwise it is to be sent at once, as part of the burst
    /// whose id is in `probe`.
    mutating func holdsBack(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, to place: SlotPlace, probe: inout UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let bandwidth = legs[place.leg].bandwidth, legs[place.leg].slots[place.slot].kind == .video,
            isOfUse(arrival, to: place, bandwidth)
        else { return false }
        if bandwidth.waiting.isEmpty {
            switch bandwidth.pacer.next(hasPackets: true, at: now) {
            case .send(let id):
                probe = id
                return false
            case .wait(let until): pace(place.leg, bandwidth, until: until)
            case .pad, .idle: return false
            }
        }
        bandwidth.waiting.append(
            WaitingPacket(slot: place.slot, encoding: arrival.encoding, sequence: packet.sequence, since: now))
        tally.waited &+= 1
        return true
    }

    /// Whether the slot shows the packet now, or will when it has waited: that of another encoding is only of use behind
    /// the beginning of a picture.
    private func isOfUse(_ arrival: Arrival, to place: SlotPlace, _ bandwidth: LegBandwidth) -> Bool {
        // Field by field: with every packet for every subscriber, the rewriter is not to be copied.
        if legs[place.leg].slots[place.slot].rewriter.source == arrival.encoding { return true }
        guard legs[place.leg].slots[place.slot].rewriter.wanted == arrival.encoding else { return false }
        return arrival.traits.isEntry || bandwidth.waiting.contains(slot: place.slot, encoding: arrival.encoding)
    }

    private mutating func send(
        _ waiting: WaitingPacket, of place: Int, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard legs[place].slots.indices.contains(waiting.slot), let stream = encodings[waiting.encoding] else { return }
        var bytes = scratch
        scratch = []
        defer { scratch = bytes }
        let publisher = tracks[stream.track].leg
        guard tracks[stream.track].encodings[stream.encoding].history?.copy(waiting.sequence, into: &bytes) ?? false,
            let packet = try? RTPPacket(bytes.span.bytes),
            let meaning = legs[publisher].payloads.meaning(of: packet.payloadType)
        else {
            // Its track ended, or its publisher sent half a megabyte since.
            tally.givenUp &+= 1
            return
        }
        let arrival = Arrival(
            packet, waiting.encoding, meaning.codec, legs[publisher].payloads, legs[publisher].extensions)
        deliver(
            packet, arrival, to: SlotPlace(leg: place, slot: waiting.slot), probe: probe, at: now, into: &outbox)
    }

    /// Where packets wait for too long, those of layers that are left anyway are given up: their pictures begin anew with
    /// the layer that is wanted. When that is not it, everything is.
    private mutating func cutOff(_ place: Int, _ bandwidth: LegBandwidth, at now: Instant) {
        guard let oldest = bandwidth.waiting.oldest, now.nanoseconds(since: oldest) > Self.patienceNanoseconds else {
            return
        }
        let left = legs[place].slots.indices.filter { legs[place].slots[$0].rewriter.isLeaving }
        let all = legs[place].slots.indices.filter { legs[place].slots[$0].kind == .video }
        let isLate = now.nanoseconds(since: oldest) > 2 &* Self.patienceNanoseconds
        for slot in isLate ? all : left where bandwidth.waiting.contains(slot: slot) {
            giveUp(slot, of: place, bandwidth)
        }
    }

    /// The slot shows nothing until the layer that it is to show begins; what waits of that stays.
    mutating func giveUp(_ slot: Int, of place: Int, _ bandwidth: LegBandwidth) {
        let wanted = legs[place].slots[slot].rewriter.isLeaving ? legs[place].slots[slot].rewriter.wanted : nil
        let removed = bandwidth.waiting.removeAll(of: slot, but: wanted)
        tally.givenUp &+= UInt64(truncatingIfNeeded: removed)
        legs[place].slots[slot].rewriter.restart()
    }

    /// Repeats a packet that the leg was sent a moment ago, so that a probe has its bytes: who lost it gets it back.
    private mutating func pad(
        _ place: Int, _ bandwidth: LegBandwidth, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        for slot in legs[place].slots.indices where legs[place].slots[slot].kind == .video {
            guard let newest = legs[place].slots[slot].rewriter.newestSequence else { continue }
            for _ in 0..<4 {
                bandwidth.repeated = (bandwidth.repeated &+ 1) % 64
                if `repeat`(
                    newest &- bandwidth.repeated, SlotPlace(leg: place, slot: slot), probe: probe, at: now,
                    into: &outbox)
                {
                    tally.padded &+= 1
                    return true
                }
            }
        }
        return false
    }
}
