import STUN
import TURN
import Testing
import Wire

@Suite("DONT-FRAGMENT and ICMP errors")
struct PeerErrorTests {
    private static let ipv6Peer = TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 9), port: 5)

    @Test("Allocate takes DONT-FRAGMENT, and a Send's packet leaves with it")
    func dontFragment() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        #expect(try client.allocate(harness) { $0.append(.dontFragment, bytes: []) }.isSuccess)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
        #expect(client.send(harness, [1], to: RelayHarness.peer, dontFragment: true)?.dontFragment == true)
        #expect(client.send(harness, [1], to: RelayHarness.peer)?.dontFragment == false)
        #expect(client.sendChannel(harness, 0x4000, [1])?.dontFragment == false)
    }

    @Test("a host without the DF bit does not know the attribute")
    func unable() throws {
        let harness = try RelayHarness()
        harness.engine.setsDontFragment = false
        var client = TestClient()
        #expect(try client.allocate(harness) { $0.append(.dontFragment, bytes: []) }.error == 420)
        #expect(try client.allocate(harness).isSuccess)
        #expect(try client.permit(harness, RelayHarness.peer).isSuccess)
        #expect(client.send(harness, [1], to: RelayHarness.peer, dontFragment: true) == nil)
        #expect(client.send(harness, [1], to: RelayHarness.peer) != nil)
    }

    @Test(
        "are reported with the peer's address, type, code and, only where it applies, the MTU",
        arguments: [
            (PeerError(type: 3, code: 4, mtu: 1280), [0, 0, 6, 4, 0, 0, 5, 0]),
            (PeerError(type: 3, code: 3, mtu: 77), [0, 0, 6, 3, 0, 0, 0, 0]),
            (PeerError(type: 11, code: 0, mtu: 0), [0, 0, 22, 0, 0, 0, 0, 0]),
        ] as [(PeerError, [UInt8])])
    func reported(error: PeerError, value: [UInt8]) throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        let relay = try #require(harness.bound.keys.first)
        #expect(harness.fail(error, on: relay, from: RelayHarness.peer).messages.isEmpty)
        #expect(try client.permit(harness, RelayHarness.peer).isSuccess)
        let outcome = harness.fail(error, on: relay, from: RelayHarness.peer)
        #expect(outcome.messages.first?.flow == client.flow)
        let bytes = try #require(outcome.messages.first).bytes
        let message = try Message(bytes.span.bytes)
        #expect(message.type == MessageType(.indication, .data))
        let read = (
            message.xorAddress(.xorPeerAddress), message.attribute(.icmp)?.copyToArray(), message.has(.data)
        )
        #expect(read == (RelayHarness.peer, value, false))
        #expect(harness.engine.counters.peerErrors == 1)
        #expect(harness.engine.counters.peerErrorsDropped == 1)
    }

    @Test(
        "of other kinds are not reported",
        arguments: [
            (PeerError(type: 0, code: 0, mtu: 0), false), (PeerError(type: 4, code: 0, mtu: 0), false),
            (PeerError(type: 5, code: 0, mtu: 0), false), (PeerError(type: 12, code: 0, mtu: 0), false),
            (PeerError(type: 0, code: 0, mtu: 0), true), (PeerError(type: 4, code: 0, mtu: 0), true),
            (PeerError(type: 128, code: 0, mtu: 0), true),
        ] as [(PeerError, Bool)])
    func others(error: PeerError, isIPv6: Bool) throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness) { $0.append(.additionalAddressFamily, integer: UInt32(2) << 24) }
        let peer = isIPv6 ? Self.ipv6Peer : RelayHarness.peer
        #expect(try client.permit(harness, peer).isSuccess)
        let relay = try #require(harness.bound.keys.first { ($0.family == .ipv6) == isIPv6 })
        #expect(harness.fail(error, on: relay, from: peer).messages.isEmpty)
        let known = PeerError(type: isIPv6 ? 2 : 3, code: 0, mtu: 1300)
        #expect(harness.fail(known, on: relay, from: peer).messages.count == 1)
        // Through the relay of the other family nobody could have sent to this peer.
        let other = try #require(harness.bound.keys.first { ($0.family == .ipv6) != isIPv6 })
        #expect(harness.fail(known, on: other, from: peer).messages.isEmpty)
    }

    @Test("come at a bounded rate, and find nobody in a slot that was given up")
    func bounded() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        let relay = try #require(harness.bound.keys.first)
        #expect(try client.permit(harness, RelayHarness.peer).isSuccess)
        let error = PeerError(type: 3, code: 3, mtu: 0)
        let reported = (0..<100).count { _ in !harness.fail(error, on: relay, from: RelayHarness.peer).messages.isEmpty
        }
        #expect(reported == 10)
        harness.now = harness.now.adding(seconds: 1)
        #expect(harness.fail(error, on: relay, from: RelayHarness.peer).messages.count == 1)
        #expect(try client.refresh(harness, lifetime: 0).isSuccess)
        #expect(harness.fail(error, on: relay, from: RelayHarness.peer).messages.isEmpty)
        let beyond = RelayID(AllocationID(slot: 99, generation: 0), .ipv4)
        #expect(harness.fail(error, on: beyond, from: RelayHarness.peer).messages.isEmpty)
    }
}
