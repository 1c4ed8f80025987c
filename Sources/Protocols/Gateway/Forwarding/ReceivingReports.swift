import BasicContainers
import RTP
import SDP
package import Wire

// What legs say about what they sent and received.

extension GatewayEngine {
    /// A datagram of RTCP that a leg received, in the clear.
    package mutating func receiveRTCP(
        _ bytes: RawSpan, from id: LegID, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let place = place(of: id) else { return }
        guard var compound = try? RTCPCompound(bytes) else {
            tally.malformed &+= 1
            return
        }
        // Of so many packets alone a datagram may ask: browsers have no more in their lists (libwebrtc's NackRequester).
        var asked = Leg.repairsAskedAtOnce
        while let packet = compound.next() {
            switch packet.kind {
            case .senderReport:
                receiveSenderReport(packet, place, at: now)
                receiveBlocks(packet, place, at: now)
            case .receiverReport: receiveBlocks(packet, place, at: now)
            case .transportFeedback:
                if legs[place].bandwidth != nil, let feedback = TransportFeedback(packet) {
                    receiveFeedback(feedback, place, at: now)
                }
            case .estimatedMaximumBitrate:
                if let limit = packet.estimatedMaximumBitrate {
                    legs[place].bandwidth?.estimate.receive(estimatedMaximumBitrate: limit)
                }
            case .nack: resend(packet, place, &asked, at: now, into: &outbox)
            case .pictureLoss:
                if let ssrc = packet.mediaSource { askForKeyFrame(ofSlot: ssrc, place, at: now, into: &outbox) }
            case .fullIntraRequest:
                var wanted: [UInt32] = []
                packet.visitFullIntraRequests { ssrc, _ in wanted.append(ssrc) }
                for ssrc in wanted { askForKeyFrame(ofSlot: ssrc, place, at: now, into: &outbox) }
            case .goodbye:
                var gone: [UInt32] = []
                packet.visitGoodbyes { gone.append($0) }
                for ssrc in gone { forget(ssrc, place, at: now) }
            default: break
            }
        }
    }

    private mutating func receiveSenderReport(_ packet: borrowing RTCPPacket, _ place: Int, at now: Instant) {
        guard let report = packet.senderReport, let stream = legs[place].streams[report.ssrc], !stream.isRepair else {
            return
        }
        legs[place].clock.receive(report, at: wallClock(at: now))
        tracks[stream.track].encodings[stream.encoding].statistics.receive(report, at: now)
        let isFirst = !tracks[stream.track].encodings[stream.encoding].clock.isSet
        tracks[stream.track].encodings[stream.encoding].clock.receive(report)
        guard isFirst else { return }
        // Until now nobody knew when its packets were captured.
        for place in tracks[stream.track].subscribers {
            legs[place.leg].slots[place.slot].owesReport = true
            legs[place.leg].owesReports = true
        }
    }

    /// What a client says of its slots: how far away it is, and, of those for video, how much it loses where it gives no
    /// transport-wide feedback.
    private mutating func receiveBlocks(_ packet: borrowing RTCPPacket, _ place: Int, at now: Instant) {
        let compact = wallClock(at: now).compact
        var blocks: [ReportBlock] = []
        packet.visitReportBlocks { blocks.append($0) }
        for block in blocks {
            guard let slot = legs[place].slot(sending: block.ssrc) else { continue }
            let roundTrip = block.roundTrip(at: compact)
            if let roundTrip { legs[place].noteRoundTrip(roundTrip) }
            guard let bandwidth = legs[place].bandwidth, !bandwidth.estimate.hasTransportFeedback,
                legs[place].slots[slot].kind == .video
            else { continue }
            bandwidth.estimate.receive(block, roundTrip: roundTrip, at: now)
        }
    }

    /// Where much less is available than a moment ago, what is sent is not to go on for a tenth of a second more.
    private mutating func receiveFeedback(_ feedback: borrowing TransportFeedback, _ place: Int, at now: Instant) {
        guard let bandwidth = legs[place].bandwidth else { return }
        guard bandwidth.reports.take(upTo: feedback.visitedCount) == feedback.visitedCount else {
            tally.feedbackRefused &+= 1
            return
        }
        let before = bandwidth.estimate.bitrate
        bandwidth.estimate.receive(feedback, at: now)
        if bandwidth.estimate.bitrate < before / 4 &* 3 { chooseLayersSoon(of: place) }
    }

    /// A source of simulcast may come back under another number; announced ones stay.
    private mutating func forget(_ ssrc: UInt32, _ place: Int, at now: Instant) {
        guard let stream = legs[place].streams[ssrc],
            !tracks[stream.track].encodings[stream.encoding].rid.isEmpty
        else { return }
        legs[place].streams[ssrc] = nil
        end(ssrc, ofLeg: place, isPublished: true, at: now)
        if stream.isRepair {
            tracks[stream.track].encodings[stream.encoding].repairSSRC = nil
        } else {
            tracks[stream.track].encodings[stream.encoding].ssrc = nil
        }
    }

    // MARK: Asking for what was lost

    /// Sends a receiver again what it lost, out of the history of what the slot showed (RFC 4585, RFC 4588).
    private mutating func resend(
        _ packet: borrowing RTCPPacket, _ place: Int, _ asked: inout Int, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let bandwidth = legs[place].bandwidth, let ssrc = packet.mediaSource,
            let slot = legs[place].slot(sending: ssrc), legs[place].slots[slot].kind == .video
        else { return }
        lost.removeAll(keepingCapacity: true)
        if !packet.visitLost(atMost: asked, { lost.append($0) }) { tally.repairsRefused &+= 1 }
        asked &-= lost.count
        let wanted = bandwidth.questions.take(upTo: lost.count)
        tally.repairsRefused &+= UInt64(truncatingIfNeeded: lost.count &- wanted)
        for sequence in lost.prefix(wanted) {
            resend(sequence, SlotPlace(leg: place, slot: slot), at: now, into: &outbox)
        }
    }

    private mutating func resend(
        _ sequence: UInt16, _ place: SlotPlace, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let isSent = `repeat`(sequence, place, probe: 0, at: now, into: &outbox)
        if isSent { tally.repaired &+= 1 } else { tally.repairsRefused &+= 1 }
    }

    /// Sends once more what had this number in the slot. False when that is not kept, or was too much already.
    mutating func `repeat`(
        _ sequence: UInt16, _ place: SlotPlace, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let original = legs[place.leg].slots[place.slot].rewriter.original(of: sequence),
            let stream = encodings[original.source],
            let byteCount = tracks[stream.track].encodings[stream.encoding].history?.byteCount(of: original.sequence),
            probe != 0 || mayRepair(original, place, byteCount: byteCount, at: now)
        else { return false }
        var bytes = scratch
        scratch = []
        defer { scratch = bytes }
        guard
            tracks[stream.track].encodings[stream.encoding].history?.copy(original.sequence, into: &bytes) ?? false,
            let packet = try? RTPPacket(bytes.span.bytes),
            let codec = legs[tracks[stream.track].leg].payloads.meaning(of: packet.payloadType)?.codec,
            let repair = legs[place.leg].payloads.own(codec.codec)?.retransmission
        else { return false }
        let sourceIDs = legs[tracks[stream.track].leg].extensions
        let targetIDs = legs[place.leg].extensions
        let traits = PacketTraits(packet, codec.codec, sourceIDs)
        let numbers = legs[place.leg].slots[place.slot].rewriter.numbers(of: original, packet.header, traits)
        return write(
            packet, numbers, traits, PacketComposer(from: sourceIDs, to: targetIDs), PayloadForm(type: repair),
            marker: packet.marker, repairs: true, probe: probe, to: place, at: now, into: &outbox)
    }

    /// Asked before anything is copied. What was left for another layer is of no use once that has begun, and until then takes its room.
    private func mayRepair(
        _ original: SlotRewriter.Original, _ place: SlotPlace, byteCount: Int, at now: Instant
    ) -> Bool {
        guard let bandwidth = legs[place.leg].bandwidth, legs[place.leg].slots[place.slot].rewriter.shows(original)
        else { return false }
        return bandwidth.repairs.take(byteCount, bitrate: bandwidth.estimate.bitrate, at: now)
    }

    private mutating func askForKeyFrame(
        ofSlot ssrc: UInt32, _ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let slot = legs[place].slot(sending: ssrc), let number = legs[place].slots[slot].encoding,
            let stream = encodings[number]
        else { return }
        askForKeyFrame(of: stream, at: now, into: &outbox)
    }

    /// Asks the publisher, unless it was asked a moment ago.
    mutating func askForKeyFrame(
        of stream: StreamPlace, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard tracks[stream.track].kind == .video,
            tracks[stream.track].encodings[stream.encoding].keyFrames.request(at: now)
        else { return }
        sendPictureLoss(of: stream, into: &outbox)
    }

    mutating func sendPictureLoss(of stream: StreamPlace, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard let ssrc = tracks[stream.track].encodings[stream.encoding].ssrc else { return }
        let leg = tracks[stream.track].leg
        let own = legs[leg].ssrc
        writer.begin()
        writer.appendReceiverReport(from: own)
        writer.appendPictureLoss(of: ssrc, from: own)
        outbox.sendReport(writer.bytes, to: legs[leg].id)
        tally.keyFramesAsked &+= 1
    }
}
