import BasicContainers
import RTP
import SDP
package import Wire

// Timers: reports, feedback, and requests for lost packets.

extension GatewayEngine {
    /// The interval between calls of `advance`: streams have no deadlines of their own.
    package static let tickNanoseconds: UInt64 = 10_000_000

    /// Handles everything that is due on every leg.
    package mutating func advance(to now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        for legIndex in 0..<legs.count where legs[legIndex].isOpen {
            chooseLayers(of: legIndex, at: now, into: &outbox)
            sendNACKs(legIndex, at: now, into: &outbox)
            sendFeedback(legIndex, at: now, into: &outbox)
            report(legIndex, at: now, into: &outbox)
            reportChanges(legIndex, at: now, into: &outbox)
        }
        for call in calls.indices where !calls[call].legs.isEmpty && calls[call].nextRanking <= now {
            rank(call, at: now, into: &outbox)
        }
    }

    /// Requests missing packets and awaited key frames from a publisher.
    private mutating func sendNACKs(
        _ legIndex: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let (id, own) = (legs[legIndex].id, legs[legIndex].ssrc)
        for track in legs[legIndex].tracks where tracks[track].kind == .video {
            for index in 0..<tracks[track].encodings.count {
                let stream = StreamIndex(track: track, encoding: index, isRepair: false)
                if isAwaited(stream) {
                    requestKeyFrame(of: stream, at: now, into: &outbox)
                }
                if tracks[track].encodings[index].keyFrames.advance(to: now) {
                    sendPictureLoss(of: stream, into: &outbox)
                }
                if let sample = tracks[track].encodings[index].losses.takeRoundTrip() {
                    legs[legIndex].recordRoundTrip(sample)
                }
                if let roundTrip = legs[legIndex].roundTrip {
                    tracks[track].encodings[index].losses.roundTripNanoseconds = roundTrip
                }
                tracks[track].encodings[index].losses.collect(at: now, into: &lost)
                guard !lost.isEmpty, let ssrc = tracks[track].encodings[index].ssrc else { continue }
                writer.begin()
                writer.appendReceiverReport(from: own)
                writer.appendNACK(lost, of: ssrc, from: own)
                outbox.sendReport(writer.bytes, to: id)
            }
        }
    }

    /// Whether a slot waits for a key frame of the encoding.
    private func isAwaited(_ stream: StreamIndex) -> Bool {
        let number = tracks[stream.track].encodings[stream.encoding].number
        return tracks[stream.track].subscribers.contains { subscriber in
            legs[subscriber.leg].slots[subscriber.slot].rewriter.target == number
                && legs[subscriber.leg].slots[subscriber.slot].rewriter.awaitsEntry
        }
    }

    /// Reports to a publisher which packets arrived and when, from which it estimates its bandwidth.
    private mutating func sendFeedback(
        _ legIndex: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let (id, own) = (legs[legIndex].id, legs[legIndex].ssrc)
        guard legs[legIndex].nextFeedback <= now else { return }
        let hasVideo = legs[legIndex].tracks.contains { tracks[$0].kind == .video }
        legs[legIndex].nextFeedback = now.adding(
            nanoseconds: hasVideo ? Leg.videoFeedbackNanoseconds : Leg.audioFeedbackNanoseconds)
        guard let media = legs[legIndex].streams.keys.first else { return }
        sendBandwidth(legIndex, at: now, into: &outbox)
        while legs[legIndex].arrivals.hasUnreported {
            writer.begin()
            writer.appendReceiverReport(from: own)
            guard legs[legIndex].arrivals.write(into: &writer, from: own, of: media) else { return }
            outbox.sendReport(writer.bytes, to: id)
        }
    }

    /// Reports to a publisher without transport-wide feedback how much video it can send in total (REMB).
    private mutating func sendBandwidth(
        _ legIndex: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let roundTrip = legs[legIndex].roundTrip ?? NACKGenerator.assumedRoundTripNanoseconds
        guard let bitrate = legs[legIndex].received?.takeReport(roundTrip: roundTrip, at: now) else { return }
        var sources: [UInt32] = []
        for track in legs[legIndex].tracks where tracks[track].kind == .video {
            for index in 0..<tracks[track].encodings.count {
                if let ssrc = tracks[track].encodings[index].ssrc { sources.append(ssrc) }
            }
        }
        guard !sources.isEmpty else { return }
        writer.begin()
        writer.appendReceiverReport(from: legs[legIndex].ssrc)
        writer.appendEstimatedMaximumBitrate(bitrate, of: sources, from: legs[legIndex].ssrc)
        outbox.sendReport(writer.bytes, to: legs[legIndex].id)
    }

    /// Sends the reports of RFC 3550 section 6.4: on each slot as its sender, and on each stream as its receiver.
    private mutating func report(_ legIndex: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        let (id, own) = (legs[legIndex].id, legs[legIndex].ssrc)
        guard legs[legIndex].nextReport <= now else { return }
        legs[legIndex].nextReport = now.adding(nanoseconds: Leg.reportNanoseconds)
        var blocks: [ReportBlock] = []
        var fractionLost: UInt8 = 0
        for (ssrc, stream) in legs[legIndex].streams where !stream.isRepair {
            guard let block = tracks[stream.track].encodings[stream.encoding].report(of: ssrc, at: now) else {
                continue
            }
            blocks.append(block)
            if tracks[stream.track].kind == .video { fractionLost = max(fractionLost, block.fractionLost) }
        }
        legs[legIndex].received?.receive(fractionLost: fractionLost, at: now)
        writer.begin()
        writer.appendReceiverReport(from: own, blocks: blocks)
        for slot in legs[legIndex].slots.indices { append(slot, legIndex, at: now, into: &outbox) }
        outbox.sendReport(writer.bytes, to: id)
        legs[legIndex].needsReports = false
    }

    /// Sends reports on slots that began or switched.
    private mutating func reportChanges(
        _ legIndex: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard legs[legIndex].needsReports else { return }
        legs[legIndex].needsReports = false
        writer.begin()
        for slot in legs[legIndex].slots.indices where legs[legIndex].slots[slot].needsReport {
            append(slot, legIndex, at: now, into: &outbox)
        }
        if !writer.isEmpty { outbox.sendReport(writer.bytes, to: legs[legIndex].id) }
    }

    /// Appends a slot's report, one per source; sends the datagram when it is full and begins another.
    private mutating func append(
        _ slot: Int, _ legIndex: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let wallClock = wallClock(at: now)
        let source = legs[legIndex].slots[slot].rewriter.source.flatMap { encodings[$0] }
        let timestamp = source.flatMap { stream in
            tracks[stream.track].encodings[stream.encoding].clock.timestamp(
                at: wallClock, legs[tracks[stream.track].leg].clock)
        }
        guard
            let report = legs[legIndex].slots[slot].report(at: now, wallClock: wallClock, sourceTimestamp: timestamp)
        else { return }
        legs[legIndex].slots[slot].needsReport = false
        if !writer.append(report) {
            outbox.sendReport(writer.bytes, to: legs[legIndex].id)
            writer.begin()
            writer.append(report)
        }
        let identity = legs[legIndex].slots[slot].identity
        writer.appendName(Array(identity.cname.utf8), of: identity.ssrc)
    }
}

extension Encoding {
    /// Nil before its first packet.
    mutating func report(of ssrc: UInt32, at now: Instant) -> ReportBlock? {
        statistics.packetCount > 0 ? statistics.report(of: ssrc, at: now) : nil
    }
}
