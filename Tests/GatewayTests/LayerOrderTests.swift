import Gateway
import RTP
import SDP
import Testing
import Wire

@Suite("Order of layers")
struct LayerOrderTests {
    /// A viewer with bandwidth gets the best layer and one with a low preference the lowest, in any order of the offer.
    private func expectInOrder(_ harness: consuming BandwidthHarness, _ what: Comment) {
        harness.gateway.engine.setPreferences(["2": .low], on: harness.viewers[1].leg)
        harness.run(seconds: 15)
        #expect(harness.shownLayer(0) == 2 && harness.shownLayer(1) == 0, what)
        #expect(harness.viewers.allSatisfy { $0.maxGap < 700_000_000 }, what)
    }

    @Test("with known frame sizes the largest layer is the best, whatever the offer's order")
    func sizes() throws {
        for rids in [["q", "h", "f"], ["f", "h", "q"], ["h", "f", "q"], ["h", "q", "f"]] {
            expectInOrder(
                try BandwidthHarness(viewers: [8_000_000, 8_000_000], rids: rids, hasSizes: true), "\(rids)")
        }
    }

    @Test("without sizes the offer's order holds, and limits of a=rid are sizes too")
    func limits() throws {
        expectInOrder(try BandwidthHarness(viewers: [8_000_000, 8_000_000]), "As browsers list them.")
        expectInOrder(
            try BandwidthHarness(
                viewers: [8_000_000, 8_000_000], rids: ["f", "h", "q"],
                restrictions: ["f": "max-width=640;max-height=360", "h": "pt=96;max-fs=57600"]),
            "Two are enough to know the direction.")
    }

    @Test("a layers allocation gives the sizes before any key frame")
    func allocation() throws {
        var harness = GatewayHarness()
        let ann = Client(rids: ["f", "q"])
        let first = try harness.join("ann", ann)
        let viewer = try harness.join("viewer", Client())
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
        harness.send(
            ann.frame(
                1, timestamp: 0, ssrc: 71, picture: 1, isKey: true,
                elements: ann.named("f") + [(ann.allocationID, allocation)]), from: first)
        harness.send(
            ann.frame(1, timestamp: 0, ssrc: 72, picture: 1, isKey: true, elements: ann.named("q")), from: first)
        harness.engine.setPreferences(["2": .low], on: viewer)
        harness.advance(milliseconds: 200)
        harness.send(ann.frame(2, timestamp: 9000, ssrc: 72, picture: 2, isKey: true), from: first)
        harness.send(ann.frame(3, timestamp: 12_000, ssrc: 72, picture: 3), from: first)
        #expect(harness.outbox.take(viewer).count == 4, "The first of f, and then q at once.")
    }

    @Test("while a track is shown, an order by sizes stays")
    func stays() throws {
        var order = try BandwidthHarness(viewers: [8_000_000], rids: ["f", "h", "q"], hasSizes: true)
        order.run(seconds: 15)
        #expect(order.shownLayer(0) == 2)
        order.shrink(to: 32)
        order.run(seconds: 10)
        #expect(order.shownLayer(0) == 2)
    }
}
