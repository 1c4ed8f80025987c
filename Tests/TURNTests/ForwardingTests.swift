import STUN
import TURN
import TestSupport
import Testing
import Wire

@Suite("Permissions, channels and packets")
struct ForwardingTests {
    private let peer = RelayHarness.peer
    private let samePeerOtherPort = TransportAddress(RelayHarness.peer.address, port: 1)
    private let unknownPeer = TransportAddress(IPAddress(ipv4: 0x0909_0909), port: 9999)

    private func relay(_ harness: RelayHarness) throws -> RelayID {
        try #require(harness.bound.keys.first)
    }

    @Test("nothing passes without permission, either way")
    func unpermitted() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        #expect(client.send(harness, [1], to: peer) == nil)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        _ = try client.allocate(harness)
        #expect(client.send(harness, [1], to: peer) == nil)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        let id = try relay(harness)
        #expect(harness.engine.receiveFromPeer(on: id, from: peer, byteCount: 100, at: harness.now) == nil)
        #expect(harness.engine.counters.unpermittedFromPeer == 1)
    }

    @Test("a permission is for an address, whatever the port, for five minutes")
    func permission() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        #expect(try client.permit(harness, peer).isSuccess)
        let id = try relay(harness)
        let forward = client.send(harness, [1, 2, 3], to: samePeerOtherPort)
        #expect(forward?.destination == samePeerOtherPort)
        #expect(forward?.relay == id)
        #expect(forward?.payload.count == 3)
        #expect(
            harness.engine.receiveFromPeer(on: id, from: samePeerOtherPort, byteCount: 100, at: harness.now)
                == ToClient(flow: client.flow, framing: .indication(samePeerOtherPort)))
        #expect(client.send(harness, [1], to: unknownPeer) == nil)
        #expect(harness.engine.receiveFromPeer(on: id, from: unknownPeer, byteCount: 100, at: harness.now) == nil)

        harness.advance(seconds: 299)
        #expect(client.send(harness, [1], to: peer) != nil)
        #expect(try client.permit(harness, peer).isSuccess)
        harness.advance(seconds: 299)
        #expect(client.send(harness, [1], to: peer) != nil)
        harness.advance(seconds: 1)
        #expect(client.send(harness, [1], to: peer) == nil)
        #expect(harness.engine.receiveFromPeer(on: id, from: peer, byteCount: 100, at: harness.now) == nil)
    }

    @Test("a channel carries both ways, its permission for five minutes, itself for ten")
    func channel() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        #expect(try client.bind(harness, 0x4000, peer).isSuccess)
        let id = try relay(harness)
        let forward = client.sendChannel(harness, 0x4000, [1, 2, 3])
        #expect(forward == ToPeer(relay: id, destination: peer, payload: 4..<7))
        #expect(
            harness.engine.receiveFromPeer(on: id, from: peer, byteCount: 100, at: harness.now)
                == ToClient(flow: client.flow, framing: .channel(0x4000)))
        // Another port of the peer has the permission, not the channel.
        #expect(
            harness.engine.receiveFromPeer(on: id, from: samePeerOtherPort, byteCount: 100, at: harness.now)
                == ToClient(flow: client.flow, framing: .indication(samePeerOtherPort)))
        harness.advance(seconds: 300)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        #expect(harness.engine.receiveFromPeer(on: id, from: peer, byteCount: 100, at: harness.now) == nil)
        #expect(try client.permit(harness, peer).isSuccess)
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)
        #expect(try client.refresh(harness, lifetime: 3600).isSuccess)
        harness.advance(seconds: 299)
        #expect(try client.permit(harness, peer).isSuccess)
        harness.advance(seconds: 1)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        #expect(
            harness.engine.receiveFromPeer(on: id, from: peer, byteCount: 100, at: harness.now)
                == ToClient(flow: client.flow, framing: .indication(peer)))
    }

    @Test("a number has one peer, a peer one number, until the channel is over")
    func exclusive() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        #expect(try client.bind(harness, 0x4000, peer).isSuccess)
        #expect(try client.bind(harness, 0x4000, peer).isSuccess)
        #expect(try client.bind(harness, 0x4000, samePeerOtherPort).error == 400)
        #expect(try client.bind(harness, 0x4001, peer).error == 400)
        #expect(try client.bind(harness, 0x4001, samePeerOtherPort).isSuccess)
        _ = try client.refresh(harness, lifetime: 3600)
        harness.advance(seconds: 600)
        #expect(try client.bind(harness, 0x4000, samePeerOtherPort).isSuccess)
    }

    @Test(
        "numbers are those of RFC 8656, and those that RFC 5766 clients still use",
        arguments: [
            (0x3FFF, false), (0x4000, true), (0x4FFF, true), (0x5000, true), (0x7FFF, true), (0x8000, false),
            (0, false),
        ])
    func numbers(number: Int, isGood: Bool) throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        #expect(try client.bind(harness, UInt16(number), peer).error == (isGood ? nil : 400))
    }

    @Test("a request with one bad peer changes nothing")
    func allOrNothing() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        let loopback = TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 1)
        #expect(try client.permit(harness, peer, loopback).error == 403)
        #expect(try client.permit(harness, loopback, peer).error == 403)
        #expect(client.send(harness, [1], to: peer) == nil)
        #expect(try client.permit(harness).error == 400)
        #expect(
            try client.permit(harness, peer, TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 1), port: 1)).error
                == 443)
    }

    @Test(
        "ChannelData whose length lies is dropped",
        arguments: [
            "40", "4000", "400000", "40000005 00000000", "4000ffff 00", "7fff0001 00", "40010001 00",
        ])
    func broken(hexadecimal: String) throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        _ = try client.bind(harness, 0x4000, peer)
        #expect(harness.receive(hex(hexadecimal), on: client.flow).toPeer == nil)
        #expect(harness.engine.counters.malformed + harness.engine.counters.unpermittedFromClient == 1)
    }

    @Test("ChannelData may be empty or padded")
    func padded() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        _ = try client.bind(harness, 0x4000, peer)
        #expect(harness.receive([0x40, 0, 0, 0], on: client.flow).toPeer?.payload == 4..<4)
        #expect(harness.receive([0x40, 0, 0, 1, 9, 0, 0, 0], on: client.flow).toPeer?.payload == 4..<5)
    }

    @Test("permissions and channels have bounds")
    func bounds() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        func peer(_ index: Int) -> TransportAddress {
            TransportAddress(IPAddress(ipv4: 0x0808_0000 + UInt32(index)), port: 1)
        }
        for index in 0..<256 { #expect(try client.permit(harness, peer(index)).isSuccess) }
        #expect(try client.permit(harness, peer(256)).error == 508)
        #expect(try client.permit(harness, peer(0)).isSuccess)
        harness.advance(seconds: 300)
        #expect(try client.permit(harness, peer(256)).isSuccess)
    }

    @Test("headers are what a client reads", arguments: ["8.8.8.8", "2a00::1"])
    func framing(text: String) throws {
        let from = TransportAddress(try #require(IPAddress(text)), port: 4711)
        for payload in [0, 1, 2, 3, 4, 1200] {
            let framing = ToClient.Framing.indication(from)
            let header = framing.headerByteCount
            var bytes = [UInt8](
                repeating: 0xAA, count: header + payload + framing.paddingByteCount(payload: payload, on: .udp))
            var mutable = bytes.mutableSpan
            var span = mutable.mutableBytes
            let isWritten = framing.write(payload: payload, transaction: TransactionID(1, 2), into: &span)
            #expect(isWritten)
            let message = try Message(bytes.span.bytes)
            #expect(message.type == MessageType(.indication, .data))
            let read = (message.xorAddress(.xorPeerAddress), message.range(of: .data))
            #expect(read.0 == from)
            #expect(read.1 == header..<header + payload)
        }
        var short = [UInt8](repeating: 0, count: 3)
        var mutable = short.mutableSpan
        var span = mutable.mutableBytes
        let isWritten = ToClient.Framing.channel(0x4000).write(
            payload: 1, transaction: TransactionID(1, 2), into: &span)
        #expect(!isWritten)
        #expect(short == [0, 0, 0])
    }

    @Test("packets of a past allocation's relay find nobody in its slot")
    func generations() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        _ = try client.bind(harness, 0x4000, peer)
        let old = try relay(harness)
        _ = try client.refresh(harness, lifetime: 0)
        _ = try client.allocate(harness)
        _ = try client.bind(harness, 0x4000, peer)
        #expect(try relay(harness).allocation.slot == old.allocation.slot)
        #expect(harness.engine.receiveFromPeer(on: old, from: peer, byteCount: 100, at: harness.now) == nil)
        let beyond = RelayID(AllocationID(slot: 999, generation: 0), .ipv4)
        #expect(harness.engine.receiveFromPeer(on: beyond, from: peer, byteCount: 100, at: harness.now) == nil)
    }
}
