import Gateway
import RTP
import Testing

/// What a leg cannot decode is not shown to it.
@Suite struct CodecTests {
    private func modern(_ client: Client, _ sequence: UInt16) -> [UInt8] {
        // Begins a frame that is predicted from no other.
        client.packet(98, sequence, UInt32(sequence) * 3000, 33, marker: true, payload: [0x08, 1, 2, 3])
    }

    @Test func aTrackInAnotherCodecLeavesTheSlotsOfThoseWithoutIt() throws {
        var conference = Conference()
        let reader = try conference.join("ben", Client(videoSlots: 1, vp9: 102))
        let other = try conference.join("cleo", Client(videoSlots: 1))
        let ann = Client(video: [33], audioSlots: 0, videoSlots: 0, vp9: 98)
        let first = try conference.join("ann", ann)
        let dora = Client(video: [44], audioSlots: 0, videoSlots: 0)
        let second = try conference.join("dora", dora)
        #expect(conference.outbox.names(on: other) == ["2": "ann camera"], "It could come in VP8.")
        for sequence in 0..<10 as Range<UInt16> {
            conference.send(modern(ann, sequence), from: first)
            conference.send(
                dora.frame(sequence, timestamp: UInt32(sequence) * 3000, ssrc: 44, picture: sequence, isKey: true),
                from: second)
            conference.advance(milliseconds: 200)
        }
        #expect(conference.outbox.names(on: reader) == ["2": "ann camera"])
        #expect(conference.outbox.take(reader).allSatisfy { $0.header.payloadType == 102 })
        #expect(conference.outbox.names(on: other) == ["2": "dora camera"])
        let seen = conference.outbox.take(other)
        #expect(!seen.isEmpty && seen.allSatisfy { $0.header.payloadType == 96 && $0.payload.count == 8 })

        conference.leave(second)
        conference.advance(milliseconds: 1_000)
        #expect(conference.outbox.names(on: other) == [:], "Nothing rather than what it cannot show.")
        conference.send(ann.frame(20, timestamp: 90_000, ssrc: 33, picture: 1, isKey: true), from: first)
        conference.advance(milliseconds: 1_000)
        #expect(conference.outbox.names(on: other) == ["2": "ann camera"], "It comes in VP8 now.")
        conference.send(ann.frame(21, timestamp: 93_000, ssrc: 33, picture: 2, isKey: true), from: first)
        #expect(conference.outbox.take(other).count == 1)
    }
}
