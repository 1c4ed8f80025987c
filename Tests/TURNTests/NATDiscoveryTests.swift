import STUN
import TURN
import Testing
import Wire

@Suite("NAT behaviour discovery")
struct NATDiscoveryTests {
    private static let second = IPAddress(ipv4: 0x0A00_0002)

    private func serving() throws -> RelayHarness {
        let harness = try RelayHarness()
        harness.engine.discoveries = [
            try #require(NATDiscovery(RelayHarness.serverIPv4, Self.second, port: 3478, otherPort: 3479))
        ]
        return harness
    }

    private func ask(
        _ harness: RelayHarness, on flow: Flow = TestClient().flow, _ extra: (inout MessageWriter) -> Void = { _ in }
    ) -> RelayHarness.Outcome {
        harness.receive(TestClient().request(.binding, harness, signed: false, extra: extra), on: flow)
    }

    private func addresses(_ bytes: [UInt8]) throws -> (origin: TransportAddress?, other: TransportAddress?, Int?) {
        let message = try Message(bytes.span.bytes)
        return (
            message.plainAddress(.responseOrigin), message.plainAddress(.otherAddress),
            message.range(of: .padding)?.count
        )
    }

    @Test("a response has its origin and the other address and port, as external addresses")
    func plain() throws {
        let harness = try serving()
        let outcome = ask(harness)
        let response = try Response(outcome)
        #expect(response.isSuccess)
        #expect(response.mapped == TestClient().flow.remote)
        let (origin, other, padding) = try addresses(response.bytes)
        #expect(origin == TransportAddress(RelayHarness.external, port: 3478))
        #expect(other == TransportAddress(Self.second, port: 3479))
        #expect(padding == nil)
        #expect(outcome.messages.first?.flow == TestClient().flow)
    }

    @Test(
        "CHANGE-REQUEST: the response is sent from the requested socket",
        arguments: [(0, 0x0A00_0001, 3478), (2, 0x0A00_0001, 3479), (4, 0x0A00_0002, 3478), (6, 0x0A00_0002, 3479)]
            as [(UInt32, UInt32, UInt16)])
    func change(flags: UInt32, address: UInt32, port: UInt16) throws {
        let harness = try serving()
        let outcome = ask(harness) { $0.append(.changeRequest, integer: flags) }
        let flow = try #require(outcome.messages.first).flow
        #expect(flow.local == TransportAddress(IPAddress(ipv4: address), port: port))
        #expect(flow.remote == TestClient().flow.remote)
        // And back from the opposite corner.
        let opposite = Flow(.udp, local: flow.local, remote: flow.remote)
        let back = try #require(ask(harness, on: opposite) { $0.append(.changeRequest, integer: flags) }.messages.first)
        #expect(back.flow.local == RelayHarness.listening)
    }

    @Test("RESPONSE-PORT: another port of the source, never another address")
    func responsePort() throws {
        let harness = try serving()
        for size in [2, 4] {
            let outcome = ask(harness) { $0.append(.responsePort, bytes: Array([0x12, 0x34, 0, 0].prefix(size))) }
            let flow = try #require(outcome.messages.first).flow
            #expect(flow.remote == TransportAddress(TestClient().flow.remote.address, port: 0x1234))
            #expect(flow.local == RelayHarness.listening)
        }
    }

    @Test("PADDING: as much as was sent and no more than a datagram", arguments: [(1, 1), (1000, 1000), (9000, 1500)])
    func padding(asked: Int, given: Int) throws {
        let harness = try serving()
        let request = TestClient().request(.binding, harness, signed: false) {
            $0.append(.padding, bytes: [UInt8](repeating: 1, count: asked))
        }
        let response = try Response(harness.receive(request, on: TestClient().flow))
        #expect(try addresses(response.bytes).2 == given)
        if asked >= 1000 { #expect(response.bytes.count < request.count + 50) }
    }

    @Test(
        "an invalid request is a bad request",
        arguments: [
            { $0.append(.changeRequest, integer: UInt16(6)) }, { $0.append(.responsePort, bytes: [1]) },
            { $0.append(.responsePort, integer: UInt32(0)) },
            {
                $0.append(.responsePort, integer: UInt32(7) << 16)
                $0.append(.padding, bytes: [0, 0, 0, 0])
            },
        ] as [@Sendable (inout MessageWriter) -> Void])
    func senseless(extra: @Sendable (inout MessageWriter) -> Void) throws {
        let outcome = ask(try serving(), extra)
        #expect(try Response(outcome).error == 400)
        #expect(outcome.messages.first?.flow == TestClient().flow)
    }

    @Test("where it is not served, over TCP or elsewhere, its attributes are unknown and none are sent")
    func elsewhere() throws {
        let harness = try serving()
        let remote = TestClient().flow.remote
        let flows = [
            Flow(.tcp, local: RelayHarness.listening, remote: remote),
            Flow(.udp, local: TransportAddress(RelayHarness.serverIPv6, port: 3478), remote: remote),
            Flow(.udp, local: TransportAddress(RelayHarness.serverIPv4, port: 5349), remote: remote),
        ]
        for flow in flows {
            #expect(try Response(ask(harness, on: flow) { $0.append(.changeRequest, integer: UInt32(6)) }).error == 420)
            let response = try Response(ask(harness, on: flow))
            #expect(response.isSuccess)
            #expect(try addresses(response.bytes).other == nil)
        }
        harness.engine.discoveries = []
        for attribute in [AttributeType.changeRequest, .responsePort, .padding] {
            #expect(try Response(ask(harness) { $0.append(attribute, integer: UInt32(6)) }).error == 420)
        }
    }

    @Test("its responses count against the prefix of the source like all others")
    func limited() throws {
        let harness = try RelayHarness(responsesPerSecond: 5)
        harness.engine.discoveries = [
            try #require(NATDiscovery(RelayHarness.serverIPv4, Self.second, port: 3478, otherPort: 3479))
        ]
        let responses = (0..<20).count { _ in
            !ask(harness) { $0.append(.changeRequest, integer: UInt32(6)) }.messages.isEmpty
        }
        #expect(responses == 5)
    }

    @Test("needs two addresses and two ports")
    func impossible() {
        #expect(NATDiscovery(RelayHarness.serverIPv4, RelayHarness.serverIPv4, port: 1, otherPort: 2) == nil)
        #expect(NATDiscovery(RelayHarness.serverIPv4, Self.second, port: 1, otherPort: 1) == nil)
        #expect(NATDiscovery(RelayHarness.serverIPv4, RelayHarness.serverIPv6, port: 1, otherPort: 2) == nil)
    }
}
