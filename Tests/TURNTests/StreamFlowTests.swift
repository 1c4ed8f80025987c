import STUN
import TURN
import Testing
import Wire

@Suite("Allocations over connections")
struct StreamFlowTests {
    private func hasAllocation(_ harness: RelayHarness, _ client: TestClient) -> Bool {
        harness.engine.hasAllocation(on: client.flow)
    }

    @Test("a closed connection ends its allocation and gives everything back", arguments: [Flow.Transport.tcp, .tls])
    func closed(transport: Flow.Transport) throws {
        let harness = try RelayHarness()
        var client = TestClient(transport: transport)
        var other = TestClient(username: "bob", password: "builder")
        #expect(try client.allocate(harness).isSuccess)
        #expect(try other.allocate(harness).isSuccess)
        #expect(hasAllocation(harness, client))
        harness.close(client.flow)
        #expect(!hasAllocation(harness, client))
        #expect(harness.charged == ["alice": 0, "bob": 1])
        #expect(harness.relays.count == 1)
        harness.close(client.flow)
        #expect(harness.liveAllocations == 1)
        #expect(harness.engine.counters.closed == 1)
        // The same address and port again is a new client.
        #expect(try client.allocate(harness).isSuccess)
    }

    @Test("a connection that is closed while its relay is being opened takes it along")
    func closedWhileOpening() throws {
        let harness = try RelayHarness()
        var client = TestClient(transport: .tcp)
        try client.fetchNonce(harness)
        let bytes = client.request(.allocate, harness) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        for isOpened in [true, false] {
            var recorder = Recorder()
            _ = harness.engine.receive(bytes.span.bytes, on: client.flow, at: harness.now, into: &recorder)
            let request = try #require(recorder.requests.first)
            harness.engine.flowClosed(client.flow, into: &recorder)
            #expect(recorder.ended.isEmpty)
            if isOpened {
                let relay = TransportAddress(RelayHarness.serverIPv4, port: 50_000)
                harness.engine.relayOpened(
                    request.allocation, RelayOpening(relay: .init(local: relay, advertised: relay)), at: harness.now,
                    into: &recorder)
            } else {
                harness.engine.relayFailed(request.allocation, .insufficientCapacity, into: &recorder)
            }
            #expect(recorder.closed.count == (isOpened ? 1 : 0))
            #expect(recorder.ended.count == (isOpened ? 1 : 0))
            #expect(recorder.messages.isEmpty)
            #expect(harness.engine.allocationCount == 0)
        }
        #expect(try client.allocate(harness).isSuccess)
    }

    @Test("Refresh with lifetime 0 ends the allocation, and another one may follow on the connection")
    func refreshed() throws {
        let harness = try RelayHarness()
        var client = TestClient(transport: .tcp)
        #expect(try client.allocate(harness).isSuccess)
        #expect(try client.refresh(harness, lifetime: 0).isSuccess)
        #expect(!hasAllocation(harness, client))
        #expect(try client.allocate(harness).isSuccess)
    }

    @Test("responses to connections are not limited, since they cannot be spoofed")
    func unlimited() throws {
        let harness = try RelayHarness(responsesPerSecond: 2)
        let spoofable = TestClient()
        let connected = TestClient(transport: .tcp)
        var responses = [0, 0]
        for _ in 0..<10 {
            responses[0] +=
                harness.receive(spoofable.request(.binding, harness, signed: false), on: spoofable.flow).messages.count
            responses[1] +=
                harness.receive(connected.request(.binding, harness, signed: false), on: connected.flow).messages.count
        }
        #expect(responses == [2, 10])
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
        let harness = try RelayHarness()
        for (transport, isGood) in [(Flow.Transport.tcp, true), (.tls, true), (.udp, false), (.dtls, false)] {
            var first = TestClient(port: 10, transport: transport)
            try first.fetchNonce(harness)
            var second = TestClient(port: 11, transport: transport)
            second.nonce = first.nonce
            #expect(try second.allocate(harness).isSuccess == isGood)
            var elsewhere = TestClient(port: 10, remote: 0xC0A8_0002, transport: transport)
            elsewhere.nonce = first.nonce
            #expect(try elsewhere.allocate(harness).error == 438)
        }
    }
}
