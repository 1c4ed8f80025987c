import Gateway
import RTP
import SDP
import Testing
import Wire

/// A receiver of libwebrtc takes a key frame whose number in the dependency descriptor is older than that of the last
/// one for a late packet, and drops it and all that follows.
@Suite struct FrameNumberTests {
    private let viewer = Client(videoSlots: 1, av1: 45, extensionBase: 7)

    private func numbers(_ packets: [Packet]) -> [UInt16] {
        packets.compactMap { packet in
            guard let parsed = try? RTPPacket(packet.bytes.span.bytes), let value = parsed.element(viewer.descriptorID)
            else { return nil }
            return DependencyDescriptor(value)?.frameNumber
        }
    }

    private func followOn(_ numbers: [UInt16]) -> Bool {
        zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 }
    }

    @Test func framesAreCountedOnWhenTheCodecChanges() throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33], videoSlots: 0, av1: 41)
        let first = try harness.join("ann", ann)
        let second = try harness.join("viewer", viewer)
        for step in 0..<3 as Range<UInt16> {
            let elements = ann.numbered(500 + step, isKey: step == 0)
            harness.send(
                ann.frameOfAV1(step, timestamp: 3000 * UInt32(step), ssrc: 33, elements: elements), from: first)
        }
        for step in 3..<6 as Range<UInt16> {
            let elements = ann.numbered(500 + step, isKey: step == 3)
            harness.send(
                ann.frame(
                    step, timestamp: 3000 * UInt32(step), ssrc: 33, picture: step, isKey: step == 3, elements: elements),
                from: first)
        }
        let seen = harness.outbox.take(second)
        #expect(seen.map(\.header.payloadType) == [45, 45, 45, 96, 96, 96])
        #expect(numbers(seen).count == 6 && followOn(numbers(seen)), "\(numbers(seen))")
    }

    @Test(arguments: [3, 40_000, 65_535] as [UInt16])
    func framesAreCountedOnWhenTheSourceChanges(to start: UInt16) throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33], videoSlots: 0), ben = Client(video: [44], videoSlots: 0)
        let third = try harness.join("viewer", viewer)
        let first = try harness.join("ann", ann)
        for step in 0..<3 as Range<UInt16> {
            harness.send(
                ann.frame(
                    step, timestamp: 3000 * UInt32(step), ssrc: 33, picture: step, isKey: step == 0,
                    elements: ann.numbered(20_000 + step, isKey: step == 0)), from: first)
        }
        let second = try harness.join("ben", ben)
        harness.leave(first)
        harness.advance(milliseconds: 100)
        for step in 0..<3 as Range<UInt16> {
            harness.send(
                ben.frame(
                    step, timestamp: 3000 * UInt32(step), ssrc: 44, picture: step, isKey: step == 0,
                    elements: ben.numbered(start &+ step, isKey: step == 0)), from: second)
        }
        let seen = harness.outbox.take(third)
        #expect(numbers(seen).count == 6 && followOn(numbers(seen)), "\(numbers(seen))")
    }

    /// A source may begin without the extension: it is negotiated with the codecs that need it.
    @Test(arguments: [3, 40_000, 65_535] as [UInt16])
    func aSourceThatComesToNumberItsFramesIsCountedOn(from start: UInt16) throws {
        var harness = GatewayHarness()
        let ann = Client(video: [33], videoSlots: 0), ben = Client(video: [44], videoSlots: 0)
        let third = try harness.join("viewer", viewer)
        let first = try harness.join("ann", ann)
        harness.send(
            ann.frame(0, timestamp: 0, ssrc: 33, picture: 0, isKey: true, elements: ann.numbered(20_000, isKey: true)),
            from: first)
        let second = try harness.join("ben", ben)
        harness.leave(first)
        harness.advance(milliseconds: 100)
        harness.send(ben.frame(0, timestamp: 0, ssrc: 44, picture: 0, isKey: true), from: second)
        for step in 1..<4 as Range<UInt16> {
            harness.send(
                ben.frame(
                    step, timestamp: 3000 * UInt32(step), ssrc: 44, picture: step, isKey: step == 1,
                    elements: ben.numbered(start &+ step, isKey: step == 1)), from: second)
        }
        let seen = harness.outbox.take(third)
        #expect(seen.count == 5)
        #expect(numbers(seen).count == 4 && followOn(numbers(seen)), "\(numbers(seen))")
    }
}
