import ICE
import OpenSSLCrypto
import STUN
import Testing
import Wire

@Suite("The checking agent")
struct ControllingAgentTests {
    @Test("a lite agent's only candidate is nominated by the first check")
    func one() throws {
        var harness = try AgentPairHarness(candidates: 1)
        harness.advance()
        #expect(harness.client.selected == harness.flows[0] && harness.events == [.selected(harness.flows[0])])
        #expect(harness.server.selected != nil && harness.checks == 1)
        #expect(harness.server.counters.answered == 1)
    }

    @Test("of several candidates the first with a response is nominated, by a check of its own")
    func several() throws {
        var harness = try AgentPairHarness(candidates: 3)
        harness.deaf = [harness.flows[0]]
        harness.advance()
        #expect(harness.checks == 1 && harness.client.selected == nil)
        harness.pass(milliseconds: 50)
        #expect(harness.client.selected == harness.flows[1], "the check of the second, and the one that nominates")
        #expect(harness.checks == 3)
        harness.pass(milliseconds: 50)
        #expect(harness.checks == 3, "nothing more is checked then")
        #expect(harness.events == [.selected(harness.flows[1])])
    }

    @Test("what is lost is sent again, the same, after longer and longer waits")
    func loss() throws {
        var harness = try AgentPairHarness(candidates: 1)
        harness.deaf = [harness.flows[0]]
        harness.advance()
        var times: [UInt64] = []
        for _ in 0..<7 {
            guard let deadline = harness.client.deadline else { break }
            times.append(deadline.nanoseconds(since: harness.start) / 1_000_000)
            harness.now = deadline
            harness.advance()
        }
        #expect(times == [500, 1500, 3500, 7500, 15500, 31500, 39500])
        #expect(harness.checks == 7 && Set(harness.sent).count == 1)
        #expect(harness.events == [.failed(.noResponse)] && harness.client.deadline == nil)
    }

    @Test("a check that was lost once is enough the second time")
    func recovery() throws {
        var harness = try AgentPairHarness(candidates: 1)
        harness.deaf = [harness.flows[0]]
        harness.advance()
        harness.deaf = []
        harness.pass(milliseconds: 500)
        #expect(harness.events == [.selected(harness.flows[0])])
    }

    @Test("consent is asked for every few seconds, and lost after thirty without a response")
    func consent() throws {
        var harness = try AgentPairHarness(candidates: 1)
        harness.advance()
        for _ in 0..<600 { harness.pass(milliseconds: 100) }
        #expect((10...15).contains(harness.checks - 1), "60 s, every 4 to 6 s")
        #expect(harness.events.count == 1 && harness.serverLoss == nil)
        harness.deaf = [harness.flows[0]]
        for _ in 0..<299 { harness.pass(milliseconds: 100) }
        #expect(harness.events.last == .selected(harness.flows[0]) || harness.events.count == 2)
        for _ in 0..<10 { harness.pass(milliseconds: 100) }
        #expect(harness.events.last == .failed(.consentExpired) && harness.client.deadline == nil)
    }

    @Test("responses that are forged, of another flow or without integrity change nothing")
    func forged() throws {
        for forgery in AgentPairHarness.Forgery.allCases {
            var harness = try AgentPairHarness(candidates: 1)
            harness.forgery = forgery
            harness.advance()
            #expect(harness.client.selected == nil && harness.events.isEmpty, "\(forgery)")
        }
    }

    @Test("a refusal ends it with its number")
    func refusal() throws {
        var harness = try AgentPairHarness(candidates: 1)
        harness.error = .roleConflict
        harness.advance()
        #expect(harness.events == [.failed(.refused(487))] && harness.client.deadline == nil)
    }

    @Test("the checks of a full agent get a response, and no others")
    func responses() throws {
        var harness = try AgentPairHarness(candidates: 1)
        let good = harness.request(username: "\(harness.own.ufrag.text):peer", password: harness.own.password)
        try harness.receive(good)
        #expect(harness.outbox.messages.count == 1)
        let bytes = try #require(harness.outbox.messages.first).bytes
        let response = try Message(bytes.span.bytes)
        let password = harness.own.password
        let isSigned = response.hasIntegrity(.sha1, key: password.span.bytes, harness.authentication)
        let type = response.type
        #expect(isSigned && type == MessageType(.success, .binding))
        try harness.receive(harness.request(username: "stranger:peer", password: harness.own.password))
        try harness.receive(harness.request(username: "\(harness.own.ufrag.text):peer", password: [1, 2, 3]))
        #expect(harness.outbox.messages.count == 1)
    }
}

/// A checking and a lite agent, the clock, and what lies between them.
private struct AgentPairHarness {
    enum Forgery: CaseIterable {
        case password
        case noCode
        case flow
        case transaction
    }

    let authentication: OpenSSLAuthentication
    let own: LocalCredentials
    let theirs: LocalCredentials
    var client: ControllingAgent
    var server: LiteAgent
    let flows: [Flow]
    let start = Instant(nanoseconds: 5_000_000_000_000)
    var now: Instant
    var outbox = LiteAgentHarness.Sent()
    var events: [ControllingAgent.Event] = []
    var serverLoss: LegLoss?
    var sent: [[UInt8]] = []
    /// Flows on which nothing arrives.
    var deaf: Set<Flow> = []
    var forgery: Forgery?
    var error: ErrorCode?
    var checks: Int { sent.count }

    init(candidates: Int) throws {
        authentication = try #require(OpenSSLAuthentication())
        own = try LiteAgentHarness.credentials(3)
        theirs = try LiteAgentHarness.credentials(4)
        now = start
        let local = TransportAddress(IPAddress(ipv4: 0xC000_0201), port: 5000)
        flows = (0..<candidates).map {
            Flow(
                .udp, local: local,
                remote: TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 3480 + UInt16(truncatingIfNeeded: $0)))
        }
        client = ControllingAgent(
            own, RemoteCredentials(ufrag: theirs.ufrag.text, password: theirs.passwordText), flows: flows, seed: 1,
            at: now)
        server = LiteAgent(theirs, remoteUfrag: own.ufrag.text, at: now)
    }

    mutating func pass(milliseconds: UInt64) {
        now = now.adding(nanoseconds: milliseconds * 1_000_000)
        advance()
    }

    /// The client does what is due, and everything that follows from it happens at once.
    mutating func advance() {
        var writer = MessageWriter()
        note(client.advance(to: now, authentication, &writer, into: &outbox))
        deliver()
        var removed: [Flow] = []
        if let loss = server.advance(to: now, removed: &removed) { serverLoss = loss }
    }

    private mutating func note(_ event: ControllingAgent.Event) {
        if event != .nothing { events.append(event) }
    }

    private mutating func deliver() {
        var writer = MessageWriter()
        while !outbox.messages.isEmpty {
            let (bytes, flow) = outbox.messages.removeFirst()
            sent.append(bytes)
            guard !deaf.contains(flow), let check = try? Message(bytes.span.bytes) else { continue }
            var responses = LiteAgentHarness.Sent()
            let reversed = Flow(.udp, local: flow.remote, remote: flow.local)
            _ = server.receive(check, on: reversed, at: now, authentication, &writer, into: &responses)
            for response in responses.messages {
                var bytes = response.bytes
                var from = flow
                if forgery != nil || error != nil { (bytes, from) = forge(check.transaction, flow) }
                guard let message = try? Message(bytes.span.bytes) else { continue }
                note(client.receive(message, on: from, at: now, authentication, &writer, into: &outbox))
            }
        }
    }

    private func forge(_ transaction: TransactionID, _ flow: Flow) -> ([UInt8], Flow) {
        var writer = MessageWriter()
        let id = forgery == .transaction ? TransactionID(1, 2) : transaction
        writer.begin(MessageType(error == nil ? .success : .failure, .binding), id)
        if let error { writer.append(error: error) } else { writer.append(.xorMappedAddress, xor: flow.local) }
        let key = forgery == .password ? [9, 9, 9] : theirs.password
        if forgery != .noCode { _ = writer.appendIntegrity(.sha1, key: key.span.bytes, authentication) }
        writer.appendFingerprint()
        let elsewhere = Flow(.udp, local: flow.local, remote: TransportAddress(flow.remote.address, port: 9))
        return (writer.bytes, forgery == .flow ? elsewhere : flow)
    }

    func request(username: String, password: [UInt8]) -> [UInt8] {
        var writer = MessageWriter()
        writer.begin(MessageType(.request, .binding), TransactionID(5, 6))
        writer.append(.username, text: username)
        writer.append(.iceControlled, integer: UInt64(1))
        writer.append(.priority, integer: UInt32(1))
        _ = writer.appendIntegrity(.sha1, key: password.span.bytes, authentication)
        writer.appendFingerprint()
        return writer.bytes
    }

    mutating func receive(_ bytes: [UInt8]) throws {
        var writer = MessageWriter()
        let message = try Message(bytes.span.bytes)
        note(client.receive(message, on: flows[0], at: now, authentication, &writer, into: &outbox))
    }
}
