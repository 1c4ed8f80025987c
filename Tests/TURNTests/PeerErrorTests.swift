import STUN
import TURN
import Testing
import Wire

@Suite("DONT-FRAGMENT and ICMP errors")
struct PeerErrorTests {
    private static let ipv6Peer = TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 9), port: 5)

    @Test("Allocate takes DONT-FRAGMENT, and a Send's packet leaves with it")
    func dontFragment() throws {
        let lab = try Lab()
        var client = LabClient()
        #expect(try client.allocate(lab) { $0.append(.dontFragment, bytes: []) }.isSuccess)
        #expect(try client.bind(lab, 0x4000, Lab.peer).isSuccess)
        #expect(client.send(lab, [1], to: Lab.peer, dontFragment: true)?.dontFragment == true)
        #expect(client.send(lab, [1], to: Lab.peer)?.dontFragment == false)
        #expect(client.sendChannel(lab, 0x4000, [1])?.dontFragment == false)
    }

    @Test("a host without the DF bit does not know the attribute")
    func unable() throws {
        let lab = try Lab()
        lab.engine.setsDontFragment = false
        var client = LabClient()
        #expect(try client.allocate(lab) { $0.append(.dontFragment, bytes: []) }.error == 420)
        #expect(try client.allocate(lab).isSuccess)
        #expect(try client.permit(lab, Lab.peer).isSuccess)
        #expect(client.send(lab, [1], to: Lab.peer, dontFragment: true) == nil)
        #expect(client.send(lab, [1], to: Lab.peer) != nil)
    }

    @Test(
        "are told with the peer's address, type, code and only where it counts the MTU",
        arguments: [
            (PeerError(type: 3, code: 4, mtu: 1280), [0, 0, 6, 4, 0, 0, 5, 0]),
            (PeerError(type: 3, code: 3, mtu: 77), [0, 0, 6, 3, 0, 0, 0, 0]),
            (PeerError(type: 11, code: 0, mtu: 0), [0, 0, 22, 0, 0, 0, 0, 0]),
        ] as [(PeerError, [UInt8])])
    func told(error: PeerError, value: [UInt8]) throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        let relay = try #require(lab.bound.keys.first)
        #expect(lab.fail(error, on: relay, from: Lab.peer).messages.isEmpty)
        #expect(try client.permit(lab, Lab.peer).isSuccess)
        let outcome = lab.fail(error, on: relay, from: Lab.peer)
        #expect(outcome.messages.first?.flow == client.flow)
        let bytes = try #require(outcome.messages.first).bytes
        let message = try Message(bytes.span.bytes)
        #expect(message.type == MessageType(.indication, .data))
        let read = (
            message.xorAddress(.xorPeerAddress), message.attribute(.icmp)?.copyToArray(), message.has(.data)
        )
        #expect(read == (Lab.peer, value, false))
        #expect(lab.engine.tally.peerErrors == 1)
        #expect(lab.engine.tally.peerErrorsDropped == 1)
    }

    @Test(
        "of other kinds are not told",
        arguments: [
            (PeerError(type: 0, code: 0, mtu: 0), false), (PeerError(type: 4, code: 0, mtu: 0), false),
            (PeerError(type: 5, code: 0, mtu: 0), false), (PeerError(type: 12, code: 0, mtu: 0), false),
            (PeerError(type: 0, code: 0, mtu: 0), true), (PeerError(type: 4, code: 0, mtu: 0), true),
            (PeerError(type: 128, code: 0, mtu: 0), true),
        ] as [(PeerError, Bool)])
    func others(error: PeerError, isIPv6: Bool) throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab) { $0.append(.additionalAddressFamily, integer: UInt32(2) << 24) }
        let peer = isIPv6 ? Self.ipv6Peer : Lab.peer
        #expect(try client.permit(lab, peer).isSuccess)
        let relay = try #require(lab.bound.keys.first { ($0.family == .ipv6) == isIPv6 })
        #expect(lab.fail(error, on: relay, from: peer).messages.isEmpty)
        let known = PeerError(type: isIPv6 ? 2 : 3, code: 0, mtu: 1300)
        #expect(lab.fail(known, on: relay, from: peer).messages.count == 1)
        // Through the relay of the other family nobody could have sent to this peer.
        let other = try #require(lab.bound.keys.first { ($0.family == .ipv6) != isIPv6 })
        #expect(lab.fail(known, on: other, from: peer).messages.isEmpty)
    }

    @Test("come at a bounded rate, and find nobody in a slot that was given up")
    func bounded() throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        let relay = try #require(lab.bound.keys.first)
        #expect(try client.permit(lab, Lab.peer).isSuccess)
        let error = PeerError(type: 3, code: 3, mtu: 0)
        let told = (0..<100).count { _ in !lab.fail(error, on: relay, from: Lab.peer).messages.isEmpty }
        #expect(told == 10)
        lab.now = lab.now.adding(seconds: 1)
        #expect(lab.fail(error, on: relay, from: Lab.peer).messages.count == 1)
        #expect(try client.refresh(lab, lifetime: 0).isSuccess)
        #expect(lab.fail(error, on: relay, from: Lab.peer).messages.isEmpty)
        let beyond = RelayID(AllocationID(slot: 99, generation: 0), .ipv4)
        #expect(lab.fail(error, on: beyond, from: Lab.peer).messages.isEmpty)
    }
}
