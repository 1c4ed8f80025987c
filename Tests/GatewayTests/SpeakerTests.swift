import Gateway
import RTP
import Testing
import Wire

/// The tracks shown to a leg with fewer slots than participants.
@Suite struct SpeakerTests {
    /// Participants who talk and show themselves, and one who has too few slots for them.
    struct SpeakerHarness: ~Copyable {
        var gateway: GatewayHarness
        let viewer: LegID
        let people: [(client: Client, leg: LegID)]
        private var sequence: UInt16 = 0
        /// The changes of slots reported to the viewer.
        private(set) var notifications: [[String: String]] = []

        init(count: UInt32, audioSlots: Int, videoSlots: Int) throws {
            var gateway = GatewayHarness()
            var people: [(client: Client, leg: LegID)] = []
            let viewer = try gateway.join("viewer", Client(audioSlots: audioSlots, videoSlots: videoSlots))
            for index in 0..<count {
                let client = Client(audio: 100 + index, video: [200 + index], audioSlots: 0, videoSlots: 0)
                people.append((client, try gateway.join("p\(index)", client)))
            }
            gateway.advance(milliseconds: 5_000)
            self.viewer = viewer
            self.people = people
            self.gateway = gateway
        }

        /// Everybody sends for so long; those of `loud` speak.
        mutating func talk(_ loud: Set<Int>, milliseconds: Int, silent: Set<Int> = [], hidden: Set<Int> = []) {
            for _ in 0..<milliseconds / 20 {
                sequence &+= 1
                for (index, person) in people.enumerated() {
                    let timestamp = UInt32(sequence) * 960
                    if !silent.contains(index) {
                        gateway.send(
                            person.client.speech(
                                sequence, timestamp: timestamp, level: loud.contains(index) ? 20 : 110),
                            from: person.leg)
                    }
                    if !hidden.contains(index) {
                        gateway.send(
                            person.client.frame(
                                sequence, timestamp: timestamp, ssrc: 200 + UInt32(index), picture: sequence,
                                isKey: true), from: person.leg)
                    }
                }
                gateway.advance(milliseconds: 20)
                let names = gateway.outbox.names(on: viewer)
                if notifications.last != names { notifications.append(names) }
            }
        }

        func shown(_ source: TrackSource) -> Set<String> {
            let all = gateway.outbox.names(on: viewer).values.filter { $0.hasSuffix(" \(source)") }
            return Set(all.map { String($0.prefix { $0 != " " }) })
        }

        /// Of whom speech arrived since the last time, by where the packets came from.
        mutating func received() -> Int {
            Set(gateway.outbox.take(viewer).filter { $0.header.payloadType == 111 }.map(\.header.ssrc)).count
        }
    }

    @Test func theLoudestVoicesAreForwarded() throws {
        var harness = try SpeakerHarness(count: 6, audioSlots: 2, videoSlots: 0)
        harness.talk([4], milliseconds: 2_000)
        #expect(harness.shown(.microphone).contains("p4"))
        harness.talk([5], milliseconds: 2_000)
        #expect(harness.shown(.microphone) == ["p4", "p5"], "Who spoke last stays.")
        harness.talk([0, 5], milliseconds: 2_000)
        #expect(harness.shown(.microphone) == ["p0", "p5"])
        let count = harness.notifications.count
        harness.talk([0, 5], milliseconds: 1_000)
        harness.talk([], milliseconds: 5_000)
        #expect(harness.notifications.count == count, "Nothing changes while nobody else speaks.")
        _ = harness.received()
        harness.talk([0, 1, 2, 3], milliseconds: 1_000)
        #expect(harness.received() == 2)
    }

    @Test func slotsAreReportedAtMostOnceASecond() throws {
        var harness = try SpeakerHarness(count: 6, audioSlots: 1, videoSlots: 0)
        let before = harness.notifications.count
        for round in 0..<60 { harness.talk([round % 6], milliseconds: 600) }
        #expect((20...40).contains(harness.notifications.count - before), "\(harness.notifications.count - before)")
        harness.talk([3], milliseconds: 2_000)
        #expect(harness.shown(.microphone) == ["p3"])
    }

    @Test func camerasFollowWhoSpoke() throws {
        var harness = try SpeakerHarness(count: 5, audioSlots: 5, videoSlots: 2)
        harness.talk([], milliseconds: 1_000)
        #expect(harness.shown(.camera) == ["p0", "p1"])
        harness.talk([1], milliseconds: 2_000)
        let first = harness.gateway.outbox.names(on: harness.viewer)
        harness.talk([3], milliseconds: 2_000)
        #expect(harness.shown(.camera) == ["p1", "p3"])
        let second = harness.gateway.outbox.names(on: harness.viewer)
        #expect(first.first { $0.value == "p1 camera" }?.key == second.first { $0.value == "p1 camera" }?.key)
        let count = harness.notifications.count
        for round in 0..<20 { harness.talk(round.isMultiple(of: 2) ? [1] : [3], milliseconds: 700) }
        #expect(harness.notifications.count == count, "Both are seen.")
        harness.talk([4], milliseconds: 200)
        harness.talk([], milliseconds: 3_000)
        #expect(harness.notifications.count == count, "A cough.")
        harness.talk([1], milliseconds: 8_000, hidden: [3])
        #expect(harness.shown(.camera).contains("p1") && !harness.shown(.camera).contains("p3"), "It is switched off.")
    }

    @Test func aScreenComesBeforeWhoSpeaks() throws {
        var harness = try SpeakerHarness(count: 4, audioSlots: 4, videoSlots: 1)
        harness.talk([2], milliseconds: 2_000)
        #expect(harness.shown(.camera) == ["p2"])
        var presenter = Client(video: [300], audioSlots: 0, videoSlots: 0)
        presenter.sources = ["0": .screen]
        let leg = try harness.gateway.join("presenter", presenter)
        harness.talk([2], milliseconds: 2_000)
        #expect(harness.shown(.camera) == ["p2"], "It sends nothing yet.")
        for step in 0..<20 as Range<UInt16> {
            harness.gateway.send(
                presenter.frame(step, timestamp: UInt32(step) * 9000, ssrc: 300, picture: step, isKey: true), from: leg)
            harness.talk([2], milliseconds: 100)
        }
        #expect(harness.shown(.screen) == ["presenter"])
        harness.gateway.leave(leg)
        harness.talk([], milliseconds: 1_000)
        #expect(harness.shown(.camera) == ["p2"])
    }
}
