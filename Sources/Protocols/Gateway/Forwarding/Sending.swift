import BasicContainers
import RTP
import SDP
import Wire

// What goes out on a leg, and when: audio at once, video as fast as the leg's estimate lets it.

extension GatewayEngine {
    /// Sends a packet that has its numbers, or has it wait for its turn.
    mutating func dispatch(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, _ form: PayloadForm, _ numbers: SlotPacket,
        to place: SlotPlace, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        var probe: UInt8 = 0
        if legs[place.leg].slots[place.slot].kind == .video {
            if !legs[place.leg].sending.queue.isEmpty {
                wait(packet, arrival, numbers, place)
                return
            }
            switch legs[place.leg].sending.pacer.next(hasPackets: true, at: now) {
            case .send(let burst): probe = burst
            default:
                wait(packet, arrival, numbers, place)
                return
            }
        }
        write(packet, arrival, form, numbers, probe: probe, to: place, at: now, into: &outbox)
        tally.forwarded &+= 1
    }

    private mutating func wait(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, _ numbers: SlotPacket, _ place: SlotPlace
    ) {
        let waiting = PacketQueue.Waiting(
            slot: Int32(truncatingIfNeeded: place.slot), encoding: arrival.encoding, sequence: packet.sequence,
            byteCount: UInt16(clamping: packet.bytes.byteCount), numbers: numbers)
        if !legs[place.leg].sending.queue.append(waiting) { tally.noRoom &+= 1 }
    }

    /// True when a packet is not even to get a number: too much waits for the leg already.
    ///
    /// A stream that is cut off begins again with a key frame, once half of the backlog is gone. Frames of which parts
    /// are missing would be of no use, and numbers for what nobody sent would be asked for again and again.
    mutating func isCutOff(_ packet: borrowing RTPPacket, _ arrival: Arrival, _ place: SlotPlace) -> Bool {
        let backlog = legs[place.leg].sending.queue.byteCount
        guard backlog > 0, legs[place.leg].slots[place.slot].kind == .video else { return false }
        let limit = legs[place.leg].sending.backlogLimit
        guard let source = legs[place.leg].slots[place.slot].rewriter.source else { return backlog > limit / 2 }
        guard backlog > limit, source == arrival.encoding,
            // The key frame with which it begins comes whole.
            legs[place.leg].slots[place.slot].entryTimestamp != packet.timestamp
        else { return false }
        legs[place.leg].slots[place.slot].rewriter.restart()
        tally.cutOff &+= 1
        return true
    }

    /// Sends what waits, as far as the pacer lets it, and fills up bursts that probe.
    mutating func pump(_ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        for _ in 0..<128 {
            let hasPackets = !legs[place].sending.queue.isEmpty
            guard hasPackets || legs[place].sending.pacer.isProbing else { return }
            switch legs[place].sending.pacer.next(hasPackets: hasPackets, at: now) {
            case .send(let probe):
                if let waiting = legs[place].sending.queue.popFirst() {
                    send(waiting, probe: probe, place, at: now, into: &outbox)
                }
            case .pad(_, let probe):
                guard fill(probe: probe, place, at: now, into: &outbox) else {
                    legs[place].sending.pacer.giveUp()
                    return
                }
            case .wait, .idle: return
            }
        }
    }

    private mutating func send(
        _ waiting: PacketQueue.Waiting, probe: UInt8, _ place: Int, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let slot = SlotPlace(leg: place, slot: Int(waiting.slot))
        let isSent = withHistory(of: waiting.encoding, waiting.sequence, at: now, into: &outbox) {
            engine, packet, arrival, outbox in
            guard slot.slot < engine.legs[place].slots.count,
                let form = arrival.form(for: engine.legs[place].payloads)
            else { return false }
            engine.write(
                packet, arrival, form, waiting.numbers, probe: probe, to: slot, at: now, into: &outbox)
            return true
        }
        if isSent { tally.forwarded &+= 1 } else { tally.noRoom &+= 1 }
    }

    /// Sends a packet of a slot again, under a number of its repair stream. False when it is not to be had any more.
    mutating func resend(
        _ original: SlotRewriter.Original, _ place: SlotPlace, probe: UInt8 = 0, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        withHistory(of: original.source, original.sequence, at: now, into: &outbox) { engine, packet, arrival, outbox in
            guard let repair = engine.legs[place.leg].payloads.own(arrival.codec)?.retransmission else { return false }
            // What fills a burst is bounded by the burst.
            guard
                probe != 0
                    || engine.legs[place.leg].slots[place.slot].repairs.take(
                        packet.bytes.byteCount, rate: engine.legs[place.leg].sending.estimate.bitrate, at: now)
            else { return false }
            let numbers = engine.legs[place.leg].slots[place.slot].rewriter.numbers(
                of: original, packet.header, arrival.traits)
            engine.write(
                packet, arrival, PayloadForm(type: repair), numbers, repairs: true, probe: probe, to: place, at: now,
                into: &outbox)
            return true
        }
    }

    /// Looks up a packet that was published. It leaves the ring first, which may be written while the packet is read.
    private mutating func withHistory<Outbox: GatewayOutbox & ~Copyable>(
        of encoding: UInt32, _ sequence: UInt16, at now: Instant, into outbox: inout Outbox,
        _ body: (inout GatewayEngine, borrowing RTPPacket, Arrival, inout Outbox) -> Bool
    ) -> Bool {
        guard let stream = encodings[encoding] else { return false }
        var bytes: [UInt8] = []
        swap(&bytes, &scratch)
        defer { swap(&bytes, &scratch) }
        guard let count = tracks[stream.track].encodings[stream.encoding].history?.copy(sequence, into: &bytes),
            let whole = bytes.span.bytes.part(0..<count), let packet = try? RTPPacket(whole)
        else { return false }
        let leg = tracks[stream.track].leg
        guard let codec = legs[leg].payloads.meaning(of: packet.payloadType)?.codec else { return false }
        let arrival = Arrival(packet, encoding, codec, legs[leg].payloads, legs[leg].extensions)
        return body(&self, packet, arrival, &outbox)
    }

    /// One packet for a burst: something that was sent lately, which helps whoever lost it, else padding on a stream of
    /// repairs (RFC 4588). False when the leg has no such stream.
    private mutating func fill(
        probe: UInt8, _ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        var fallback: Int?
        for index in legs[place].slots.indices where legs[place].slots[index].canProbe {
            fallback = fallback ?? index
            guard let newest = legs[place].slots[index].newestSequence else { continue }
            legs[place].sending.fillDistance = (legs[place].sending.fillDistance &+ 1) & 31
            let sequence = newest &- legs[place].sending.fillDistance
            guard let original = legs[place].slots[index].rewriter.original(of: sequence),
                original.source == legs[place].slots[index].rewriter.source
            else { continue }
            let slot = SlotPlace(leg: place, slot: index)
            if resend(original, slot, probe: probe, at: now, into: &outbox) { return true }
        }
        guard let fallback, let type = legs[place].payloads.anyRepair else { return false }
        return pad(SlotPlace(leg: place, slot: fallback), type, probe: probe, at: now, into: &outbox)
    }

    private mutating func pad(
        _ place: SlotPlace, _ type: UInt8, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let room = outbox.reserve(for: legs[place.leg].id) else { return false }
        let slot = legs[place.leg].slots[place.slot].identity.retransmissionSSRC
        let header = RTPHeader(
            payloadType: type, sequence: legs[place.leg].slots[place.slot].repairSequence,
            timestamp: legs[place.leg].slots[place.slot].newest?.timestamp ?? 0, ssrc: slot)
        let composer = PacketComposer(from: HeaderExtensionIDs(), to: legs[place.leg].extensions)
        var target = room.mutableBytes
        guard
            let composed = composer.writePadding(
                255, header: header, values: values(for: place, at: now), into: &target)
        else { return false }
        outbox.commit(composed.byteCount)
        legs[place.leg].slots[place.slot].repairSequence &+= 1
        note(composed, probe, place, at: now)
        return true
    }

    /// Writes a packet under the numbers of a slot, as itself or as a repair.
    mutating func write(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, _ form: PayloadForm, _ numbers: SlotPacket,
        repairs: Bool = false, probe: UInt8 = 0, to place: SlotPlace, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let room = outbox.reserve(for: legs[place.leg].id) else {
            tally.noRoom &+= 1
            return
        }
        var header = RTPHeader(
            payloadType: form.type, marker: packet.marker, sequence: numbers.sequence, timestamp: numbers.timestamp,
            ssrc: legs[place.leg].slots[place.slot].identity.ssrc)
        if numbers.isSwitch, legs[place.leg].slots[place.slot].kind == .audio { header.marker = true }
        if repairs {
            header.sequence = legs[place.leg].slots[place.slot].repairSequence
            header.ssrc = legs[place.leg].slots[place.slot].identity.retransmissionSSRC
        }
        var values = values(for: place, at: now)
        values.frameNumber = numbers.frameNumber
        let composer = PacketComposer(from: arrival.extensions, to: legs[place.leg].extensions)
        var target = room.mutableBytes
        guard
            let composed = composer.write(
                packet, header: header, values: values, originalSequence: repairs ? numbers.sequence : nil,
                payload: form.payload, into: &target)
        else {
            tally.noRoom &+= 1
            return
        }
        arrival.traits.vp8?.set(
            pictureID: numbers.pictureID, baseLayerIndex: numbers.baseLayerIndex, in: &target,
            at: composed.payloadOffset)
        if let (old, new) = form.blocks {
            RedundantAudio.renumber(old, to: new, in: &target, at: composed.payloadOffset)
        }
        outbox.commit(composed.byteCount)
        note(composed, probe, place, at: now)
        if repairs {
            legs[place.leg].slots[place.slot].repairSequence &+= 1
        } else {
            legs[place.leg].slots[place.slot].count(
                header, byteCount: composed.byteCount &- composed.payloadOffset, at: now)
        }
    }

    /// Numbers for the leg are only of use where there is video to fit in, and only in sections that are fed back on.
    private func values(for place: SlotPlace, at now: Instant) -> ExtensionValues {
        var values = ExtensionValues()
        if legs[place.leg].hasVideoSlots, legs[place.leg].slots[place.slot].hasTransportFeedback {
            values.transportSequence = legs[place.leg].sending.transportSequence
        }
        if legs[place.leg].extensions[.absoluteSendTime] != 0 {
            values.absoluteSendTime = AbsoluteSendTime.value(at: now)
        }
        return values
    }

    private mutating func note(_ composed: ComposedPacket, _ probe: UInt8, _ place: SlotPlace, at now: Instant) {
        guard legs[place.leg].hasVideoSlots else { return }
        let sequence = legs[place.leg].sending.transportSequence
        let isNumbered = composed.transportSequenceOffset != nil
        if isNumbered { legs[place.leg].sending.transportSequence &+= 1 }
        legs[place.leg].sending.note(
            composed.byteCount, sequence: isNumbered ? sequence : nil, probe: probe, at: now)
    }
}
