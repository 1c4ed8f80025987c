import RTP
import SDP
import Wire

// Media of a leg that is live: what comes is counted, asked for again and reported on, as a browser does.

extension MediaLeg {
    private static let feedbackInterval: UInt64 = 100_000_000
    private static let reportInterval: UInt64 = 1_000_000_000

    /// Takes a packet that was unprotected.
    func receive(_ bytes: UnsafeMutableRawBufferPointer, arrival: Instant?, at now: Instant) {
        do {
            let packet = try RTPPacket(UnsafeRawBufferPointer(bytes).bytes)
            if let sequence = packet.transportSequence(plan.extensions) { arrivals.record(sequence, at: now) }
            guard let place = places[packet.ssrc] else {
                tools.tally.refused += 1
                return
            }
            if place.isRepair { return repair(bytes, place.index, at: now) }
            let sent = streams[place.index].take(packet, isRepair: false, at: now)
            note(sent, place.index, at: now)
            if let sent, let arrival {
                MediaTally.record(
                    arrival.nanoseconds(since: sent), in: &tools.tally[streams[place.index].plan.kind].residence)
            }
        } catch {
            tools.tally.refused += 1
        }
    }

    private func repair(_ bytes: UnsafeMutableRawBufferPointer, _ index: Int, at now: Instant) {
        let plan = streams[index].plan
        var target = bytes.mutableBytes
        guard let range = Retransmission.unwrap(&target, payloadType: plan.payloadType, ssrc: plan.ssrc) else {
            tools.tally.probes += 1
            return
        }
        do {
            let packet = try RTPPacket(target.bytes.extracting(range))
            note(streams[index].take(packet, isRepair: true, at: now), index, at: now)
        } catch {
            tools.tally.refused += 1
        }
    }

    private func note(_ sent: Instant?, _ index: Int, at now: Instant) {
        guard let sent else { return }
        MediaTally.record(now.nanoseconds(since: sent), in: &tools.tally[streams[index].plan.kind].latency)
        guard !hasMedia else { return }
        hasMedia = true
        guard begin.expectsMedia else { return }
        MediaTally.record(clock().nanoseconds &- begin.offered, in: &tools.tally.firstPacket)
    }

    // MARK: Reports

    /// Writes what is due: feedback about each packet ten times a second, requests for lost ones at once, reports every
    /// second.
    func report(_ now: Instant) {
        askAgain(now)
        if now.nanoseconds >= nextFeedback {
            nextFeedback = now.nanoseconds + Self.feedbackInterval
            while arrivals.hasNews {
                tools.reports.begin()
                guard arrivals.write(into: &tools.reports, from: reporter, of: streams.first?.plan.ssrc ?? 0) else {
                    break
                }
                sendReports()
            }
        }
        guard now.nanoseconds >= nextReport else { return }
        nextReport = now.nanoseconds + Self.reportInterval
        sendReport(now)
    }

    private func askAgain(_ now: Instant) {
        for index in streams.indices where streams[index].plan.kind == .video {
            let source = streams[index].plan.ssrc
            if streams[index].gaps.missingCount > 0 {
                streams[index].gaps.collect(at: now, into: &tools.lost)
                if !tools.lost.isEmpty {
                    tools.reports.begin()
                    tools.tally.nacks += UInt64(tools.reports.appendNACK(tools.lost, of: source, from: reporter))
                    sendReports()
                }
            }
            if streams[index].asksForKeyFrame(at: now) {
                tools.reports.begin()
                tools.reports.appendPictureLoss(of: source, from: reporter)
                tools.tally.pictureLosses += 1
                sendReports()
            }
        }
    }

    private func sendReport(_ now: Instant) {
        tools.reports.begin()
        let wall = tools.wallClock(at: now)
        var blocks: [ReportBlock] = []
        for index in streams.indices where streams[index].statistics.packetCount > 0 {
            blocks.append(streams[index].statistics.report(of: streams[index].plan.ssrc, at: now))
        }
        let sending = tracks.filter { $0.packetCount > 0 }
        if let first = sending.first {
            tools.reports.append(first.report(at: now, wallClock: wall), blocks: blocks)
            for track in sending.dropFirst() { tools.reports.append(track.report(at: now, wallClock: wall)) }
        } else {
            tools.reports.appendReceiverReport(from: reporter, blocks: blocks)
        }
        tools.reports.appendName(Array("load".utf8), of: reporter)
        sendReports()
    }

    /// Takes a compound that was unprotected.
    func read(_ bytes: RawSpan, at now: Instant) {
        do {
            var compound = try RTCPCompound(bytes)
            while let packet = compound.next() { read(packet, now) }
        } catch {
            tools.tally.refused += 1
        }
    }

    private func read(_ packet: borrowing RTCPPacket, _ now: Instant) {
        switch packet.kind {
        case .nack:
            guard let track = track(packet.mediaSource) else { return }
            packet.visitLost { track.resend($0, on: self) }
        case .pictureLoss: track(packet.mediaSource)?.askForKeyFrame()
        case .fullIntraRequest: packet.visitFullIntraRequests { source, _ in self.track(source)?.askForKeyFrame() }
        case .transportFeedback: tools.tally.feedback += 1
        case .senderReport:
            guard let report = packet.senderReport,
                let index = streams.firstIndex(where: { $0.plan.ssrc == report.ssrc })
            else { break }
            streams[index].statistics.receive(report, at: now)
        default: break
        }
        guard packet.kind == .senderReport || packet.kind == .receiverReport else { return }
        let compact = tools.wallClock(at: now).compact
        packet.visitReportBlocks { block in
            guard self.track(block.ssrc) != nil, let roundTrip = block.roundTrip(at: compact) else { return }
            for index in self.streams.indices { self.streams[index].gaps.roundTripNanoseconds = roundTrip }
        }
    }

    private func track(_ source: UInt32?) -> SendingTrack? {
        tracks.first { $0.plan.ssrc == source }
    }
}
