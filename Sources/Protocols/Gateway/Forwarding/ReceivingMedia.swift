import BasicContainers
import RTP
import SDP
package import Wire

// Forwards a publisher's packets to its subscribers.

extension GatewayEngine {
    /// Handles a decrypted RTP packet from a leg. Its bytes may be changed.
    package mutating func receiveRTP(
        _ bytes: inout MutableRawSpan, from id: LegID, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let legIndex = index(of: id) else { return }
        counters.received &+= 1
        guard let stream = stream(of: bytes.bytes, legIndex, at: now) else { return }
        let encoding = tracks[stream.track].encodings[stream.encoding].number
        guard stream.isRepair else {
            forward(bytes.bytes, of: stream, encoding, from: legIndex, at: now, into: &outbox)
            return
        }
        guard let payloadType = bytes.bytes.byte(at: 1),
            let mapping = legs[legIndex].payloads.mapping(of: payloadType), mapping.isRepair,
            let ssrc = tracks[stream.track].encodings[stream.encoding].ssrc,
            let range = Retransmission.unwrap(&bytes, payloadType: mapping.codec.payloadType, ssrc: ssrc),
            let repaired = bytes.bytes.part(range)
        else {
            // Padding on a repair stream only probes the link.
            return
        }
        forward(repaired, of: stream, encoding, from: legIndex, at: now, into: &outbox)
    }

    /// The stream of a packet: by its SSRC, or by the mid and rid in its header extensions (RFC 8852, RFC 9143 section
    /// 9.2).
    private mutating func stream(of bytes: RawSpan, _ legIndex: Int, at now: Instant) -> StreamIndex? {
        let packet: RTPPacket
        do {
            packet = try RTPPacket(bytes)
        } catch {
            counters.malformed &+= 1
            return nil
        }
        let extensions = legs[legIndex].extensions
        let known = legs[legIndex].streams[packet.ssrc]
        if let known, !tracks[known.track].rate.take(bytes.byteCount, limits, at: now) {
            // It will be reported as lost, so that its publisher sends less.
            counters.overRate &+= 1
            return nil
        }
        if let sequence = packet.transportSequence(extensions) {
            legs[legIndex].arrivals.record(sequence, at: now)
        }
        if legs[legIndex].received != nil, let sendTime = packet.absoluteSendTime(extensions) {
            legs[legIndex].received?.receive(sendTime: sendTime, byteCount: bytes.byteCount, at: now)
        }
        if let known { return known }
        guard let found = discover(packet, extensions, legIndex), register(packet.ssrc, found, legIndex) else {
            counters.unknownStream &+= 1
            return nil
        }
        if found.isRepair {
            tracks[found.track].encodings[found.encoding].repairSSRC = packet.ssrc
        } else {
            tracks[found.track].encodings[found.encoding].ssrc = packet.ssrc
        }
        return found
    }

    private func discover(_ packet: borrowing RTPPacket, _ ids: HeaderExtensionIDs, _ legIndex: Int) -> StreamIndex? {
        let mid = packet.text(.mediaIdentification, ids)
        let repairs = packet.text(.repairedStreamIdentification, ids)
        let rid = packet.text(.streamIdentification, ids)
        return discover(packet.payloadType, mid: mid, rid: rid, repairs: repairs, legIndex)
    }

    private func discover(
        _ payloadType: UInt8, mid: String?, rid: String?, repairs: String?, _ legIndex: Int
    ) -> StreamIndex? {
        guard let mapping = legs[legIndex].payloads.mapping(of: payloadType),
            let track = track(named: mid, mapping.codec.clockRate, legIndex)
        else { return nil }
        let isRepair = mapping.isRepair || repairs != nil
        let name = isRepair ? repairs : rid
        guard let encoding = tracks[track].encoding(named: name, isRepair: isRepair) else { return nil }
        return StreamIndex(track: track, encoding: encoding, isRepair: isRepair)
    }

    /// The track of a mid; without one, the only track with this clock rate.
    private func track(named mid: String?, _ clockRate: UInt32, _ legIndex: Int) -> Int? {
        let all = legs[legIndex].tracks
        if let mid { return all.first { tracks[$0].name.mid == mid } }
        let fitting = all.filter { track in tracks[track].encodings[0].clock.rate == clockRate }
        return fitting.count == 1 ? fitting.first : nil
    }

    private mutating func forward(
        _ bytes: RawSpan, of stream: StreamIndex, _ number: UInt32, from legIndex: Int, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let packet: RTPPacket
        do {
            packet = try RTPPacket(bytes)
        } catch {
            counters.malformed &+= 1
            return
        }
        guard let mapping = legs[legIndex].payloads.mapping(of: packet.payloadType), !mapping.isRepair else {
            counters.unknownStream &+= 1
            return
        }
        let extensions = legs[legIndex].extensions
        guard record(packet, stream, at: now, into: &outbox) else { return }
        // Only after duplicates are dropped: publishers pad with hundreds of kilobits of them on their lowest layer.
        tracks[stream.track].encodings[stream.encoding].bitrate.count(packet.bytes.byteCount, at: now)
        if tracks[stream.track].kind == .audio {
            updateLoudness(of: packet, mapping.codec.codec, stream.track, at: now)
            if calls[legs[legIndex].call].isTapped { tap(packet, mapping.codec.codec, stream, at: now, into: &outbox) }
        }
        if tracks[stream.track].payloadType != packet.payloadType { change(stream.track, to: mapping.codec) }
        let arrival = Arrival(packet, number, mapping.codec, legs[legIndex].payloads, extensions)
        if arrival.traits.isEntry {
            tracks[stream.track].encodings[stream.encoding].keyFrames.keyFrameArrived()
            updateSize(packet, mapping.codec.codec, extensions, stream, at: now)
        }
        tracks[stream.track].encodings[stream.encoding].history?.store(packet)
        for index in 0..<tracks[stream.track].subscribers.count {
            send(packet, arrival, to: tracks[stream.track].subscribers[index], at: now, into: &outbox)
        }
    }

    /// Updates the speaker ranking. A client without audio levels counts as speaking while it sends more than comfort
    /// noise.
    private mutating func updateLoudness(
        of packet: borrowing RTPPacket, _ codec: MediaCodec, _ track: Int, at now: Instant
    ) {
        var level = packet.audioLevel(legs[tracks[track].leg].extensions)
        if level == nil, codec == .opus, let opus = OpusPayload(packet.payload), !opus.isSilence {
            level = AudioLevel(below: 45, isVoice: true)
        }
        guard let level else { return }
        calls[legs[tracks[track].leg].call].ranking.receive(level, from: UInt32(truncatingIfNeeded: track), at: now)
    }

    /// The track's codec changed: slots of legs that cannot decode it are freed.
    private mutating func change(_ track: Int, to codec: NegotiatedCodec) {
        tracks[track].payloadType = codec.payloadType
        // Redundancy is switched on and off at any time.
        let kind = codec.codec == .redundantAudio ? .opus : codec.codec
        guard tracks[track].codec != kind else { return }
        tracks[track].codec = kind
        calls[legs[tracks[track].leg].call].needsAssignment = true
    }

    /// Records a packet's arrival. False when it is a duplicate or too late.
    private mutating func record(
        _ packet: borrowing RTPPacket, _ stream: StreamIndex, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        let wasActive = tracks[stream.track].encodings[stream.encoding].isActive(at: now)
        tracks[stream.track].encodings[stream.encoding].recordActivity(at: now)
        if !stream.isRepair {
            let verdict = tracks[stream.track].encodings[stream.encoding].statistics.receive(
                packet.header, byteCount: packet.bytes.byteCount, at: now)
            switch verdict {
            case .rejected: return false
            case .restarted: restart(stream)
            case .accepted: break
            }
        }
        if !wasActive { reselect(stream.track, at: now) }
        // Audio is not retransmitted, but duplicates are detected all the same.
        switch tracks[stream.track].encodings[stream.encoding].losses.receive(
            packet.sequence, isRepair: stream.isRepair, at: now)
        {
        case .old:
            counters.repeated &+= 1
            return false
        case .overwhelmed:
            requestKeyFrame(of: stream, at: now, into: &outbox)
            return true
        case .inOrder, .recovered: return true
        }
    }

    /// The source restarted with other sequence numbers.
    private mutating func restart(_ stream: StreamIndex) {
        tracks[stream.track].encodings[stream.encoding].losses.reset()
        tracks[stream.track].encodings[stream.encoding].history?.removeAll()
        let number = tracks[stream.track].encodings[stream.encoding].number
        for subscriber in tracks[stream.track].subscribers
        where legs[subscriber.leg].slots[subscriber.slot].rewriter.target == number {
            legs[subscriber.leg].slots[subscriber.slot].rewriter.restart()
        }
    }

    /// An encoding began or stopped: selects anew what its subscribers show.
    mutating func reselect(_ track: Int, at now: Instant) {
        for subscriber in tracks[track].subscribers {
            choose(for: subscriber, at: now)
            chooseLayersSoon(of: subscriber.leg)
        }
    }

    // MARK: To one subscriber

    private mutating func send(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, to slotIndex: SlotIndex, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        var probe: UInt8 = 0
        if enqueueIfPaced(packet, arrival, to: slotIndex, probe: &probe, at: now, into: &outbox) { return }
        deliver(packet, arrival, to: slotIndex, probe: probe, at: now, into: &outbox)
    }

    /// Sends a packet now, if the slot shows its source.
    mutating func deliver(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, to slotIndex: SlotIndex, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let form = arrival.form(for: legs[slotIndex.leg].payloads) else { return }
        var traits = arrival.traits
        if let payload = form.payload { traits.isEmpty = payload.isEmpty }
        let numbers: SlotPacket
        switch legs[slotIndex.leg].slots[slotIndex.slot].rewriter.receive(
            packet.header, from: arrival.encoding, traits, at: now)
        {
        case .drop: return
        case .forward(let slotPacket), .fill(let slotPacket): numbers = slotPacket
        }
        if numbers.isSwitch {
            legs[slotIndex.leg].slots[slotIndex.slot].needsReport = true
            legs[slotIndex.leg].needsReports = true
        }
        let marker = packet.marker || numbers.isSwitch && legs[slotIndex.leg].slots[slotIndex.slot].kind == .audio
        let isSent = write(
            packet, numbers, traits, PacketComposer(from: arrival.extensions, to: legs[slotIndex.leg].extensions), form,
            marker: marker, repairs: false, probe: probe, to: slotIndex, at: now, into: &outbox)
        if isSent { counters.forwarded &+= 1 }
    }

    /// Writes a packet with the numbers of a slot, as it is or as a retransmission. False when it could not be sent.
    mutating func write(
        _ packet: borrowing RTPPacket, _ numbers: SlotPacket, _ traits: PacketTraits, _ composer: PacketComposer,
        _ form: PayloadForm, marker: Bool, repairs: Bool, probe: UInt8 = 0, to slotIndex: SlotIndex, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let buffer = outbox.reserve(for: legs[slotIndex.leg].id) else {
            counters.noBuffer &+= 1
            return false
        }
        var header = RTPHeader(
            payloadType: form.type, marker: marker, sequence: numbers.sequence, timestamp: numbers.timestamp,
            ssrc: legs[slotIndex.leg].slots[slotIndex.slot].identity.ssrc)
        if repairs {
            header.sequence = legs[slotIndex.leg].slots[slotIndex.slot].repairSequence
            header.ssrc = legs[slotIndex.leg].slots[slotIndex.slot].identity.retransmissionSSRC
        }
        var values = ExtensionValues()
        if composer.targetIDs[.transportSequence] != 0 {
            values.transportSequence = legs[slotIndex.leg].transportSequence
        }
        if composer.targetIDs[.absoluteSendTime] != 0 { values.absoluteSendTime = AbsoluteSendTime.value(at: now) }
        values.frameNumber = numbers.frameNumber
        if composer.targetIDs[.absoluteCaptureTime] != 0,
            let track = legs[slotIndex.leg].slots[slotIndex.slot].state.track
        {
            values.captureClockOffset = legs[tracks[track].leg].clock.offset
        }
        var target = buffer.mutableBytes
        guard
            let composed = composer.write(
                packet, header: header, values: values, originalSequence: repairs ? numbers.sequence : nil,
                payload: form.payload, into: &target)
        else {
            counters.noBuffer &+= 1
            return false
        }
        traits.vp8?.set(
            pictureID: numbers.pictureID, baseLayerIndex: numbers.baseLayerIndex, in: &target,
            at: composed.payloadOffset)
        if let (old, new) = form.blocks {
            RedundantAudio.renumber(old, to: new, in: &target, at: composed.payloadOffset)
        }
        let isVideo = legs[slotIndex.leg].slots[slotIndex.slot].kind == .video
        guard outbox.commit(composed.byteCount, isVideo: isVideo) else { return false }
        recordSent(composed, probe: probe, to: slotIndex, at: now)
        if repairs {
            legs[slotIndex.leg].slots[slotIndex.slot].repairSequence &+= 1
        } else {
            legs[slotIndex.leg].slots[slotIndex.slot].count(
                header, byteCount: composed.byteCount &- composed.payloadOffset, at: now)
        }
        return true
    }

    private mutating func recordSent(
        _ packet: ComposedPacket, probe: UInt8, to slotIndex: SlotIndex, at now: Instant
    ) {
        let isNumbered = packet.transportSequenceOffset != nil
        if let bandwidth = legs[slotIndex.leg].bandwidth {
            bandwidth.nackCredit.earn()
            if isNumbered {
                bandwidth.feedbackCredit.earn()
                bandwidth.estimate.sent(
                    legs[slotIndex.leg].transportSequence, byteCount: packet.byteCount, probe: probe, at: now)
            }
            bandwidth.pacer.sent(byteCount: packet.byteCount, probe: probe, at: now)
            if legs[slotIndex.leg].slots[slotIndex.slot].kind == .audio {
                bandwidth.audioRate.count(packet.byteCount, at: now)
            }
        }
        if isNumbered { legs[slotIndex.leg].transportSequence &+= 1 }
    }
}
