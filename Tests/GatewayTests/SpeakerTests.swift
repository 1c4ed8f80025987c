import Gateway
import RTP
import Testing
import Wire

/// Whom a leg hears and sees that has fewer slots than there are others.
@Suite struct SpeakerTests {
    /// Participants who talk and show themselves, and one who has too few slots for them.
    struct Meeting: ~Copyable {
        var conference: Conference
        let viewer: LegID
        let people: [(client: Client, leg: LegID)]
        private var sequence: UInt16 = 0
        /// What the viewer was told, without what it knew.
        private(set) var tellings: [[String: String]] = []

        init(count: UInt32, audioSlots: Int, videoSlots: Int) throws {
            var conference = Conference()
            var people: [(client: Client, leg: LegID)] = []
            let viewer = try conference.join("viewer", Client(audioSlots: audioSlots, videoSlots: videoSlots))
            for index in 0..<count {
                let client = Client(audio: 100 + index, video: [200 + index], audioSlots: 0, videoSlots: 0)
                people.append((client, try conference.join("p\(index)", client)))
            }
            conference.advance(milliseconds: 5_000)
            self.viewer = viewer
            self.people = people
            self.conference = conference
        }

        /// Everybody sends for so long; those of `loud` speak.
        mutating func talk(_ loud: Set<Int>, milliseconds: Int, silent: Set<Int> = [], hidden: Set<Int> = []) {
            for _ in 0..<milliseconds / 20 {
                sequence &+= 1
                for (index, person) in people.enumerated() {
                    let timestamp = UInt32(sequence) * 960
                    if !silent.contains(index) {
                        conference.send(
                            person.client.speech(
                                sequence, timestamp: timestamp, level: loud.contains(index) ? 20 : 110),
                            from: person.leg)
                    }
                    if !hidden.contains(index) {
                        conference.send(
                            person.client.frame(
                                sequence, timestamp: timestamp, ssrc: 200 + UInt32(index), picture: sequence,
                                isKey: true), from: person.leg)
                    }
                }
                conference.advance(milliseconds: 20)
                let names = conference.outbox.names(on: viewer)
                if tellings.last != names { tellings.append(names) }
            }
        }

        func shown(_ source: TrackSource) -> Set<String> {
            let all = conference.outbox.names(on: viewer).values.filter { $0.hasSuffix(" \(source)") }
            return Set(all.map { String($0.prefix { $0 != " " }) })
        }

        /// Of whom speech arrived since the last time, by where the packets came from.
        mutating func heard() -> Int {
            Set(conference.outbox.take(viewer).filter { $0.header.payloadType == 111 }.map(\.header.ssrc)).count
        }
    }

    @Test func theLoudestAreHeard() throws {
        var meeting = try Meeting(count: 6, audioSlots: 2, videoSlots: 0)
        meeting.talk([4], milliseconds: 2_000)
        #expect(meeting.shown(.microphone).contains("p4"))
        meeting.talk([5], milliseconds: 2_000)
        #expect(meeting.shown(.microphone) == ["p4", "p5"], "Who spoke last stays.")
        meeting.talk([0, 5], milliseconds: 2_000)
        #expect(meeting.shown(.microphone) == ["p0", "p5"])
        let told = meeting.tellings.count
        meeting.talk([0, 5], milliseconds: 1_000)
        meeting.talk([], milliseconds: 5_000)
        #expect(meeting.tellings.count == told, "Nothing changes while nobody else speaks.")
        _ = meeting.heard()
        meeting.talk([0, 1, 2, 3], milliseconds: 1_000)
        #expect(meeting.heard() == 2)
    }

    @Test func nobodyIsToldMoreThanOnceASecond() throws {
        var meeting = try Meeting(count: 6, audioSlots: 1, videoSlots: 0)
        let before = meeting.tellings.count
        for round in 0..<60 { meeting.talk([round % 6], milliseconds: 600) }
        #expect((20...40).contains(meeting.tellings.count - before), "\(meeting.tellings.count - before)")
        meeting.talk([3], milliseconds: 2_000)
        #expect(meeting.shown(.microphone) == ["p3"])
    }

    @Test func camerasFollowWhoSpoke() throws {
        var meeting = try Meeting(count: 5, audioSlots: 5, videoSlots: 2)
        meeting.talk([], milliseconds: 1_000)
        #expect(meeting.shown(.camera) == ["p0", "p1"])
        meeting.talk([1], milliseconds: 2_000)
        let first = meeting.conference.outbox.names(on: meeting.viewer)
        meeting.talk([3], milliseconds: 2_000)
        #expect(meeting.shown(.camera) == ["p1", "p3"])
        let second = meeting.conference.outbox.names(on: meeting.viewer)
        #expect(first.first { $0.value == "p1 camera" }?.key == second.first { $0.value == "p1 camera" }?.key)
        let told = meeting.tellings.count
        for round in 0..<20 { meeting.talk(round.isMultiple(of: 2) ? [1] : [3], milliseconds: 700) }
        #expect(meeting.tellings.count == told, "Both are seen.")
        meeting.talk([4], milliseconds: 200)
        meeting.talk([], milliseconds: 3_000)
        #expect(meeting.tellings.count == told, "A cough.")
        meeting.talk([1], milliseconds: 8_000, hidden: [3])
        #expect(meeting.shown(.camera).contains("p1") && !meeting.shown(.camera).contains("p3"), "It is switched off.")
    }

    @Test func aScreenComesBeforeWhoSpeaks() throws {
        var meeting = try Meeting(count: 4, audioSlots: 4, videoSlots: 1)
        meeting.talk([2], milliseconds: 2_000)
        #expect(meeting.shown(.camera) == ["p2"])
        var presenter = Client(video: [300], audioSlots: 0, videoSlots: 0)
        presenter.sources = ["0": .screen]
        let leg = try meeting.conference.join("presenter", presenter)
        meeting.talk([2], milliseconds: 2_000)
        #expect(meeting.shown(.camera) == ["p2"], "It sends nothing yet.")
        for step in 0..<20 as Range<UInt16> {
            meeting.conference.send(
                presenter.frame(step, timestamp: UInt32(step) * 9000, ssrc: 300, picture: step, isKey: true), from: leg)
            meeting.talk([2], milliseconds: 100)
        }
        #expect(meeting.shown(.screen) == ["presenter"])
        meeting.conference.leave(leg)
        meeting.talk([], milliseconds: 1_000)
        #expect(meeting.shown(.camera) == ["p2"])
    }
}
