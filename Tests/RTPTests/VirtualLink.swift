import RTP
import TestSupport
import Wire

/// A bottleneck with a queue, loss and jitter, a sender that keeps to its estimate and its pacer, and a receiver that
/// answers with real feedback packets: virtual time, chance from a seed.
struct VirtualLink {
    private static let delay: UInt64 = 25_000_000

    var rate: Double
    var queueByteLimit: Double
    var jitter: UInt64 = 0
    var lossPercent = 0
    /// What others send through the same bottleneck.
    var crossRate = 0.0

    var estimate: BandwidthEstimate
    var pacer: Pacer
    var random: SeededRandom
    /// What the application would send if it could: the highest layer.
    var mediaRate: Double
    private(set) var now: UInt64 = 1_000_000_000
    private var link: BottleneckLink<UInt16>
    private var feedback = ArrivalQueue<[UInt8]>()
    private var log = ArrivalLog()
    private var sequence: UInt16 = 65_000
    private var waiting = 0.0
    private var nextFrame: UInt64 = 0
    private var nextFeedback: UInt64 = 0
    private var nextAdvance: UInt64 = 0
    private(set) var paddingBytes = 0

    init(rate: Double, queueMilliseconds: Double = 200, mediaRate: Double = 4_000_000, seed: UInt64) {
        self.rate = rate
        queueByteLimit = max(rate * queueMilliseconds / 8_000, 20_000)
        link = BottleneckLink(rate: rate, queueLimit: .bytes(queueByteLimit), delayNanoseconds: Self.delay)
        self.mediaRate = mediaRate
        estimate = BandwidthEstimate()
        estimate.requestedBitrate = UInt64(mediaRate)
        pacer = Pacer(bitrate: estimate.bitrate)
        random = SeededRandom(seed: seed)
    }

    /// Runs for so long and returns the mean of the estimate over its last half.
    @discardableResult
    mutating func run(seconds: Double) -> Double {
        let end = now + UInt64(seconds * 1e9)
        let half = now + UInt64(seconds * 5e8)
        var sum = 0.0
        var count = 0
        while now < end {
            step()
            now += 1_000_000
            if now > half {
                sum += Double(estimate.bitrate)
                count += 1
            }
        }
        return sum / Double(max(count, 1))
    }

    private mutating func step() {
        let instant = Instant(nanoseconds: now)
        deliver()
        if now >= nextAdvance {
            nextAdvance = now + 25_000_000
            if let probe = estimate.advance(to: instant) { pacer.begin(probe, at: instant) }
            pacer.set(bitrate: estimate.bitrate, isCongested: estimate.isCongested(at: instant))
        }
        if now >= nextFrame {
            nextFrame = now + 33_000_000
            let frame = min(Double(estimate.bitrate), mediaRate) * 0.033 / 8
            waiting += frame * Double.random(in: 0.7...1.3, using: &random)
        }
        for _ in 0..<100 {
            switch pacer.next(hasPackets: waiting >= 100, at: instant) {
            case .send(let probe):
                let size = min(Int(waiting), 1_200)
                waiting -= Double(size)
                send(size, probe: probe)
            case .pad(let size, let probe):
                paddingBytes += size
                send(size, probe: probe)
            case .wait, .idle:
                return
            }
        }
    }

    private mutating func send(_ byteCount: Int, probe: UInt8) {
        let instant = Instant(nanoseconds: now)
        sequence &+= 1
        estimate.sent(sequence, byteCount: byteCount, probe: probe, at: instant)
        pacer.sent(byteCount: byteCount, probe: probe, at: instant)
        guard Int.random(in: 0..<100, using: &random) >= lossPercent else { return }
        link.rate = max(rate - crossRate, rate / 20)
        link.queueLimit = .bytes(queueByteLimit)
        link.jitterNanoseconds = jitter
        link.send(sequence, byteCount: byteCount, at: instant, using: &random)
    }

    private mutating func deliver() {
        let instant = Instant(nanoseconds: now)
        for (arrival, sequence) in link.take(until: instant) { log.record(sequence, at: arrival) }
        if now >= nextFeedback {
            nextFeedback = now + 50_000_000
            while log.hasUnreported {
                var writer = RTCPWriter()
                guard log.write(into: &writer, from: 1, of: 2) else { break }
                feedback.insert(writer.bytes, arrival: instant.adding(nanoseconds: Self.delay))
            }
        }
        for (_, bytes) in feedback.take(until: instant) {
            guard var compound = try? RTCPCompound(bytes.span.bytes) else { continue }
            while let packet = compound.next() {
                if let feedback = TransportFeedback(packet) { estimate.receive(feedback, at: instant) }
            }
        }
    }
}
