import BasicContainers
import RTP
import SDP
package import Wire

// RTCP from legs.

extension GatewayEngine {
    /// Handles a decrypted RTCP datagram from a leg.
    package mutating func receiveRTCP(
        _ bytes: RawSpan, from id: LegID, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let legIndex = index(of: id) else { return }
        guard var compound = try? RTCPCompound(bytes) else {
            counters.malformed &+= 1
            return
        }
        // A datagram may request no more packets than this: browsers keep no longer lists (libwebrtc's NackRequester).
        var nackLimit = Leg.maxRepairsPerDatagram
        while let packet = compound.next() {
            switch packet.kind {
            case .senderReport:
                receiveSenderReport(packet, legIndex, at: now)
                receiveBlocks(packet, legIndex, at: now)
            case .receiverReport: receiveBlocks(packet, legIndex, at: now)
            case .transportFeedback:
                if legs[legIndex].bandwidth != nil, let feedback = TransportFeedback(packet) {
                    receiveFeedback(feedback, legIndex, at: now)
                }
            case .estimatedMaximumBitrate:
                if let limit = packet.estimatedMaximumBitrate {
                    legs[legIndex].bandwidth?.estimate.receive(estimatedMaximumBitrate: limit)
                }
            case .nack: resend(packet, legIndex, &nackLimit, at: now, into: &outbox)
            case .pictureLoss:
                if let ssrc = packet.mediaSource { requestKeyFrame(ofSlot: ssrc, legIndex, at: now, into: &outbox) }
            case .fullIntraRequest:
                var sources: [UInt32] = []
                packet.visitFullIntraRequests { ssrc, _ in sources.append(ssrc) }
                for ssrc in sources { requestKeyFrame(ofSlot: ssrc, legIndex, at: now, into: &outbox) }
            case .goodbye:
                var gone: [UInt32] = []
                packet.visitGoodbyes { gone.append($0) }
                for ssrc in gone { removeSource(ssrc, legIndex, at: now) }
            default: break
            }
        }
    }

    private mutating func receiveSenderReport(_ packet: borrowing RTCPPacket, _ legIndex: Int, at now: Instant) {
        guard let report = packet.senderReport, let stream = legs[legIndex].streams[report.ssrc], !stream.isRepair
        else {
            return
        }
        legs[legIndex].clock.receive(report, at: wallClock(at: now))
        tracks[stream.track].encodings[stream.encoding].statistics.receive(report, at: now)
        let isFirst = !tracks[stream.track].encodings[stream.encoding].clock.isSet
        tracks[stream.track].encodings[stream.encoding].clock.receive(report)
        guard isFirst else { return }
        // Before the first report, the capture time of its packets was unknown.
        for subscriber in tracks[stream.track].subscribers {
            legs[subscriber.leg].slots[subscriber.slot].needsReport = true
            legs[subscriber.leg].needsReports = true
        }
    }

    /// A client's report blocks on its slots: the round trip, and, for video without transport-wide feedback, the loss.
    private mutating func receiveBlocks(_ packet: borrowing RTCPPacket, _ legIndex: Int, at now: Instant) {
        let compact = wallClock(at: now).compact
        var blocks: [ReportBlock] = []
        packet.visitReportBlocks { blocks.append($0) }
        for block in blocks {
            guard let slot = legs[legIndex].slot(sending: block.ssrc) else { continue }
            let roundTrip = block.roundTrip(at: compact)
            if let roundTrip { legs[legIndex].recordRoundTrip(roundTrip) }
            guard let bandwidth = legs[legIndex].bandwidth, !bandwidth.estimate.hasTransportFeedback,
                legs[legIndex].slots[slot].kind == .video
            else { continue }
            bandwidth.estimate.receive(block, roundTrip: roundTrip, at: now)
        }
    }

    /// Handles transport-wide feedback. When the estimate fell sharply, layers are selected at the next tick.
    private mutating func receiveFeedback(_ feedback: borrowing TransportFeedback, _ legIndex: Int, at now: Instant) {
        guard let bandwidth = legs[legIndex].bandwidth else { return }
        guard bandwidth.feedbackCredit.take(upTo: feedback.visitedCount) == feedback.visitedCount else {
            counters.feedbackRejected &+= 1
            return
        }
        let before = bandwidth.estimate.bitrate
        bandwidth.estimate.receive(feedback, at: now)
        if bandwidth.estimate.bitrate < before / 4 &* 3 { chooseLayersSoon(of: legIndex) }
    }

    /// Removes a simulcast source, which may return under another SSRC; announced sources stay.
    private mutating func removeSource(_ ssrc: UInt32, _ legIndex: Int, at now: Instant) {
        guard let stream = legs[legIndex].streams[ssrc],
            !tracks[stream.track].encodings[stream.encoding].rid.isEmpty
        else { return }
        legs[legIndex].streams[ssrc] = nil
        end(ssrc, ofLeg: legIndex, isPublished: true, at: now)
        if stream.isRepair {
            tracks[stream.track].encodings[stream.encoding].repairSSRC = nil
        } else {
            tracks[stream.track].encodings[stream.encoding].ssrc = nil
        }
    }

    // MARK: Retransmissions and key frames

    /// Retransmits what a receiver lost, from the history of the sources that the slot showed (RFC 4585, RFC 4588).
    private mutating func resend(
        _ packet: borrowing RTCPPacket, _ legIndex: Int, _ nackLimit: inout Int, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let bandwidth = legs[legIndex].bandwidth, let ssrc = packet.mediaSource,
            let slot = legs[legIndex].slot(sending: ssrc), legs[legIndex].slots[slot].kind == .video
        else { return }
        lost.removeAll(keepingCapacity: true)
        if !packet.visitLost(atMost: nackLimit, { lost.append($0) }) { counters.repairsRejected &+= 1 }
        nackLimit &-= lost.count
        let allowed = bandwidth.nackCredit.take(upTo: lost.count)
        counters.repairsRejected &+= UInt64(truncatingIfNeeded: lost.count &- allowed)
        for sequence in lost.prefix(allowed) {
            resend(sequence, SlotIndex(leg: legIndex, slot: slot), at: now, into: &outbox)
        }
    }

    private mutating func resend(
        _ sequence: UInt16, _ slotIndex: SlotIndex, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let isSent = `repeat`(sequence, slotIndex, probe: 0, at: now, into: &outbox)
        if isSent { counters.repaired &+= 1 } else { counters.repairsRejected &+= 1 }
    }

    /// Retransmits the packet with this sequence number in the slot. False when it is too old or over the budget.
    mutating func `repeat`(
        _ sequence: UInt16, _ slotIndex: SlotIndex, probe: UInt8, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let original = legs[slotIndex.leg].slots[slotIndex.slot].rewriter.original(of: sequence),
            let stream = encodings[original.source],
            let byteCount = tracks[stream.track].encodings[stream.encoding].history?.byteCount(of: original.sequence),
            probe != 0 || isRepairAllowed(original, slotIndex, byteCount: byteCount, at: now)
        else { return false }
        var bytes = scratch
        scratch = []
        defer { scratch = bytes }
        guard
            tracks[stream.track].encodings[stream.encoding].history?.copy(original.sequence, into: &bytes) ?? false,
            let packet = try? RTPPacket(bytes.span.bytes),
            let codec = legs[tracks[stream.track].leg].payloads.mapping(of: packet.payloadType)?.codec,
            let repair = legs[slotIndex.leg].payloads.own(codec.codec)?.retransmission
        else { return false }
        let sourceIDs = legs[tracks[stream.track].leg].extensions
        let targetIDs = legs[slotIndex.leg].extensions
        let traits = PacketTraits(packet, codec.codec, sourceIDs)
        let numbers = legs[slotIndex.leg].slots[slotIndex.slot].rewriter.numbers(of: original, packet.header, traits)
        return write(
            packet, numbers, traits, PacketComposer(from: sourceIDs, to: targetIDs), PayloadForm(type: repair),
            marker: packet.marker, repairs: true, probe: probe, to: slotIndex, at: now, into: &outbox)
    }

    /// Checked before anything is copied. A packet of a layer that was left is useless once the next one has begun, and
    /// until then would take its bandwidth.
    private func isRepairAllowed(
        _ original: SlotRewriter.Original, _ slotIndex: SlotIndex, byteCount: Int, at now: Instant
    ) -> Bool {
        guard let bandwidth = legs[slotIndex.leg].bandwidth,
            legs[slotIndex.leg].slots[slotIndex.slot].rewriter.shows(original)
        else { return false }
        return bandwidth.repairBudget.take(byteCount, bitrate: bandwidth.estimate.bitrate, at: now)
    }

    private mutating func requestKeyFrame(
        ofSlot ssrc: UInt32, _ legIndex: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let slot = legs[legIndex].slot(sending: ssrc),
            let number = legs[legIndex].slots[slot].rewriter.target, let stream = encodings[number]
        else { return }
        requestKeyFrame(of: stream, at: now, into: &outbox)
    }

    /// Requests a key frame from the publisher, unless one was requested recently.
    mutating func requestKeyFrame(
        of stream: StreamIndex, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard tracks[stream.track].kind == .video,
            tracks[stream.track].encodings[stream.encoding].keyFrames.request(at: now)
        else { return }
        sendPictureLoss(of: stream, into: &outbox)
    }

    mutating func sendPictureLoss(of stream: StreamIndex, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard let ssrc = tracks[stream.track].encodings[stream.encoding].ssrc else { return }
        let leg = tracks[stream.track].leg
        let own = legs[leg].ssrc
        writer.begin()
        writer.appendReceiverReport(from: own)
        writer.appendPictureLoss(of: ssrc, from: own)
        outbox.sendReport(writer.bytes, to: legs[leg].id)
        counters.keyFramesRequested &+= 1
    }
}
