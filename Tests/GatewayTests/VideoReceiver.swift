import RTP
import Wire

/// What a browser makes of the packets of a picture: it puts frames together, asks for what is missing, and for a key
/// frame where it cannot go on. The times and counts are those of libwebrtc.
struct VideoReceiver {
    private struct PacketInfo {
        let isKey: Bool
        let isStart: Bool
        let isEnd: Bool
        let layer: Int
    }

    private static let roundTrip: UInt64 = 100_000_000
    private static let maxTries = 10
    private static let keyFrameTimeout: UInt64 = 3_000_000_000

    /// When each frame was decoded, and of which layer it is.
    private(set) var frames: [(at: Instant, layer: Int)] = []
    private var packets: [Int64: PacketInfo] = [:]
    private var missing: [Int64: (tries: Int, next: Instant)] = [:]
    private var unwrapper = SequenceUnwrapper()
    private var highest: Int64?
    /// The last packet of the newest frame that was decoded.
    private var decoded: Int64?
    private var source: UInt32?
    private var lastRequest: Instant?

    mutating func receive(_ packet: Packet, isRepair: Bool, at now: Instant) {
        var payload = packet.payload[...]
        var number = packet.header.sequence
        if isRepair {
            guard payload.count > 2 else { return }
            number = UInt16(payload[0]) << 8 | UInt16(payload[1])
            payload = payload.dropFirst(2)
        } else {
            source = packet.header.ssrc
        }
        guard let descriptor = VP8Descriptor(Array(payload).span.bytes), let layer = payload.last else { return }
        let sequence = unwrapper.unwrap(number)
        guard sequence > decoded ?? -1, packets[sequence] == nil else { return }
        packets[sequence] = PacketInfo(
            isKey: descriptor.isKeyFrame, isStart: descriptor.isStart, isEnd: packet.header.marker, layer: Int(layer))
        missing[sequence] = nil
        if let highest, sequence > highest {
            for lost in highest + 1..<sequence { missing[lost] = (0, now) }
        }
        highest = max(highest ?? sequence, sequence)
        decode(at: now)
    }

    private mutating func decode(at now: Instant) {
        while let decoded, let packet = packets[decoded + 1], packet.isStart, let end = end(of: decoded + 1) {
            finish(end, at: now)
        }
        // A whole key frame needs nothing of what came before it.
        guard let key = packets.filter({ $0.value.isKey && $0.value.isStart }).keys.max(), let end = end(of: key) else {
            return
        }
        finish(end, at: now)
        decode(at: now)
    }

    /// The last packet of the frame that begins there, once it is whole.
    private func end(of start: Int64) -> Int64? {
        var sequence = start
        while let packet = packets[sequence] {
            if packet.isEnd { return sequence }
            sequence += 1
        }
        return nil
    }

    private mutating func finish(_ end: Int64, at now: Instant) {
        frames.append((now, packets[end]?.layer ?? 0))
        decoded = end
        packets = packets.filter { $0.key > end }
        missing = missing.filter { $0.key > end }
    }

    /// The NACKs and key frame requests to send now.
    mutating func reports(at now: Instant) -> [[UInt8]] {
        guard let source else { return [] }
        var reports: [[UInt8]] = []
        for (sequence, state) in missing.sorted(by: { $0.key < $1.key }) where state.next <= now {
            guard state.tries < Self.maxTries else {
                missing[sequence] = nil
                continue
            }
            missing[sequence] = (state.tries + 1, now.adding(nanoseconds: Self.roundTrip))
            reports.append(.nack(UInt16(truncatingIfNeeded: sequence), of: source))
        }
        let last = max(frames.last?.at ?? Instant(nanoseconds: 0), lastRequest ?? Instant(nanoseconds: 0))
        if now.nanoseconds(since: last) > Self.keyFrameTimeout {
            lastRequest = now
            reports.append(.pictureLoss(of: source))
        }
        return reports
    }
}
