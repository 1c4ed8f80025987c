import OpenSSLCrypto
import STUN
import TURN
import Testing
import Wire

/// The client's half against the server's half, with a clock and a wire of the test's own.
@Suite("The client's half of TURN")
struct TURNClientTests {
    private let flow = Flow(
        .udp, local: Lab.listening, remote: TransportAddress(IPAddress(ipv4: 0xC0A8_0002), port: 4000))

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

    /// Carries a request to the server and its answers back until there is an event that is no challenge.
    private func ask(
        _ client: Client, _ request: TURNClient.Request, _ lab: Lab
    ) throws -> TURNClient.Event {
        var bytes = client.begin(request, at: lab.now)
        for _ in 0..<5 {
            let answer = try #require(lab.receive(bytes, on: flow).messages.first).bytes
            let event = client.receive(answer, at: lab.now)
            guard case .send(let again) = event else { return event }
            bytes = again
        }
        Issue.record("the server goes on asking for credentials")
        return .nothing
    }

    @Test func oneAllocationFromBindingToItsEnd() throws {
        let lab = try Lab()
        let client = try client()
        guard case .answered(let bound) = try ask(client, .binding, lab) else { throw Unexpected() }
        #expect(bound.mapped == flow.remote)
        guard case .answered(let made) = try ask(client, .allocate(.ipv4), lab) else { throw Unexpected() }
        #expect(made.relayed?.address == Lab.external)
        #expect(made.lifetime == 600)
        #expect(client.realm == "test")
        #expect(try ask(client, .permit(Lab.peer), lab).isAnswer)
        #expect(try ask(client, .bindChannel(0x4000, Lab.peer), lab).isAnswer)
        let packet = TURNClient.channelData(0x4000, [1, 2, 3])
        #expect(packet.count == 8)
        #expect(lab.receive(packet, on: flow).toPeer?.payload == 4..<7)
        #expect(client.receive(packet, at: lab.now) == .payload(4..<7, channel: 0x4000))
        #expect(try ask(client, .refresh(seconds: 0), lab).isAnswer)
        #expect(lab.liveAllocations == 0)
    }

    @Test func aStaleNonceIsReplacedOnTheWay() throws {
        let lab = try Lab()
        let client = try client()
        #expect(try ask(client, .allocate(.ipv4), lab).isAnswer)
        lab.advance(seconds: 300)
        #expect(try ask(client, .refresh(seconds: 3600), lab).isAnswer)
        lab.engine.nonces = NonceMint(key: Digest(Array("another key".utf8).span.bytes))
        #expect(try ask(client, .permit(Lab.peer), lab).isAnswer)
    }

    @Test func refusalsAreTold() throws {
        let lab = try Lab()
        let wrong = try client("guessed")
        #expect(try ask(wrong, .allocate(.ipv4), lab) == .credentialsRefused)
        let right = try client()
        #expect(try ask(right, .refresh(seconds: 1), lab) == .refused(437))
        lab.quota = 0
        #expect(try ask(right, .allocate(.ipv4), lab) == .refused(486))
    }

    @Test func anAnswerThatIsNotSignedDoesNotCount() throws {
        let lab = try Lab()
        let client = try client()
        #expect(try ask(client, .allocate(.ipv4), lab).isAnswer)
        let request = client.begin(.permit(Lab.peer), at: lab.now)
        var writer = MessageWriter()
        writer.begin(MessageType(.success, .createPermission), try Message(request.span.bytes).transaction)
        let forged = writer.bytes
        #expect(client.receive(forged, at: lab.now) == .nothing)
        let honest = try #require(lab.receive(request, on: flow).messages.first).bytes
        #expect(client.receive(honest, at: lab.now).isAnswer)
        // A second copy answers nothing that is still asked.
        #expect(client.receive(honest, at: lab.now) == .nothing)
    }

    @Test func noiseIsNothing() throws {
        let client = try client()
        _ = client.begin(.binding, at: Lab.start)
        for bytes: [UInt8] in [[], [0], [0x40], [0x40, 0, 0, 9, 1], [0x80, 1, 2, 3], Array(repeating: 0, count: 20)] {
            #expect(client.receive(bytes, at: Lab.start) == .nothing)
        }
    }

    @Test func aLostRequestIsSentAgainWithLongerPauses() throws {
        let client = try client()
        let bytes = client.begin(.binding, at: Lab.start)
        var now = Lab.start
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
        _ = client.begin(.binding, at: Lab.start)
        let deadline = try #require(client.deadline)
        #expect(deadline.nanoseconds(since: Lab.start) == 15_500_000_000)
        #expect(client.advance(to: deadline) == .timedOut)
    }

    private struct Unexpected: Error {}
}

extension TURNClient.Event {
    fileprivate var isAnswer: Bool { if case .answered = self { true } else { false } }
}
