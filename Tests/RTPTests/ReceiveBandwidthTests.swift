import RTP
import TestSupport
import Testing
import Wire

/// A sender that obeys REMB, as aiortc's does, through a bottleneck with a queue: virtual time, chance from a seed.
private struct ObedientSender {
    var link: BottleneckLink<UInt32>
    /// What it would send if it could.
    var linkCapacity = 2_500_000.0
    private(set) var reported: UInt64?
    private(set) var reports: [UInt64] = []
    private var estimate = ReceiveBandwidthEstimate()
    private var random: SeededRandom
    /// The sender's clock is another one, and its field of 24 bits turns over every 64 s.
    private var now: UInt64 = 61_000_000_000
    private var nextFrame: UInt64 = 0
    private var nextReport: UInt64 = 0
    private var nextLoss: UInt64 = 0
    private var waiting = 0.0
    private var (sentCount, lostCount) = (0, 0)

    private static let byteCount = 1_000
    private static let delay: UInt64 = 40_000_000

    init(rate: Double, seed: UInt64) {
        link = BottleneckLink(rate: rate, queueLimit: .nanoseconds(200_000_000), delayNanoseconds: Self.delay)
        random = SeededRandom(seed: seed)
    }

    /// Returns the mean of the reported bitrates in the second half.
    @discardableResult
    mutating func run(seconds: Double) -> Double {
        let end = now + UInt64(seconds * 1e9)
        let half = now + UInt64(seconds * 5e8)
        var (sum, count) = (0.0, 0.0)
        while now < end {
            step()
            now += 1_000_000
            if now > half, let reported {
                sum += Double(reported)
                count += 1
            }
        }
        return sum / max(count, 1)
    }

    private mutating func step() {
        if now >= nextFrame {
            nextFrame = now + 33_000_000
            waiting +=
                min(Double(reported ?? 500_000), linkCapacity) * 0.033 / 8
                * Double.random(in: 0.8...1.2, using: &random)
            let count = Int(waiting) / Self.byteCount
            waiting -= Double(count * Self.byteCount)
            for index in 0..<count { send(after: UInt64(index) * 1_000_000) }
        }
        for (arrival, sent) in link.take(until: Instant(nanoseconds: now)) {
            estimate.receive(sendTime: sent, byteCount: Self.byteCount, at: arrival)
        }
        if now >= nextLoss, sentCount > 0 {
            nextLoss = now + 1_000_000_000
            estimate.receive(
                fractionLost: UInt8(clamping: lostCount * 256 / sentCount), at: Instant(nanoseconds: now))
            (sentCount, lostCount) = (0, 0)
        }
        guard now >= nextReport else { return }
        nextReport = now + 50_000_000
        guard let bitrate = estimate.takeReport(roundTrip: 2 * Self.delay, at: Instant(nanoseconds: now)) else {
            return
        }
        reported = bitrate
        reports.append(bitrate)
    }

    private mutating func send(after wait: UInt64) {
        let sent = now + wait
        sentCount += 1
        let sendTime = AbsoluteSendTime.value(at: Instant(nanoseconds: sent + 777_000_000))
        let isQueued = link.send(
            sendTime, byteCount: Self.byteCount, at: Instant(nanoseconds: sent), using: &random)
        if !isQueued { lostCount += 1 }
    }
}

/// Each case runs with several seeds, named in the failure.
@Suite("Bandwidth estimation at the receiver")
struct ReceiveBandwidthTests {
    static let seeds: [UInt64] = [1, 2, 3]

    @Test("it converges to most of what a link carries", arguments: seeds, [200_000.0, 500_000, 1_500_000])
    func convergence(seed: UInt64, rate: Double) {
        var sender = ObedientSender(rate: rate, seed: seed)
        sender.run(seconds: 20)
        let mean = sender.run(seconds: 40)
        #expect((0.6...1.1).contains(mean / rate), "seed \(seed): \(mean / rate) of \(rate)")
    }

    @Test("a link that carries all is found, and no report falls on the way", arguments: seeds)
    func growth(seed: UInt64) {
        var sender = ObedientSender(rate: 20_000_000, seed: seed)
        sender.run(seconds: 30)
        #expect((sender.reported ?? 0) >= 2_500_000, "seed \(seed): \(sender.reports)")
        #expect(sender.reports == sender.reports.sorted(), "seed \(seed): \(sender.reports)")
        // Every second, from the first second on.
        #expect((28...31).contains(sender.reports.count), "seed \(seed): \(sender.reports.count)")
    }

    @Test("it falls within 3 s when the link does, and comes back", arguments: seeds)
    func dropAndRecovery(seed: UInt64) {
        var sender = ObedientSender(rate: 3_000_000, seed: seed)
        sender.run(seconds: 30)
        sender.link.rate = 300_000
        sender.run(seconds: 3)
        #expect((sender.reported ?? .max) < 400_000, "seed \(seed): \(sender.reported ?? 0)")
        sender.link.rate = 3_000_000
        sender.run(seconds: 60)
        #expect((sender.reported ?? 0) > 1_000_000, "seed \(seed): \(sender.reported ?? 0)")
    }

    @Test("jitter alone is not taken for a queue", arguments: seeds)
    func jitter(seed: UInt64) {
        var sender = ObedientSender(rate: 5_000_000, seed: seed)
        sender.link.jitterNanoseconds = 12_000_000
        sender.run(seconds: 20)
        let mean = sender.run(seconds: 20)
        #expect(mean > 1_000_000, "seed \(seed): \(mean)")
    }

    @Test("without packets there is no report")
    func silence() {
        var estimate = ReceiveBandwidthEstimate()
        var now = Instant(nanoseconds: 1_000_000_000)
        #expect(estimate.takeReport(roundTrip: 0, at: now) == nil)
        for packet in 0..<200 as Range<UInt32> {
            now = now.adding(nanoseconds: 10_000_000)
            estimate.receive(sendTime: packet * 2_621, byteCount: 1_000, at: now)
        }
        let reported = estimate.takeReport(roundTrip: 0, at: now)
        #expect((reported ?? 0) > 600_000)
        now = now.adding(nanoseconds: 60_000_000_000)
        #expect(estimate.takeReport(roundTrip: 0, at: now) == nil)
    }

    @Test("nonsensical times only affect the estimate", arguments: seeds)
    func nonsense(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var estimate = ReceiveBandwidthEstimate()
        var now = Instant(nanoseconds: 1_000_000_000)
        for _ in 0..<20_000 {
            now = now.adding(nanoseconds: UInt64.random(in: 0...20_000_000, using: &random))
            estimate.receive(
                sendTime: UInt32.random(in: 0...UInt32.max, using: &random),
                byteCount: Int.random(in: 0...1_500, using: &random), at: now)
            let reported = estimate.takeReport(
                roundTrip: UInt64.random(in: 0...10_000_000_000, using: &random), at: now)
            if let reported { #expect((50_000...30_000_000).contains(reported)) }
        }
    }
}
