import RTP
import SDP
import Wire

// Media of a live leg: what is received is sent back, and requested again if it was lost.

extension EchoLeg {
    private static let feedbackInterval: UInt64 = 100_000_000
    private static let reportInterval: UInt64 = 1_000_000_000
    /// The maximum number of packets that one request may have sent again.
    private static let resendLimit = 128

    /// Receives an RTP packet after decryption.
    func receiveRTP(_ bytes: UnsafeMutableRawBufferPointer, at now: Instant) {
        guard let packet = try? RTPPacket(UnsafeRawBufferPointer(bytes).bytes) else { return }
        if let sequence = packet.transportSequence(extensions) { arrivals.record(sequence, at: now) }
        guard let target = demultiplexer.target(of: packet) else { return }
        if target.isRepair {
            repair(bytes, packet.payloadType, streams[target.index], at: now)
        } else {
            sendBack(packet, isRepair: false, streams[target.index], at: now)
        }
    }

    /// Sends back the packet in a retransmission.
    private func repair(
        _ bytes: UnsafeMutableRawBufferPointer, _ type: UInt8, _ stream: EchoStream, at now: Instant
    ) {
        guard let source = stream.source, let codec = stream.route.codec(retransmittedAs: type) else { return }
        var target = bytes.mutableBytes
        guard let range = Retransmission.unwrap(&target, payloadType: codec.payloadType, ssrc: source),
            let packet = try? RTPPacket(target.bytes.extracting(range))
        else { return }
        sendBack(packet, isRepair: true, stream, at: now)
    }

    private func sendBack(
        _ packet: borrowing RTPPacket, isRepair: Bool, _ stream: EchoStream, at now: Instant
    ) {
        let buffer = tools.nextBuffer
        var target = buffer.mutableBytes
        let count = stream.receive(packet, isRepair: isRepair, extensionValues(at: now), at: now, into: &target)
        if let count { protectAndSend(buffer, count: count, stream.route.kind) }
    }

    private func resend(_ lost: UInt16, of stream: EchoStream, at now: Instant) {
        let buffer = tools.nextBuffer
        var target = buffer.mutableBytes
        let count = stream.resend(lost, extensionValues(at: now), into: &target)
        if let count { protectAndSend(buffer, count: count, stream.route.kind) }
    }

    // MARK: Reports

    /// Receives an RTCP compound after decryption.
    func receiveReports(_ bytes: RawSpan, at now: Instant) {
        guard var compound = try? RTCPCompound(bytes) else { return }
        while let packet = compound.next() { receiveReport(packet, at: now) }
    }

    private func receiveReport(_ packet: borrowing RTCPPacket, at now: Instant) {
        switch packet.kind {
        case .nack:
            guard let stream = sentStream(packet.mediaSource) else { return }
            packet.visitLost(atMost: Self.resendLimit) { resend($0, of: stream, at: now) }
        case .pictureLoss: sentStream(packet.mediaSource)?.requestKeyFrame()
        case .fullIntraRequest: packet.visitFullIntraRequests { source, _ in sentStream(source)?.requestKeyFrame() }
        case .estimatedMaximumBitrate:
            // What the other side can receive is all that it should send.
            guard let bitrate = packet.estimatedMaximumBitrate else { return }
            tools.reports.begin()
            tools.reports.appendEstimatedMaximumBitrate(bitrate, of: streams.compactMap(\.source), from: reporter)
            sendReports()
        case .senderReport:
            guard let received = packet.senderReport,
                let stream = streams.first(where: { $0.source == received.ssrc }),
                let report = stream.report(for: received, at: now)
            else { return }
            tools.reports.begin()
            tools.reports.append(report)
            tools.reports.appendName(Array(stream.route.name.utf8), of: stream.route.ssrc)
            sendReports()
        default: break
        }
    }

    private func sentStream(_ source: UInt32?) -> EchoStream? {
        streams.first { $0.route.ssrc == source }
    }

    /// Sends reports that are due: requests for lost packets and key frames at once, transport-wide feedback ten times
    /// a second, receiver reports every second.
    func sendDueReports(_ now: Instant) {
        for stream in streams where stream.route.kind == .video { requestMissing(of: stream, at: now) }
        if now.nanoseconds >= nextFeedback {
            nextFeedback = now.nanoseconds &+ Self.feedbackInterval
            sendFeedback()
        }
        guard now.nanoseconds >= nextReport else { return }
        nextReport = now.nanoseconds &+ Self.reportInterval
        tools.reports.begin()
        tools.reports.appendReceiverReport(from: reporter, blocks: streams.compactMap { $0.reportBlock(at: now) })
        tools.reports.appendName(Array((streams.first?.route.name ?? "echo").utf8), of: reporter)
        sendReports()
    }

    private func requestMissing(of stream: EchoStream, at now: Instant) {
        guard let source = stream.source else { return }
        stream.collectLost(at: now, into: &tools.lost)
        if !tools.lost.isEmpty {
            tools.reports.begin()
            tools.reports.appendNACK(tools.lost, of: source, from: reporter)
            sendReports()
        }
        guard stream.takeKeyFrameRequest(at: now) else { return }
        tools.reports.begin()
        tools.reports.appendPictureLoss(of: source, from: reporter)
        sendReports()
    }

    private func sendFeedback() {
        while arrivals.hasUnreported {
            tools.reports.begin()
            guard arrivals.write(into: &tools.reports, from: reporter, of: streams.first?.source ?? 0) else { return }
            sendReports()
        }
    }
}
