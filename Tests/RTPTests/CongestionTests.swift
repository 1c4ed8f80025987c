import RTP
import Testing
import Wire

/// Each case runs with several seeds, named in the failure.
@Suite("Bandwidth estimation")
struct CongestionTests {
    static let seeds: [UInt64] = [1, 2, 3]

    private func share(_ link: VirtualLink, of rate: Double) -> Double { Double(link.estimate.bitrate) / rate }

    @Test("it converges to most of what a link carries", arguments: seeds, [300_000.0, 1_000_000, 3_000_000])
    func convergence(seed: UInt64, rate: Double) {
        var link = VirtualLink(rate: rate, seed: seed)
        link.run(seconds: 15)
        let mean = link.run(seconds: 20)
        #expect((0.7...1.05).contains(mean / rate), "seed \(seed): \(mean / rate) of \(rate)")
    }

    @Test("within ten seconds it knows a link that carries all", arguments: seeds)
    func start(seed: UInt64) {
        var link = VirtualLink(rate: 20_000_000, mediaRate: 2_500_000, seed: seed)
        link.run(seconds: 10)
        #expect(link.estimate.bitrate >= 2_500_000, "seed \(seed)")
        let padding = link.paddingBytes
        link.run(seconds: 20)
        #expect(link.paddingBytes == padding, "seed \(seed): no probe is sent for what nobody wants")
    }

    @Test("it falls within 3 s when the link drops to 300 kb/s, and is back within 10 s", arguments: seeds)
    func dropAndRecovery(seed: UInt64) {
        var link = VirtualLink(rate: 3_000_000, mediaRate: 2_500_000, seed: seed)
        link.run(seconds: 15)
        #expect(link.estimate.bitrate > 1_700_000, "seed \(seed)")
        link.rate = 300_000
        link.run(seconds: 3)
        #expect(link.estimate.bitrate < 400_000, "seed \(seed): \(link.estimate.bitrate)")
        link.run(seconds: 12)
        let low = link.run(seconds: 10)
        #expect((0.6...1.1).contains(low / 300_000), "seed \(seed): \(low)")
        link.rate = 3_000_000
        link.run(seconds: 10)
        #expect(link.estimate.bitrate > 1_700_000, "seed \(seed): \(link.estimate.bitrate)")
    }

    @Test(
        "a receiver that reads late by a few milliseconds still learns that its link is free again", arguments: 1...30)
    func recoveryOfALowLayer(seed: UInt64) {
        var link = VirtualLink(rate: 3_000_000, mediaRate: 170_000, seed: seed)
        link.estimate.requestedBitrate = 1_100_000
        link.jitter = 16_000_000
        link.run(seconds: 10)
        link.rate = 300_000
        link.queueByteLimit = 7_500
        link.run(seconds: 10)
        link.rate = 3_000_000
        link.run(seconds: 8)
        #expect(link.estimate.bitrate > 1_000_000, "seed \(seed): \(link.estimate.bitrate)")
    }

    @Test("a link whose short queue overflows is known within half a second", arguments: seeds, [100_000.0, 300_000])
    func capacityDrop(seed: UInt64, rate: Double) {
        var link = VirtualLink(rate: 3_000_000, mediaRate: 2_500_000, seed: seed)
        link.run(seconds: 15)
        link.rate = rate
        link.queueByteLimit = rate * 0.2 / 8
        link.run(seconds: 0.5)
        #expect((0.5...1.3).contains(share(link, of: rate)), "seed \(seed): \(link.estimate.bitrate)")
    }

    @Test("jitter alone is not taken for a queue", arguments: seeds)
    func jitter(seed: UInt64) {
        var link = VirtualLink(rate: 2_000_000, seed: seed)
        link.jitter = 15_000_000
        link.run(seconds: 15)
        let mean = link.run(seconds: 20)
        #expect((0.6...1.1).contains(mean / 2_000_000), "seed \(seed): \(mean)")
    }

    @Test("loss without a queue leaves the rate, up to the 10 % of a bad radio", arguments: seeds, [2, 10])
    func randomLoss(seed: UInt64, percent: Int) {
        var link = VirtualLink(rate: 10_000_000, mediaRate: 1_500_000, seed: seed)
        link.run(seconds: 5)
        link.lossPercent = percent
        link.run(seconds: 30)
        #expect(link.estimate.bitrate > 1_000_000, "seed \(seed): \(link.estimate.bitrate)")
    }

    @Test("half of all packets lost cuts it", arguments: seeds)
    func heavyLoss(seed: UInt64) {
        var link = VirtualLink(rate: 10_000_000, mediaRate: 1_500_000, seed: seed)
        link.run(seconds: 5)
        link.lossPercent = 50
        link.run(seconds: 10)
        #expect(link.estimate.bitrate < 500_000, "seed \(seed): \(link.estimate.bitrate)")
    }

    @Test("it yields bandwidth to others and takes it back", arguments: seeds)
    func crossTraffic(seed: UInt64) {
        var link = VirtualLink(rate: 3_000_000, seed: seed)
        link.run(seconds: 15)
        link.crossRate = 2_000_000
        link.run(seconds: 10)
        let squeezed = link.run(seconds: 15)
        #expect((0.6...1.1).contains(squeezed / 1_000_000), "seed \(seed): \(squeezed)")
        link.crossRate = 0
        link.run(seconds: 10)
        #expect(share(link, of: 3_000_000) > 0.6, "seed \(seed)")
    }

    @Test("a shallow queue, where loss occurs before delay", arguments: seeds)
    func shallowQueue(seed: UInt64) {
        var link = VirtualLink(rate: 1_000_000, queueMilliseconds: 10, seed: seed)
        link.queueByteLimit = 4_000
        link.run(seconds: 20)
        let mean = link.run(seconds: 20)
        #expect((0.5...1.4).contains(mean / 1_000_000), "seed \(seed): \(mean)")
    }

    @Test("without feedback on what is sent it falls")
    func silence() {
        var link = VirtualLink(rate: 3_000_000, seed: 1)
        link.run(seconds: 10)
        let before = link.estimate.bitrate
        link.lossPercent = 100
        link.run(seconds: 10)
        #expect(link.estimate.bitrate < before / 10)
    }

    @Test("REMB sets the rate only where there is nothing else")
    func receiverLimit() {
        var estimate = BandwidthEstimate(.init(initial: 600_000))
        estimate.receive(estimatedMaximumBitrate: 2_000_000)
        #expect(estimate.bitrate == 2_000_000)
        var block = ReportBlock(
            ssrc: 1, fractionLost: 0, cumulativeLost: 0, highestSequence: 0, jitter: 0, lastSenderReport: 0,
            delaySinceSenderReport: 0)
        block.fractionLost = 128
        for second in 1...5 {
            estimate.receive(block, roundTrip: 50_000_000, at: Instant(nanoseconds: UInt64(second) * 1_000_000_000))
        }
        #expect(estimate.bitrate < 1_000_000)
        #expect(estimate.roundTripNanoseconds < 90_000_000)
        var link = VirtualLink(rate: 3_000_000, seed: 1)
        link.estimate.receive(estimatedMaximumBitrate: 100_000)
        link.run(seconds: 10)
        #expect(link.estimate.bitrate > 1_500_000)
    }
}

@Suite("Pacer")
struct PacerTests {
    @Test(
        "a burst leaves at two and a half times the rate, but hardly faster than it when the link is full",
        arguments: [100_000, 1_000_000, 20_000_000] as [UInt64], [false, true])
    func pace(bitrate: UInt64, isCongested: Bool) {
        var pacer = Pacer(bitrate: 1_000)
        pacer.set(bitrate: bitrate, isCongested: isCongested)
        var now = Instant(nanoseconds: 1_000_000_000)
        var sent = 0
        for _ in 0..<1_000 {
            switch pacer.next(hasPackets: true, at: now) {
            case .send(let probe):
                #expect(probe == 0)
                pacer.sent(byteCount: 1_000, at: now)
                sent += 1_000
            case .wait(let until):
                #expect(until > now)
                now = until
            case .pad, .idle: Issue.record("packets wait")
            }
        }
        let seconds = Double(now.nanoseconds - 1_000_000_000) / 1e9
        let rate = Double(sent) * 8 / seconds
        #expect((0.95...1.2).contains(rate / (Double(bitrate) * (isCongested ? 1.25 : 2.5))), "\(rate)")
        #expect(pacer.next(hasPackets: false, at: now) == .idle)
    }
}
