import RTP
import SDP
import Wire

// Media of a live leg: received packets are counted, requested again if lost, and reported on, as a browser does.

extension MediaLeg {
    private static let feedbackInterval: UInt64 = 100_000_000
    private static let reportInterval: UInt64 = 1_000_000_000

    /// Receives an RTP packet after decryption.
    func receiveRTP(_ bytes: UnsafeMutableRawBufferPointer, arrival: Instant?, at now: Instant) {
        do {
            let packet = try RTPPacket(UnsafeRawBufferPointer(bytes).bytes)
            if let sequence = packet.transportSequence(plan.extensions) { arrivals.record(sequence, at: now) }
            guard let stream = streamIndices[packet.ssrc] else {
                tools.counters.refused += 1
                return
            }
            if stream.isRepair { return repair(bytes, stream.index, at: now) }
            let sent = streams[stream.index].receive(packet, isRepair: false, at: now)
            record(sent, stream.index, at: now)
            if let sent, let arrival {
                MediaCounters.record(
                    arrival.nanoseconds(since: sent), in: &tools.counters[streams[stream.index].plan.kind].residence)
            }
        } catch {
            tools.counters.refused += 1
        }
    }

    private func repair(_ bytes: UnsafeMutableRawBufferPointer, _ index: Int, at now: Instant) {
        let plan = streams[index].plan
        var target = bytes.mutableBytes
        guard let range = Retransmission.unwrap(&target, payloadType: plan.payloadType, ssrc: plan.ssrc) else {
            tools.counters.probes += 1
            return
        }
        do {
            let packet = try RTPPacket(target.bytes.extracting(range))
            record(streams[index].receive(packet, isRepair: true, at: now), index, at: now)
        } catch {
            tools.counters.refused += 1
        }
    }

    private func record(_ sent: Instant?, _ index: Int, at now: Instant) {
        guard let sent else { return }
        MediaCounters.record(now.nanoseconds(since: sent), in: &tools.counters[streams[index].plan.kind].latency)
        guard !hasMedia else { return }
        hasMedia = true
        guard begin.expectsMedia else { return }
        MediaCounters.record(clock().nanoseconds &- begin.offered, in: &tools.counters.firstPacket)
    }

    // MARK: Reports

    /// Sends reports that are due: transport-wide feedback ten times a second, NACKs at once, sender and receiver
    /// reports every second.
    func report(_ now: Instant) {
        requestLost(now)
        if now.nanoseconds >= nextFeedback {
            nextFeedback = now.nanoseconds + Self.feedbackInterval
            while arrivals.hasUnreported {
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

    private func requestLost(_ now: Instant) {
        for index in streams.indices where streams[index].plan.kind == .video {
            let source = streams[index].plan.ssrc
            if streams[index].gaps.missingCount > 0 {
                streams[index].gaps.collect(at: now, into: &tools.lost)
                if !tools.lost.isEmpty {
                    tools.reports.begin()
                    tools.counters.nacks += UInt64(tools.reports.appendNACK(tools.lost, of: source, from: reporter))
                    sendReports()
                }
            }
            if streams[index].shouldRequestKeyFrame(at: now) {
                tools.reports.begin()
                tools.reports.appendPictureLoss(of: source, from: reporter)
                tools.counters.pictureLosses += 1
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

    /// Receives an RTCP compound after decryption.
    func read(_ bytes: RawSpan, at now: Instant) {
        do {
            var compound = try RTCPCompound(bytes)
            while let packet = compound.next() { read(packet, now) }
        } catch {
            tools.counters.refused += 1
        }
    }

    private func read(_ packet: borrowing RTCPPacket, _ now: Instant) {
        switch packet.kind {
        case .nack:
            guard let track = track(packet.mediaSource) else { return }
            packet.visitLost { track.resend($0, on: self) }
        case .pictureLoss: track(packet.mediaSource)?.requestKeyFrame()
        case .fullIntraRequest: packet.visitFullIntraRequests { source, _ in self.track(source)?.requestKeyFrame() }
        case .transportFeedback: tools.counters.feedback += 1
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
