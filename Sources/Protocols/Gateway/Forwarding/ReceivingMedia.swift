import BasicContainers
import RTP
import SDP
package import Wire

// From a publisher's packet to those of its subscribers.

extension GatewayEngine {
    /// A packet of RTP that a leg received, in the clear. Its bytes may be changed.
    package mutating func receiveRTP(
        _ bytes: inout MutableRawSpan, from id: LegID, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let place = place(of: id) else { return }
        tally.received &+= 1
        guard let stream = stream(of: bytes.bytes, place, at: now) else { return }
        let encoding = tracks[stream.track].encodings[stream.encoding].number
        guard stream.isRepair else {
            forward(bytes.bytes, of: stream, encoding, from: place, at: now, into: &outbox)
            return
        }
        guard let payloadType = bytes.bytes.byte(at: 1),
            let meaning = legs[place].payloads.meaning(of: payloadType), meaning.isRepair,
            let ssrc = tracks[stream.track].encodings[stream.encoding].ssrc,
            let range = Retransmission.unwrap(&bytes, payloadType: meaning.codec.payloadType, ssrc: ssrc),
            let repaired = bytes.bytes.part(range)
        else {
            // Padding on a repair stream only probes the way.
            return
        }
        forward(repaired, of: stream, encoding, from: place, at: now, into: &outbox)
    }

    /// Where the packet belongs: by its source, or by the names in its header extensions (RFC 8852, RFC 9143 section 9.2).
    private mutating func stream(of bytes: RawSpan, _ place: Int, at now: Instant) -> StreamPlace? {
        let packet: RTPPacket
        do {
            packet = try RTPPacket(bytes)
        } catch {
            tally.malformed &+= 1
            return nil
        }
        let extensions = legs[place].extensions
        let known = legs[place].streams[packet.ssrc]
        if let known, !tracks[known.track].rate.take(bytes.byteCount, limits, at: now) {
            // It is reported as lost, so that its publisher sends less.
            tally.overRate &+= 1
            return nil
        }
        if let sequence = packet.transportSequence(extensions) {
            legs[place].arrivals.record(sequence, at: now)
        }
        if legs[place].received != nil, let sendTime = packet.absoluteSendTime(extensions) {
            legs[place].received?.receive(sendTime: sendTime, byteCount: bytes.byteCount, at: now)
        }
        if let known { return known }
        guard let found = discover(packet, extensions, place), note(packet.ssrc, found, place) else {
            tally.unknownStream &+= 1
            return nil
        }
        if found.isRepair {
            tracks[found.track].encodings[found.encoding].repairSSRC = packet.ssrc
        } else {
            tracks[found.track].encodings[found.encoding].ssrc = packet.ssrc
        }
        return found
    }

    private func discover(_ packet: borrowing RTPPacket, _ ids: HeaderExtensionIDs, _ place: Int) -> StreamPlace? {
        let mid = packet.text(.mediaIdentification, ids)
        let repairs = packet.text(.repairedStreamIdentification, ids)
        let rid = packet.text(.streamIdentification, ids)
        return discover(packet.payloadType, mid: mid, rid: rid, repairs: repairs, place)
    }

    private func discover(
        _ payloadType: UInt8, mid: String?, rid: String?, repairs: String?, _ place: Int
    ) -> StreamPlace? {
        guard let meaning = legs[place].payloads.meaning(of: payloadType),
            let track = track(named: mid, meaning.codec.clockRate, place)
        else { return nil }
        let isRepair = meaning.isRepair || repairs != nil
        let name = isRepair ? repairs : rid
        guard let encoding = tracks[track].encoding(named: name, isRepair: isRepair) else { return nil }
        return StreamPlace(track: track, encoding: encoding, isRepair: isRepair)
    }

    /// The track of a mid; without one the only track whose packets these can be.
    private func track(named mid: String?, _ clockRate: UInt32, _ place: Int) -> Int? {
        let all = legs[place].tracks
        if let mid { return all.first { tracks[$0].name.mid == mid } }
        let fitting = all.filter { track in tracks[track].encodings[0].clock.rate == clockRate }
        return fitting.count == 1 ? fitting.first : nil
    }

    private mutating func forward(
        _ bytes: RawSpan, of stream: StreamPlace, _ number: UInt32, from place: Int, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let packet: RTPPacket
        do {
            packet = try RTPPacket(bytes)
        } catch {
            tally.malformed &+= 1
            return
        }
        guard let meaning = legs[place].payloads.meaning(of: packet.payloadType), !meaning.isRepair else {
            tally.unknownStream &+= 1
            return
        }
        let extensions = legs[place].extensions
        guard note(packet, stream, at: now, into: &outbox) else { return }
        // Only now: what came before again is what a publisher pads with, hundreds of kilobits of it on its lowest layer.
        tracks[stream.track].encodings[stream.encoding].bitrate.count(packet.bytes.byteCount, at: now)
        if tracks[stream.track].kind == .audio {
            listen(to: packet, meaning.codec.codec, stream.track, at: now)
            if calls[legs[place].call].isTapped { tap(packet, meaning.codec.codec, stream, at: now, into: &outbox) }
        }
        if tracks[stream.track].payloadType != packet.payloadType { change(stream.track, to: meaning.codec) }
        let arrival = Arrival(packet, number, meaning.codec, legs[place].payloads, extensions)
        if arrival.traits.isEntry {
            tracks[stream.track].encodings[stream.encoding].keyFrames.keyFrameArrived()
            noteSize(packet, meaning.codec.codec, extensions, stream, at: now)
        }
        tracks[stream.track].encodings[stream.encoding].history?.store(packet)
        for index in 0..<tracks[stream.track].subscribers.count {
            send(packet, arrival, to: tracks[stream.track].subscribers[index], at: now, into: &outbox)
        }
    }

    /// How loud it is. A client that does not say so is taken to speak while it sends more than comfort noise.
    private mutating func listen(
        to packet: borrowing RTPPacket, _ codec: MediaCodec, _ track: Int, at now: Instant
    ) {
        var level = packet.audioLevel(legs[tracks[track].leg].extensions)
        if level == nil, codec == .opus, let opus = OpusPayload(packet.payload), !opus.isSilence {
            level = AudioLevel(below: 45, isVoice: true)
        }
        guard let level else { return }
        calls[legs[tracks[track].leg].call].ranking.receive(level, from: UInt32(truncatingIfNeeded: track), at: now)
    }

    /// A track comes in another codec now: those who cannot decode it are not to wait for it.
    private mutating func change(_ track: Int, to codec: NegotiatedCodec) {
        tracks[track].payloadType = codec.payloadType
        // Redundancy comes and goes.
        let kind = codec.codec == .redundantAudio ? .opus : codec.codec
        guard tracks[track].codec != kind else { return }
        tracks[track].codec = kind
        calls[legs[tracks[track].leg].call].needsAssignment = true
    }

    /// Counts a packet in. False when it came before, or is of no use any more.
    private mutating func note(
        _ packet: borrowing RTPPacket, _ stream: StreamPlace, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        let wasHeard = tracks[stream.track].encodings[stream.encoding].isHeard(at: now)
        tracks[stream.track].encodings[stream.encoding].hear(at: now)
        if !stream.isRepair {
            let verdict = tracks[stream.track].encodings[stream.encoding].statistics.receive(
                packet.header, byteCount: packet.bytes.byteCount, at: now)
            switch verdict {
            case .rejected: return false
            case .restarted: restart(stream)
            case .accepted: break
            }
        }
        if !wasHeard { chooseAgain(stream.track, at: now) }
        // Audio is not asked for again, but what came twice is known all the same.
        switch tracks[stream.track].encodings[stream.encoding].losses.receive(
            packet.sequence, isRepair: stream.isRepair, at: now)
        {
        case .old:
            tally.repeated &+= 1
            return false
        case .overwhelmed:
            askForKeyFrame(of: stream, at: now, into: &outbox)
            return true
        case .inOrder, .recovered: return true
        }
    }

    /// The source began again with other numbers.
    private mutating func restart(_ stream: StreamPlace) {
        tracks[stream.track].encodings[stream.encoding].losses.reset()
        tracks[stream.track].encodings[stream.encoding].history?.removeAll()
        let number = tracks[stream.track].encodings[stream.encoding].number
        for place in tracks[stream.track].subscribers where legs[place.leg].slots[place.slot].encoding == number {
            legs[place.leg].slots[place.slot].rewriter.restart()
        }
    }

    /// An encoding began or stopped: slots may show another one.
    mutating func chooseAgain(_ track: Int, at now: Instant) {
        for place in tracks[track].subscribers {
            choose(for: place, at: now)
            chooseLayersSoon(of: place.leg)
        }
    }

    // MARK: To one subscriber

    private mutating func send(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, to place: SlotPlace, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        var probe: UInt8 = 0
        if holdsBack(packet, arrival, to: place, probe: &probe, at: now, into: &outbox) { return }
        deliver(packet, arrival, to: place, probe: probe, at: now, into: &outbox)
    }

    /// Sends a packet now, if it belongs to what the slot shows.
    mutating func deliver(
        _ packet: borrowing RTPPacket, _ arrival: Arrival, to place: SlotPlace, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let form = arrival.form(for: legs[place.leg].payloads) else { return }
        var traits = arrival.traits
        if let payload = form.payload { traits.isEmpty = payload.isEmpty }
        let numbers: SlotPacket
        switch legs[place.leg].slots[place.slot].rewriter.receive(
            packet.header, from: arrival.encoding, traits, at: now)
        {
        case .drop: return
        case .forward(let given), .fill(let given): numbers = given
        }
        if numbers.isSwitch {
            legs[place.leg].slots[place.slot].owesReport = true
            legs[place.leg].owesReports = true
        }
        let marker = packet.marker || numbers.isSwitch && legs[place.leg].slots[place.slot].kind == .audio
        let isSent = write(
            packet, numbers, traits, PacketComposer(from: arrival.extensions, to: legs[place.leg].extensions), form,
            marker: marker, repairs: false, probe: probe, to: place, at: now, into: &outbox)
        if isSent { tally.forwarded &+= 1 }
    }

    /// Writes a packet under the numbers of a slot, as itself or as a repair. False when it could not be sent.
    mutating func write(
        _ packet: borrowing RTPPacket, _ numbers: SlotPacket, _ traits: PacketTraits, _ composer: PacketComposer,
        _ form: PayloadForm, marker: Bool, repairs: Bool, probe: UInt8 = 0, to place: SlotPlace, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let room = outbox.reserve(for: legs[place.leg].id) else {
            tally.noRoom &+= 1
            return false
        }
        var header = RTPHeader(
            payloadType: form.type, marker: marker, sequence: numbers.sequence, timestamp: numbers.timestamp,
            ssrc: legs[place.leg].slots[place.slot].identity.ssrc)
        if repairs {
            header.sequence = legs[place.leg].slots[place.slot].repairSequence
            header.ssrc = legs[place.leg].slots[place.slot].identity.retransmissionSSRC
        }
        var values = ExtensionValues()
        if composer.targetIDs[.transportSequence] != 0 { values.transportSequence = legs[place.leg].transportSequence }
        if composer.targetIDs[.absoluteSendTime] != 0 { values.absoluteSendTime = AbsoluteSendTime.value(at: now) }
        values.frameNumber = numbers.frameNumber
        if composer.targetIDs[.absoluteCaptureTime] != 0, let track = legs[place.leg].slots[place.slot].track {
            values.captureClockOffset = legs[tracks[track].leg].clock.offset
        }
        var target = room.mutableBytes
        guard
            let composed = composer.write(
                packet, header: header, values: values, originalSequence: repairs ? numbers.sequence : nil,
                payload: form.payload, into: &target)
        else {
            tally.noRoom &+= 1
            return false
        }
        traits.vp8?.set(
            pictureID: numbers.pictureID, baseLayerIndex: numbers.baseLayerIndex, in: &target,
            at: composed.payloadOffset)
        if let (old, new) = form.blocks {
            RedundantAudio.renumber(old, to: new, in: &target, at: composed.payloadOffset)
        }
        let isVideo = legs[place.leg].slots[place.slot].kind == .video
        guard outbox.commit(composed.byteCount, isVideo: isVideo) else { return false }
        noteSent(composed, probe: probe, to: place, at: now)
        if repairs {
            legs[place.leg].slots[place.slot].repairSequence &+= 1
        } else {
            legs[place.leg].slots[place.slot].count(
                header, byteCount: composed.byteCount &- composed.payloadOffset, at: now)
        }
        return true
    }

    private mutating func noteSent(
        _ packet: ComposedPacket, probe: UInt8, to place: SlotPlace, at now: Instant
    ) {
        let isNumbered = packet.transportSequenceOffset != nil
        if let bandwidth = legs[place.leg].bandwidth {
            bandwidth.questions.earn()
            if isNumbered {
                bandwidth.reports.earn()
                bandwidth.estimate.sent(
                    legs[place.leg].transportSequence, byteCount: packet.byteCount, probe: probe, at: now)
            }
            bandwidth.pacer.sent(byteCount: packet.byteCount, probe: probe, at: now)
            if legs[place.leg].slots[place.slot].kind == .audio { bandwidth.sound.count(packet.byteCount, at: now) }
        }
        if isNumbered { legs[place.leg].transportSequence &+= 1 }
    }
}
