import Model
import NIOCore
import TestSupport
import Testing
import Wire

@testable import Realtime

@Suite("A listener sees every change exactly once, in order")
struct ResumeProperties {
    private static let streams: [StreamName] = [
        .user(alice), .call(identifier(10)), .signals(identifier(10), identifier(5)),
    ]

    /// Queues so small that streams lag all the time.
    private static var tightLimits: RealtimeLimits {
        var limits = RealtimeLimits()
        limits.softQueueBytes = 600
        limits.concurrentReads = 2
        return limits
    }

    @Test("in any order of readings, batches and frames, and with lost connections at any point")
    func schedules() {
        let base = freshSeed()
        for round in 0..<400 {
            let seed = base &+ UInt64(round)
            var generator = SeededRandom(seed: seed)
            var harness = SessionHarness(limits: round.isMultiple(of: 2) ? Self.tightLimits : RealtimeLimits())
            harness.makesAll = round % 3 != 0
            harness.connect()
            for stream in Self.streams { harness.client[stream] = SessionHarness.Copy() }
            var listening = false
            for _ in 0..<Int.random(in: 20...400, using: &generator) {
                Self.step(&harness, &listening, &generator)
            }
            // A lost batch shows when the next one comes.
            harness.settle()
            for stream in Self.streams { harness.commit(stream) }
            Self.listenToAll(&harness)
            harness.settle()
            harness.expectWhole("seed \(seed)")
            #expect(harness.byes.isEmpty, "seed \(seed)")
        }
    }

    private static func listenToAll(_ harness: inout SessionHarness) {
        for (index, stream) in streams.enumerated() where harness.asked.insert(stream).inserted {
            let after = harness.client[stream]?.position
            let now = harness.now
            harness.run { $0.receive(.listen(Int64(100 + index), stream, after: after), at: now, into: &$1) }
        }
    }

    private static func step(
        _ harness: inout SessionHarness, _ listening: inout Bool, _ generator: inout SeededRandom
    ) {
        harness.now = harness.now + .milliseconds(20)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<25:
            if let stream = streams.randomElement(using: &generator) {
                harness.commit(stream, count: Int64.random(in: 1...3, using: &generator))
            }
        case 25..<45: harness.publishNext(lost: Int.random(in: 0..<20, using: &generator) == 0)
        case 45..<60: harness.deliverNext()
        case 60..<65: harness.readStore(Int.random(in: 0..<3, using: &generator))
        case 65..<75: harness.completeRead(Int.random(in: 0..<3, using: &generator))
        case 75..<90: harness.receiveNext()
        case 90..<95: harness.setWritable(Bool.random(using: &generator))
        case 95..<97: listenToAll(&harness)
        case 97: if let stream = streams.randomElement(using: &generator) { harness.rebuild(stream) }
        default: harness.connect()
        }
    }

    @Test("after a connection loss behind each single frame")
    func everyCut() {
        let stream = StreamName.call(identifier(10))
        func story(_ harness: inout SessionHarness, cutAfter frames: Int) -> Bool {
            var received = 0
            var wasCut = false
            func receive(_ harness: inout SessionHarness) {
                while !harness.wire.isEmpty {
                    if received == frames, !wasCut {
                        wasCut = true
                        return harness.connect()
                    }
                    harness.receiveNext()
                    received += 1
                }
            }
            harness.connect()
            receive(&harness)
            let now = harness.now
            harness.run { $0.receive(.listen(2, stream, after: nil), at: now, into: &$1) }
            for step in 0..<40 {
                harness.commit(stream, count: Int64(step % 3) + 1)
                if step % 4 != 1 { harness.publishNext() }
                if step % 3 != 2 { harness.deliverNext() }
                harness.completeRead(0)
                receive(&harness)
            }
            if harness.asked.isEmpty || wasCut, harness.client[stream] == nil {
                harness.run { $0.receive(.listen(3, stream, after: nil), at: now, into: &$1) }
            }
            harness.settle()
            return wasCut
        }
        var cut = 0
        while true {
            var harness = SessionHarness()
            let wasCut = story(&harness, cutAfter: cut)
            harness.expectWhole("cut after frame \(cut)")
            #expect(harness.client[stream]?.position?.sequence == harness.logs[stream]?.last, "cut after frame \(cut)")
            guard wasCut else { break }
            cut += 1
        }
        #expect(cut > 20)
    }
}
