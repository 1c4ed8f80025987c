import Foundation
import Model
import NIOCore
import Testing

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
        limits.readsAtOnce = 2
        return limits
    }

    @Test("whatever the order in which readings, batches and frames arrive, and wherever the connection is cut")
    func schedules() {
        let base =
            UInt64(ProcessInfo.processInfo.environment["SWITCHBOARD_SEED"] ?? "") ?? UInt64.random(in: 0..<1 << 40)
        for round in 0..<400 {
            let seed = base &+ UInt64(round)
            var generator = SeededGenerator(seed: seed)
            var world = SessionWorld(limits: round.isMultiple(of: 2) ? Self.tightLimits : RealtimeLimits())
            world.connect()
            for stream in Self.streams { world.client[stream] = SessionWorld.Copy() }
            var listening = false
            for _ in 0..<Int.random(in: 20...400, using: &generator) {
                Self.step(&world, &listening, &generator)
            }
            // A lost batch shows when the next one comes.
            world.settle()
            for stream in Self.streams { world.commit(stream) }
            Self.listenToAll(&world)
            world.settle()
            world.expectWhole("seed \(seed)")
            #expect(world.byes.isEmpty, "seed \(seed)")
        }
    }

    private static func listenToAll(_ world: inout SessionWorld) {
        for (index, stream) in streams.enumerated() where world.asked.insert(stream).inserted {
            let after = world.client[stream]?.position
            let now = world.now
            world.run { $0.receive(.listen(Int64(100 + index), stream, after: after), at: now, into: &$1) }
        }
    }

    private static func step(_ world: inout SessionWorld, _ listening: inout Bool, _ generator: inout SeededGenerator) {
        world.now = world.now + .milliseconds(20)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<25:
            if let stream = streams.randomElement(using: &generator) {
                world.commit(stream, count: Int64.random(in: 1...3, using: &generator))
            }
        case 25..<45: world.publishNext(lost: Int.random(in: 0..<20, using: &generator) == 0)
        case 45..<60: world.deliverNext()
        case 60..<65: world.readStore(Int.random(in: 0..<3, using: &generator))
        case 65..<75: world.answerStore(Int.random(in: 0..<3, using: &generator))
        case 75..<90: world.receiveNext()
        case 90..<95: world.setWritable(Bool.random(using: &generator))
        case 95..<97: listenToAll(&world)
        case 97: if let stream = streams.randomElement(using: &generator) { world.rebuild(stream) }
        default: world.connect()
        }
    }

    @Test("after a cut behind each single frame")
    func everyCut() {
        let stream = StreamName.call(identifier(10))
        func story(_ world: inout SessionWorld, cutAfter frames: Int) -> Bool {
            var received = 0
            var wasCut = false
            func receive(_ world: inout SessionWorld) {
                while !world.wire.isEmpty {
                    if received == frames, !wasCut {
                        wasCut = true
                        return world.connect()
                    }
                    world.receiveNext()
                    received += 1
                }
            }
            world.connect()
            receive(&world)
            let now = world.now
            world.run { $0.receive(.listen(2, stream, after: nil), at: now, into: &$1) }
            for step in 0..<40 {
                world.commit(stream, count: Int64(step % 3) + 1)
                if step % 4 != 1 { world.publishNext() }
                if step % 3 != 2 { world.deliverNext() }
                world.answerStore(0)
                receive(&world)
            }
            if world.asked.isEmpty || wasCut, world.client[stream] == nil {
                world.run { $0.receive(.listen(3, stream, after: nil), at: now, into: &$1) }
            }
            world.settle()
            return wasCut
        }
        var cut = 0
        while true {
            var world = SessionWorld()
            let wasCut = story(&world, cutAfter: cut)
            world.expectWhole("cut after frame \(cut)")
            #expect(world.client[stream]?.position?.sequence == world.logs[stream]?.last, "cut after frame \(cut)")
            guard wasCut else { break }
            cut += 1
        }
        #expect(cut > 20)
    }
}
