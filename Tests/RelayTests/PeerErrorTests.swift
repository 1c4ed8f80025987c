import DatagramIO
import Relay
import STUN
import TURN
import Testing
import Wire

@Suite("ICMP errors on real sockets")
struct PeerErrorTests {
    /// The ICMP attribute of the next Data indication without DATA, and whose error it is.
    private func nextError(_ client: RelayClient) throws -> (peer: TransportAddress, type: UInt16, code: UInt16)? {
        while let (bytes, _) = client.socket.receive() {
            guard let message = try? Message(bytes.span.bytes), message.type == MessageType(.indication, .data),
                let numbers = message.attribute(.icmp)?.integer(at: 2, as: UInt16.self),
                let peer = message.xorAddress(.xorPeerAddress)
            else { continue }
            return (peer, numbers >> 9, numbers & 0x1FF)
        }
        return nil
    }

    @Test(
        "a closed port is reported to the client",
        arguments: [IPAddress(ipv4: 0x7F00_0001), IPAddress(ipv6High: 0, low: 1)])
    func forwarded(_ loopback: IPAddress) throws {
        let running = try RunningRelay { $0.listen = [loopback] }
        let client = try RelayClient(running.address)
        let isIPv6 = loopback.family == .ipv6
        _ = try client.allocate { writer in
            if isIPv6 { writer.append(.requestedAddressFamily, integer: UInt32(2) << 24) }
        }.get()
        let closed = try TestSocket(loopback).address
        #expect(try client.permit(closed) == nil)
        client.send([1], to: closed)
        let error = try #require(try nextError(client))
        #expect(error.peer == closed)
        #expect(error.type == (isIPv6 ? 1 : 3))
        #expect(error.code == (isIPv6 ? 4 : 3))
    }

    @Test("they cost no packet, in either direction")
    func costsNothing() throws {
        let running = try RunningRelay()
        let client = try RelayClient(running.address)
        let relayed = try client.allocate().get()
        let peer = try TestSocket(running.address.address)
        let closed = try TestSocket(running.address.address).address
        #expect(try client.bind(0x4000, peer.address) == nil)
        #expect(try client.bind(0x4001, closed) == nil)
        for number in 0..<200 as Range<UInt8> {
            // One to a closed port, so that an error waits on the relay's socket, then one each way.
            client.sendChannel(0x4001, [number])
            client.sendChannel(0x4000, [number])
            #expect(peer.receive()?.bytes == [number])
            peer.send([number], to: relayed)
            var isThere = false
            while !isThere, let (bytes, _) = client.socket.receive() { isThere = bytes == [0x40, 0, 0, 1, number] }
            #expect(isThere, "packet \(number)")
        }
        #expect(running.waits { $0.peerErrors > 0 && $0.peerErrors + $0.droppedPeerErrors >= 190 })
        #expect(running.waits { $0.packetsToPeers == 400 && $0.droppedSending == 0 })
    }

    @Test("packets with and without DONT-FRAGMENT leave in order")
    func dontFragment() throws {
        let running = try RunningRelay()
        let client = try RelayClient(running.address)
        _ = try client.allocate { $0.append(.dontFragment, bytes: []) }.get()
        let peer = try TestSocket(running.address.address)
        #expect(try client.permit(peer.address) == nil)
        client.send([1, 2], to: peer.address, dontFragment: true)
        #expect(peer.receive()?.bytes == [1, 2])
        client.send([3], to: peer.address)
        #expect(peer.receive()?.bytes == [3])
        client.send([4], to: peer.address, dontFragment: true)
        #expect(peer.receive()?.bytes == [4])
    }
}
