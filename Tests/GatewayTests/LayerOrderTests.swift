import Gateway
import RTP
import SDP
import Testing
import Wire

@Suite("Which layer is the better one")
struct LayerOrderTests {
    /// Whoever has room is shown the best and whoever wants little the least, however the offer lists them.
    private func expectInOrder(_ stage: consuming Stage, _ what: Comment) {
        stage.conference.engine.want(["2": .low], on: stage.viewers[1].leg)
        stage.run(seconds: 15)
        #expect(stage.shownLayer(0) == 2 && stage.shownLayer(1) == 0, what)
        #expect(stage.viewers.allSatisfy { $0.longestGap < 700_000_000 }, what)
    }

    @Test("of pictures whose sizes are known the largest is the best, whatever the offer's order")
    func sizes() throws {
        for rids in [["q", "h", "f"], ["f", "h", "q"], ["h", "f", "q"], ["h", "q", "f"]] {
            expectInOrder(
                try Stage(viewers: [8_000_000, 8_000_000], rids: rids, hasSizes: true), "\(rids)")
        }
    }

    @Test("without sizes the offer's order holds, and limits of a=rid are sizes too")
    func limits() throws {
        expectInOrder(try Stage(viewers: [8_000_000, 8_000_000]), "As browsers list them.")
        expectInOrder(
            try Stage(
                viewers: [8_000_000, 8_000_000], rids: ["f", "h", "q"],
                restrictions: ["f": "max-width=640;max-height=360", "h": "pt=96;max-fs=57600"]),
            "Two are enough to know the direction.")
    }

    @Test("a publisher's allocation of layers says what they are before any key frame of theirs")
    func allocation() throws {
        var conference = Conference()
        let ann = Client(rids: ["f", "q"])
        let first = try conference.join("ann", ann)
        let viewer = try conference.join("viewer", Client())
        // Two encodings of one spatial layer and one temporal layer each: 500 and 100 kbit/s, 640 and 160 wide.
        let allocation: [UInt8] =
            [0x11, 0x00, 0xF4, 0x03, 0x64] + [0x02, 0x7F, 0x01, 0x67, 30] + [0x00, 0x9F, 0x00, 0x59, 30]
        #expect(
            LayersAllocation(allocation.span.bytes)?.sizes == [
                PictureSize(width: 640, height: 360), PictureSize(width: 160, height: 90),
            ])
        for cut in 0..<allocation.count {
            #expect(LayersAllocation(Array(allocation.prefix(cut)).span.bytes) == nil)
        }
        conference.send(
            ann.frame(
                1, timestamp: 0, ssrc: 71, picture: 1, isKey: true,
                elements: ann.named("f") + [(ann.allocationID, allocation)]), from: first)
        conference.send(
            ann.frame(1, timestamp: 0, ssrc: 72, picture: 1, isKey: true, elements: ann.named("q")), from: first)
        conference.engine.want(["2": .low], on: viewer)
        conference.advance(milliseconds: 200)
        conference.send(ann.frame(2, timestamp: 9000, ssrc: 72, picture: 2, isKey: true), from: first)
        conference.send(ann.frame(3, timestamp: 12_000, ssrc: 72, picture: 3), from: first)
        #expect(conference.outbox.take(viewer).count == 4, "The first of f, and then q at once.")
    }

    @Test("while it is shown, an order that rests on sizes stays")
    func stays() throws {
        var order = try Stage(viewers: [8_000_000], rids: ["f", "h", "q"], hasSizes: true)
        order.run(seconds: 15)
        #expect(order.shownLayer(0) == 2)
        order.shrink(to: 32)
        order.run(seconds: 10)
        #expect(order.shownLayer(0) == 2)
    }
}
