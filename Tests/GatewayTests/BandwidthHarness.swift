import Gateway
import RTP
import SDP
import TestSupport
import Testing
import Wire

/// A publisher of three layers (150, 500 and 1,700 kbit/s, key frames when asked) and its viewers, each behind a link
/// of its own with 200 ms of queue.
struct BandwidthHarness: ~Copyable {
    var gateway: GatewayHarness
    var viewers: [Viewer]
    /// How often each packet of the lowest layer comes again: browsers pad so, to learn whether there is room for more.
    var repeats = 0
    /// The camera is on.
    var isFilmed = true
    /// Milliseconds from frame to frame; the layers cost the same with any.
    var interval = 33
    /// Bytes of each audio packet.
    var voice = 60
    private let client: Client
    private let publisher: LegID
    private let hasAudio: Bool
    /// Key frames contain their width.
    private let hasSizes: Bool
    private var widths: [UInt16] = [160, 320, 640]
    private var layers = [PublishedLayer(71, 600), PublishedLayer(72, 2_000), PublishedLayer(73, 7_000)]
    private var timestamp: UInt32 = 0
    private var speech: UInt16 = 0
    private var milliseconds = 0

    /// - Parameter rids: the layers as the publisher's offer lists them; q is the lowest, f the best.
    init(
        viewers rates: [Double], hasAudio: Bool = false, feedback: Viewer.Feedback = .transport,
        rids: [String] = ["q", "h", "f"], restrictions: [String: String] = [:], hasSizes: Bool = false
    ) throws {
        var made = GatewayHarness()
        var legs: [LegID] = []
        let client = Client(audio: hasAudio ? 11 : nil, rids: rids, restrictions: restrictions)
        self.hasSizes = hasSizes
        do {
            legs.append(try made.join("ann", client))
            for index in rates.indices { legs.append(try made.join("viewer \(index)", Client())) }
        }
        gateway = made
        publisher = legs[0]
        viewers = zip(legs.dropFirst(), rates).map { Viewer($0, rate: $1, feedback) }
        self.client = client
        self.hasAudio = hasAudio
    }

    var now: Instant { gateway.now }

    /// The index of the layer that came through last; nil when none did for a second.
    func shownLayer(_ viewer: Int) -> Int? {
        viewers[viewer].lastFrame.map { now.nanoseconds(since: $0) < 1_000_000_000 } ?? false
            ? viewers[viewer].layer : nil
    }

    mutating func run(seconds: Int) {
        for _ in 0..<seconds * 1_000 { step() }
    }

    private mutating func step() {
        milliseconds += 1
        if isFilmed, milliseconds % interval == 0 { frame() }
        if hasAudio, milliseconds % 20 == 0 {
            speech &+= 1
            gateway.send(
                client.packet(
                    client.opus, speech, UInt32(speech) * 960, 11, payload: [UInt8](repeating: 0x78, count: voice)),
                from: publisher)
        }
        gateway.now = gateway.now.adding(nanoseconds: 1_000_000)
        if milliseconds % 10 == 0 { gateway.engine.advance(to: gateway.now, into: &gateway.outbox) }
        gateway.engine.releaseWaiting(at: gateway.now, into: &gateway.outbox)
        for report in gateway.outbox.takeReports(publisher) {
            for index in layers.indices where report.requestsKeyFrame(of: layers[index].ssrc) {
                layers[index].needsKeyFrame = true
            }
        }
        for index in viewers.indices {
            _ = gateway.outbox.takeReports(viewers[index].leg)
            viewers[index].send(gateway.outbox.take(viewers[index].leg), at: now)
            for report in viewers[index].feedbackReports(at: now) { gateway.report(report, from: viewers[index].leg) }
        }
    }

    /// Changes the width of the best layer from the next key frame on.
    mutating func shrink(to width: UInt16) {
        widths[2] = width
        frame(isKey: true)
    }

    /// Sends one frame of each layer, optionally of a given size.
    mutating func frame(bytes: Int? = nil, isKey: Bool = false) {
        timestamp &+= UInt32(interval) * 90
        for index in layers.indices {
            let isEntry = isKey || layers[index].needsKeyFrame
            layers[index].needsKeyFrame = false
            layers[index].picture &+= 1
            var left = bytes ?? layers[index].frameBytes * interval / 33 * (isEntry ? 4 : 1)
            var isFirst = true
            while left > 0 {
                layers[index].sequence &+= 1
                let packet = client.part(
                    layers[index].sequence, timestamp: timestamp, ssrc: layers[index].ssrc,
                    picture: layers[index].picture, bytes: min(left, 1_100), isKey: isEntry, isFirst: isFirst,
                    isLast: left <= 1_100, elements: client.named(["q", "h", "f"][index]), layer: UInt8(index),
                    width: hasSizes ? widths[index] : nil)
                for _ in 0...(index == 0 ? repeats : 0) { gateway.send(packet, from: publisher) }
                left -= 1_100
                isFirst = false
            }
        }
    }
}

struct PublishedLayer {
    let ssrc: UInt32
    let frameBytes: Int
    var sequence: UInt16 = 0
    var picture: UInt16 = 0
    var needsKeyFrame = true

    init(_ ssrc: UInt32, _ frameBytes: Int) {
        self.ssrc = ssrc
        self.frameBytes = frameBytes
    }
}

/// A receiver at the end of a link.
struct Viewer {
    enum Feedback {
        case transport
        /// REMB and nothing else, in bits per second.
        case receiverLimit(UInt64)
    }

    /// Of Ethernet, IPv4 and UDP: the link carries them too.
    private static let headerBytes = 42

    let leg: LegID
    var link: BottleneckLink<Packet>
    var feedback: Feedback
    /// Until then nothing is read: it all comes at once afterwards.
    var blockedUntil: UInt64 = 0
    /// That of the latest packet of video.
    private(set) var layer: Int?
    private(set) var video = VideoReceiver()
    private(set) var lastFrame: Instant?
    private(set) var maxGap: UInt64 = 0
    private(set) var voices = 0
    /// The total time without video, beyond a second each.
    private(set) var pausedSeconds = 0.0
    private var log = ArrivalLog()
    private var nextFeedback: UInt64 = 0

    init(_ leg: LegID, rate: Double, _ feedback: Feedback) {
        self.leg = leg
        link = BottleneckLink(rate: rate, queueLimit: .nanoseconds(200_000_000), delayNanoseconds: 20_000_000)
        self.feedback = feedback
    }

    mutating func send(_ packets: [Packet], at now: Instant) {
        // Never used, since the link has no jitter.
        var random = SystemRandomNumberGenerator()
        for packet in packets {
            link.send(packet, byteCount: packet.bytes.count + Self.headerBytes, at: now, using: &random)
        }
        guard now.nanoseconds >= blockedUntil else { return }
        for (arrival, packet) in link.take(until: now) {
            receive(packet, readAt: max(arrival.nanoseconds, blockedUntil), at: now)
        }
        if let lastFrame, now.nanoseconds(since: lastFrame) > 1_000_000_000 { pausedSeconds += 0.001 }
    }

    private mutating func receive(_ packet: Packet, readAt: UInt64, at now: Instant) {
        if let number = packet.transportSequence(Client()) { log.record(number, at: Instant(nanoseconds: readAt)) }
        if packet.header.payloadType == Client().opus { voices += 1 }
        let isRepair = packet.header.payloadType == Client().rtx
        guard isRepair || packet.header.payloadType == Client().vp8 else { return }
        video.receive(packet, isRepair: isRepair, at: now)
        guard !isRepair else { return }
        if let lastFrame { maxGap = max(maxGap, now.nanoseconds(since: lastFrame)) }
        lastFrame = now
        layer = packet.payload.last.map(Int.init)
    }

    /// NACKs at once, and feedback every 50 ms.
    mutating func feedbackReports(at now: Instant) -> [[UInt8]] {
        guard now.nanoseconds >= blockedUntil else { return [] }
        var feedbackReports = video.reports(at: now)
        guard now.nanoseconds >= nextFeedback else { return feedbackReports }
        nextFeedback = now.nanoseconds + 50_000_000
        guard case .transport = feedback else {
            if case .receiverLimit(let limit) = feedback { feedbackReports.append(.receiverLimit(limit)) }
            return feedbackReports
        }
        while log.hasUnreported {
            var writer = RTCPWriter()
            guard log.write(into: &writer, from: 1, of: 2) else { break }
            feedbackReports.append(writer.bytes)
        }
        return feedbackReports
    }
}
