import OpenSSLCrypto
import STUN
import TURN
import Testing
import Wire

/// The client's half against the server's half, with a clock and a wire of the test's own.
@Suite("The client's half of TURN")
struct TURNClientTests {
    private let flow = Flow(
        .udp, local: RelayHarness.listening, remote: TransportAddress(IPAddress(ipv4: 0xC0A8_0002), port: 4000))

    /// A client that #expect can look at, which takes no noncopyable value.
    private final class Client {
        private var client: TURNClient
        init(_ client: consuming TURNClient) { self.client = client }
        var realm: String { client.realm }
        var deadline: Instant? { client.deadline }
        func begin(_ request: TURNClient.Request, at now: Instant) -> [UInt8] { client.begin(request, at: now) }
        func advance(to now: Instant) -> TURNClient.Timer { client.advance(to: now) }
        func receive(_ bytes: [UInt8], at now: Instant) -> TURNClient.Event {
            client.receive(bytes.span.bytes, at: now)
        }
    }

    private func client(_ password: String = "wonderland", isReliable: Bool = false) throws -> Client {
        Client(
            TURNClient(
                .init(username: "alice", password: password), isReliable: isReliable, seed: 1,
                try #require(OpenSSLAuthentication())))
    }

    /// Carries a request to the server and its responses back until there is an event other than a challenge.
    private func ask(
        _ client: Client, _ request: TURNClient.Request, _ harness: RelayHarness
    ) throws -> TURNClient.Event {
        var bytes = client.begin(request, at: harness.now)
        for _ in 0..<5 {
            let response = try #require(harness.receive(bytes, on: flow).messages.first).bytes
            let event = client.receive(response, at: harness.now)
            guard case .send(let again) = event else { return event }
            bytes = again
        }
        Issue.record("the server goes on asking for credentials")
        return .nothing
    }

    @Test func oneAllocationFromBindingToItsEnd() throws {
        let harness = try RelayHarness()
        let client = try client()
        guard case .answered(let bound) = try ask(client, .binding, harness) else { throw Unexpected() }
        #expect(bound.mapped == flow.remote)
        guard case .answered(let made) = try ask(client, .allocate(.ipv4), harness) else { throw Unexpected() }
        #expect(made.relayed?.address == RelayHarness.external)
        #expect(made.lifetime == 600)
        #expect(client.realm == "test")
        #expect(try ask(client, .permit(RelayHarness.peer), harness).isResponse)
        #expect(try ask(client, .bindChannel(0x4000, RelayHarness.peer), harness).isResponse)
        let packet = TURNClient.channelData(0x4000, [1, 2, 3])
        #expect(packet.count == 8)
        #expect(harness.receive(packet, on: flow).toPeer?.payload == 4..<7)
        #expect(client.receive(packet, at: harness.now) == .payload(4..<7, channel: 0x4000))
        #expect(try ask(client, .refresh(seconds: 0), harness).isResponse)
        #expect(harness.liveAllocations == 0)
    }

    @Test func aStaleNonceIsReplacedOnTheWay() throws {
        let harness = try RelayHarness()
        let client = try client()
        #expect(try ask(client, .allocate(.ipv4), harness).isResponse)
        harness.advance(seconds: 300)
        #expect(try ask(client, .refresh(seconds: 3600), harness).isResponse)
        harness.engine.nonces = NonceGenerator(key: Digest(Array("another key".utf8).span.bytes))
        #expect(try ask(client, .permit(RelayHarness.peer), harness).isResponse)
    }

    @Test func errorResponsesAreReported() throws {
        let harness = try RelayHarness()
        let wrong = try client("guessed")
        #expect(try ask(wrong, .allocate(.ipv4), harness) == .credentialsRefused)
        let right = try client()
        #expect(try ask(right, .refresh(seconds: 1), harness) == .refused(437))
        harness.quota = 0
        #expect(try ask(right, .allocate(.ipv4), harness) == .refused(486))
    }

    @Test func anUnsignedResponseDoesNotCount() throws {
        let harness = try RelayHarness()
        let client = try client()
        #expect(try ask(client, .allocate(.ipv4), harness).isResponse)
        let request = client.begin(.permit(RelayHarness.peer), at: harness.now)
        var writer = MessageWriter()
        writer.begin(MessageType(.success, .createPermission), try Message(request.span.bytes).transaction)
        let forged = writer.bytes
        #expect(client.receive(forged, at: harness.now) == .nothing)
        let honest = try #require(harness.receive(request, on: flow).messages.first).bytes
        #expect(client.receive(honest, at: harness.now).isResponse)
        // A second copy matches no pending request.
        #expect(client.receive(honest, at: harness.now) == .nothing)
    }

    @Test func noiseIsNothing() throws {
        let client = try client()
        _ = client.begin(.binding, at: RelayHarness.start)
        for bytes: [UInt8] in [[], [0], [0x40], [0x40, 0, 0, 9, 1], [0x80, 1, 2, 3], Array(repeating: 0, count: 20)] {
            #expect(client.receive(bytes, at: RelayHarness.start) == .nothing)
        }
    }

    @Test func aLostRequestIsSentAgainWithLongerPauses() throws {
        let client = try client()
        let bytes = client.begin(.binding, at: RelayHarness.start)
        var now = RelayHarness.start
        var pauses: [UInt64] = []
        while true {
            let deadline = try #require(client.deadline)
            #expect(client.advance(to: Instant(nanoseconds: deadline.nanoseconds - 1)) == .wait)
            pauses.append(deadline.nanoseconds(since: now) / 1_000_000)
            now = deadline
            let timer = client.advance(to: now)
            if timer == .timedOut { break }
            #expect(timer == .send(bytes))
        }
        #expect(pauses == [500, 1000, 2000, 4000, 8000])
        #expect(client.deadline == nil)
    }

    @Test func aReliableTransportIsNotSentAgain() throws {
        let client = try client(isReliable: true)
        _ = client.begin(.binding, at: RelayHarness.start)
        let deadline = try #require(client.deadline)
        #expect(deadline.nanoseconds(since: RelayHarness.start) == 15_500_000_000)
        #expect(client.advance(to: deadline) == .timedOut)
    }

    private struct Unexpected: Error {}
}

extension TURNClient.Event {
    fileprivate var isResponse: Bool { if case .answered = self { true } else { false } }
}
