import STUN
import TURN
import Testing
import Wire

@Suite("Allocations over connections")
struct StreamFlowTests {
    private func hasAllocation(_ lab: Lab, _ client: LabClient) -> Bool {
        lab.engine.hasAllocation(on: client.flow)
    }

    @Test("a closed connection ends its allocation and gives everything back", arguments: [Flow.Transport.tcp, .tls])
    func closed(transport: Flow.Transport) throws {
        let lab = try Lab()
        var client = LabClient(transport: transport)
        var other = LabClient(username: "bob", password: "builder")
        #expect(try client.allocate(lab).isSuccess)
        #expect(try other.allocate(lab).isSuccess)
        #expect(hasAllocation(lab, client))
        lab.close(client.flow)
        #expect(!hasAllocation(lab, client))
        #expect(lab.charged == ["alice": 0, "bob": 1])
        #expect(lab.relays.count == 1)
        lab.close(client.flow)
        #expect(lab.liveAllocations == 1)
        #expect(lab.engine.tally.closed == 1)
        // The same address and port again is a new client.
        #expect(try client.allocate(lab).isSuccess)
    }

    @Test("a connection that is closed while its relay is being opened takes it along")
    func closedWhileOpening() throws {
        let lab = try Lab()
        var client = LabClient(transport: .tcp)
        try client.learnNonce(lab)
        let bytes = client.request(.allocate, lab) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        for isOpened in [true, false] {
            var recorder = Recorder()
            _ = lab.engine.receive(bytes.span.bytes, on: client.flow, at: lab.now, into: &recorder)
            let request = try #require(recorder.requests.first)
            lab.engine.flowClosed(client.flow, into: &recorder)
            #expect(recorder.ended.isEmpty)
            if isOpened {
                let relay = TransportAddress(Lab.serverIPv4, port: 50_000)
                lab.engine.relayOpened(
                    request.allocation, RelayOpening(relay: .init(local: relay, told: relay)), at: lab.now,
                    into: &recorder)
            } else {
                lab.engine.relayRefused(request.allocation, .insufficientCapacity, into: &recorder)
            }
            #expect(recorder.closed.count == (isOpened ? 1 : 0))
            #expect(recorder.ended.count == (isOpened ? 1 : 0))
            #expect(recorder.messages.isEmpty)
            #expect(lab.engine.allocationCount == 0)
        }
        #expect(try client.allocate(lab).isSuccess)
    }

    @Test("Refresh with lifetime 0 ends the allocation, and another one may follow on the connection")
    func refreshed() throws {
        let lab = try Lab()
        var client = LabClient(transport: .tcp)
        #expect(try client.allocate(lab).isSuccess)
        #expect(try client.refresh(lab, lifetime: 0).isSuccess)
        #expect(!hasAllocation(lab, client))
        #expect(try client.allocate(lab).isSuccess)
    }

    @Test("answers to connections are not limited, since nobody spoofs them")
    func unlimited() throws {
        let lab = try Lab(answersPerSecond: 2)
        let spoofable = LabClient()
        let connected = LabClient(transport: .tcp)
        var answers = [0, 0]
        for _ in 0..<10 {
            answers[0] +=
                lab.receive(spoofable.request(.binding, lab, signed: false), on: spoofable.flow).messages.count
            answers[1] +=
                lab.receive(connected.request(.binding, lab, signed: false), on: connected.flow).messages.count
        }
        #expect(answers == [2, 10])
    }

    @Test("ChannelData to a connection is padded, to a datagram it is not", arguments: 0..<9)
    func padding(payload: Int) {
        let framing = ToClient.Framing.channel(0x4000)
        for transport in [Flow.Transport.tcp, .tls] {
            #expect((4 + payload + framing.paddingByteCount(payload: payload, on: transport)) % 4 == 0)
            #expect(framing.paddingByteCount(payload: payload, on: transport) < 4)
        }
        #expect(framing.paddingByteCount(payload: payload, on: .udp) == 0)
        #expect(framing.paddingByteCount(payload: payload, on: .dtls) == 0)
    }

    @Test("a nonce is good for all connections of an address, and for one port of datagrams")
    func nonces() throws {
        let lab = try Lab()
        for (transport, isGood) in [(Flow.Transport.tcp, true), (.tls, true), (.udp, false), (.dtls, false)] {
            var first = LabClient(port: 10, transport: transport)
            try first.learnNonce(lab)
            var second = LabClient(port: 11, transport: transport)
            second.nonce = first.nonce
            #expect(try second.allocate(lab).isSuccess == isGood)
            var elsewhere = LabClient(port: 10, remote: 0xC0A8_0002, transport: transport)
            elsewhere.nonce = first.nonce
            #expect(try elsewhere.allocate(lab).error == 438)
        }
    }
}
