import RTP
import SDP
import Synchronization
import Wire

/// A track that a virtual participant publishes: it writes packets, and keeps those of video for retransmission.
final class SendingTrack {
    private static let sources = Atomic<UInt32>(1)
    private static let historyByteCount = 256 * 1024

    let plan: PublishedTrack
    /// Identifies the sender to the receivers in this program.
    let source: UInt32
    private let composer: PacketComposer
    private var values = ExtensionValues()
    private let frameByteCount: Int
    /// A packet with a payload of noise, of which a prefix is sent.
    private let raw: [UInt8]
    /// Speech that is sent instead of noise.
    private let speech: SpokenClip?
    /// The index of the next packet of the speech.
    private var position = 0
    private var opusTicks = MediaClip.opusTicks
    private var history = PacketHistory(byteLimit: SendingTrack.historyByteCount)
    private var number: UInt32 = 0
    private var sequence: UInt16
    private var repairSequence: UInt16
    private var timestamp: UInt32
    private var picture: UInt16
    /// The next frame is a key frame.
    private var needsKeyFrame = true
    private(set) var packetCount: UInt32 = 0
    private(set) var byteCount: UInt32 = 0
    private(set) var lastTimestamp: UInt32 = 0

    init(
        _ plan: PublishedTrack, _ extensions: HeaderExtensionIDs, bitrate: Int, speech: SpokenClip?,
        _ random: inout SeededRandom
    ) {
        self.plan = plan
        self.speech = plan.kind == .audio ? speech : nil
        source = Self.sources.wrappingAdd(1, ordering: .relaxed).newValue
        composer = PacketComposer(from: extensions, to: extensions)
        values.mediaIdentification = Array(plan.mid.utf8)
        if plan.kind == .audio {
            values.audioLevel = AudioLevel(below: UInt8.random(in: 20...50, using: &random), isVoice: true)
        }
        // Key frames are only sent on request, so the bitrate is that of other frames.
        frameByteCount = max(1, bitrate / 8 / Int(MediaClip.framesPerSecond))
        sequence = UInt16.random(in: 0...UInt16.max, using: &random)
        repairSequence = UInt16.random(in: 0...UInt16.max, using: &random)
        timestamp = UInt32.random(in: 0...UInt32.max, using: &random)
        picture = UInt16.random(in: 0...0x7FFF, using: &random)
        let payload =
            plan.kind == .audio
            ? MediaClip.opus() : MediaClip.noise(MediaClip.maxPayloadByteCount + RTPPacket.headerByteCount)
        // Each publisher starts at another position.
        if let speech { position = Int.random(in: speech.packets.indices, using: &random) }
        raw = [0x80] + [UInt8](repeating: 0, count: RTPPacket.headerByteCount - 1) + payload
    }

    var clockRate: UInt32 { plan.kind == .audio ? 48000 : 90000 }
    /// The time until the next packet or frame.
    var interval: UInt64 {
        plan.kind == .audio ? UInt64(opusTicks) * 1_000_000 / 48 : MediaClip.frameInterval
    }
    /// A sender report.
    func report(at now: Instant, wallClock: NTPTime) -> SenderReport {
        SenderReport(
            ssrc: plan.ssrc, ntpTime: wallClock.bits, rtpTimestamp: lastTimestamp, packetCount: packetCount,
            byteCount: byteCount)
    }

    func requestKeyFrame() { needsKeyFrame = true }

    /// Sends what belongs to the next interval: a packet of audio, or all packets of a frame.
    func send(on leg: MediaLeg) {
        switch plan.kind {
        case .audio:
            if let speech {
                let packet = speech.packets[position]
                write(packet.raw, payload: packet.payload.count, marker: packetCount == 0, on: leg) { _, _ in }
                opusTicks = packet.duration
                if speech.ends.contains(position) { leg.begin.speech?.note() }
                position = (position + 1) % speech.packets.count
            } else {
                write(raw, payload: MediaClip.opusByteCount, marker: packetCount == 0, on: leg) { _, _ in }
            }
            timestamp &+= opusTicks
        case .video:
            let isKeyFrame = needsKeyFrame
            needsKeyFrame = false
            let frame = isKeyFrame ? frameByteCount * MediaClip.keyFrameFactor : frameByteCount
            let (count, payload) = MediaClip.split(frame)
            for index in 0..<count {
                write(raw, payload: payload, marker: index == count - 1, on: leg) { target, offset in
                    MediaClip.writeVP8(
                        isStart: index == 0, isKeyFrame: isKeyFrame, picture: self.picture, frame: frame, into: &target,
                        at: offset)
                }
            }
            picture = (picture &+ 1) & 0x7FFF
            timestamp &+= MediaClip.frameTicks
        }
    }

    private func write(
        _ raw: [UInt8], payload: Int, marker: Bool, on leg: MediaLeg, _ fill: (inout MutableRawSpan, Int) -> Void
    ) {
        let buffer = leg.tools.nextBuffer
        let header = RTPHeader(
            payloadType: plan.payloadType, marker: marker, sequence: sequence, timestamp: timestamp, ssrc: plan.ssrc)
        let now = leg.clock()
        leg.number(&values, at: now)
        var byteCount = 0
        do {
            let packet = try RTPPacket(raw.span.bytes.extracting(0..<RTPPacket.headerByteCount + payload))
            var target = buffer.mutableBytes
            guard let written = composer.write(packet, header: header, values: values, into: &target) else { return }
            byteCount = written.byteCount
            fill(&target, written.payloadOffset)
            MediaMark(source: source, number: number, sentAt: now.nanoseconds)
                .write(into: &target, endingAt: byteCount)
            if plan.retransmission != nil { history.store(try RTPPacket(target.bytes.extracting(0..<byteCount))) }
        } catch {
            return
        }
        sequence &+= 1
        number &+= 1
        packetCount &+= 1
        lastTimestamp = timestamp
        self.byteCount &+= UInt32(truncatingIfNeeded: payload)
        leg.protectAndSend(buffer, count: byteCount)
        leg.tools.counters.sent += 1
    }

    /// Sends a lost packet again as a retransmission (RFC 4588), if it is in the history.
    func resend(_ lost: UInt16, on leg: MediaLeg) {
        guard let type = plan.retransmission, let bytes = history.packet(lost)?.copyToArray() else {
            return
        }
        let buffer = leg.tools.nextBuffer
        var byteCount = 0
        do {
            let packet = try RTPPacket(bytes.span.bytes)
            var header = packet.header
            header.payloadType = type
            header.ssrc = plan.retransmissionSSRC
            header.sequence = repairSequence
            var target = buffer.mutableBytes
            leg.number(&values, at: leg.clock())
            guard
                let written = composer.write(
                    packet, header: header, values: values, originalSequence: lost, into: &target)
            else { return }
            byteCount = written.byteCount
        } catch {
            return
        }
        repairSequence &+= 1
        leg.protectAndSend(buffer, count: byteCount)
        leg.tools.counters.resent += 1
    }
}
