import BasicContainers
import RTP
import SDP
package import Wire

// What happens because time passes: reports, feedback, and questions for what was lost.

extension GatewayEngine {
    /// How long after a call to `advance` the next one is to come: there is no deadline for each stream.
    package static let tickNanoseconds: UInt64 = 10_000_000

    /// Does what is due on every leg.
    package mutating func advance(to now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        for place in 0..<legs.count where legs[place].isOpen {
            chooseLayers(of: place, at: now, into: &outbox)
            askForLost(place, at: now, into: &outbox)
            sendFeedback(place, at: now, into: &outbox)
            report(place, at: now, into: &outbox)
            reportChanges(place, at: now, into: &outbox)
        }
        for call in calls.indices where !calls[call].places.isEmpty && calls[call].nextRanking <= now {
            rank(call, at: now, into: &outbox)
        }
    }

    /// Asks a publisher for packets that are missing and for key frames that somebody waits for.
    private mutating func askForLost(
        _ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let (id, own) = (legs[place].id, legs[place].ssrc)
        for track in legs[place].tracks where tracks[track].kind == .video {
            for index in 0..<tracks[track].encodings.count {
                let stream = StreamPlace(track: track, encoding: index, isRepair: false)
                if isAwaited(stream) {
                    askForKeyFrame(of: stream, at: now, into: &outbox)
                }
                if tracks[track].encodings[index].keyFrames.advance(to: now) {
                    sendPictureLoss(of: stream, into: &outbox)
                }
                if let sample = tracks[track].encodings[index].losses.takeRoundTrip() {
                    legs[place].noteRoundTrip(sample)
                }
                if let roundTrip = legs[place].roundTrip {
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

    /// Whether a slot waits to show the encoding and cannot begin.
    private func isAwaited(_ stream: StreamPlace) -> Bool {
        let number = tracks[stream.track].encodings[stream.encoding].number
        return tracks[stream.track].subscribers.contains { place in
            legs[place.leg].slots[place.slot].encoding == number
                && legs[place.leg].slots[place.slot].rewriter.awaitsEntry
        }
    }

    /// Tells a publisher which packets arrived and when, by which it estimates its bandwidth.
    private mutating func sendFeedback(
        _ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let (id, own) = (legs[place].id, legs[place].ssrc)
        guard legs[place].nextFeedback <= now else { return }
        let hasVideo = legs[place].tracks.contains { tracks[$0].kind == .video }
        legs[place].nextFeedback = now.adding(
            nanoseconds: hasVideo ? Leg.videoFeedbackNanoseconds : Leg.audioFeedbackNanoseconds)
        guard let media = legs[place].streams.keys.first else { return }
        sendBandwidth(place, at: now, into: &outbox)
        while legs[place].arrivals.hasNews {
            writer.begin()
            writer.appendReceiverReport(from: own)
            guard legs[place].arrivals.write(into: &writer, from: own, of: media) else { return }
            outbox.sendReport(writer.bytes, to: id)
        }
    }

    /// Tells a publisher that gets no transport-wide feedback how much it can send, all its video together (REMB).
    private mutating func sendBandwidth(
        _ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let roundTrip = legs[place].roundTrip ?? NACKGenerator.assumedRoundTripNanoseconds
        guard let bitrate = legs[place].received?.takeReport(roundTrip: roundTrip, at: now) else { return }
        var sources: [UInt32] = []
        for track in legs[place].tracks where tracks[track].kind == .video {
            for index in 0..<tracks[track].encodings.count {
                if let ssrc = tracks[track].encodings[index].ssrc { sources.append(ssrc) }
            }
        }
        guard !sources.isEmpty else { return }
        writer.begin()
        writer.appendReceiverReport(from: legs[place].ssrc)
        writer.appendEstimatedMaximumBitrate(bitrate, of: sources, from: legs[place].ssrc)
        outbox.sendReport(writer.bytes, to: legs[place].id)
    }

    /// The reports of RFC 3550 section 6.4: on each slot as its sender, and on each stream as its receiver.
    private mutating func report(_ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        let (id, own) = (legs[place].id, legs[place].ssrc)
        guard legs[place].nextReport <= now else { return }
        legs[place].nextReport = now.adding(nanoseconds: Leg.reportNanoseconds)
        var blocks: [ReportBlock] = []
        var fractionLost: UInt8 = 0
        for (ssrc, stream) in legs[place].streams where !stream.isRepair {
            guard let block = tracks[stream.track].encodings[stream.encoding].report(of: ssrc, at: now) else {
                continue
            }
            blocks.append(block)
            if tracks[stream.track].kind == .video { fractionLost = max(fractionLost, block.fractionLost) }
        }
        legs[place].received?.receive(fractionLost: fractionLost, at: now)
        writer.begin()
        writer.appendReceiverReport(from: own, blocks: blocks)
        for slot in legs[place].slots.indices { append(slot, place, at: now, into: &outbox) }
        outbox.sendReport(writer.bytes, to: id)
        legs[place].owesReports = false
    }

    /// Reports on slots that began or show something else.
    private mutating func reportChanges(
        _ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard legs[place].owesReports else { return }
        legs[place].owesReports = false
        writer.begin()
        for slot in legs[place].slots.indices where legs[place].slots[slot].owesReport {
            append(slot, place, at: now, into: &outbox)
        }
        if !writer.isEmpty { outbox.sendReport(writer.bytes, to: legs[place].id) }
    }

    /// Each slot is one source, so it has a report of its own; a full datagram leaves and another begins.
    private mutating func append(
        _ slot: Int, _ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        let wallClock = wallClock(at: now)
        let source = legs[place].slots[slot].rewriter.source.flatMap { encodings[$0] }
        let timestamp = source.flatMap { stream in
            tracks[stream.track].encodings[stream.encoding].clock.timestamp(
                at: wallClock, legs[tracks[stream.track].leg].clock)
        }
        guard
            let report = legs[place].slots[slot].report(at: now, wallClock: wallClock, sourceTimestamp: timestamp)
        else { return }
        legs[place].slots[slot].owesReport = false
        if !writer.append(report) {
            outbox.sendReport(writer.bytes, to: legs[place].id)
            writer.begin()
            writer.append(report)
        }
        let identity = legs[place].slots[slot].identity
        writer.appendName(Array(identity.cname.utf8), of: identity.ssrc)
    }
}

extension Encoding {
    /// Nil before its first packet.
    mutating func report(of ssrc: UInt32, at now: Instant) -> ReportBlock? {
        statistics.packetCount > 0 ? statistics.report(of: ssrc, at: now) : nil
    }
}
