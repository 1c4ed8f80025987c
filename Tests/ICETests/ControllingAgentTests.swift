import ICE
import OpenSSLCrypto
import STUN
import Testing
import Wire

@Suite("The checking agent")
struct CheckingAgentTests {
    @Test("a lite agent's only candidate is nominated by the first check")
    func one() throws {
        var lab = try PairLab(candidates: 1)
        lab.advance()
        #expect(lab.client.selected == lab.flows[0] && lab.events == [.selected(lab.flows[0])])
        #expect(lab.server.selected != nil && lab.checks == 1)
        #expect(lab.server.tally.answered == 1)
    }

    @Test("of several candidates the first that answers is nominated, by a check of its own")
    func several() throws {
        var lab = try PairLab(candidates: 3)
        lab.deaf = [lab.flows[0]]
        lab.advance()
        #expect(lab.checks == 1 && lab.client.selected == nil)
        lab.pass(milliseconds: 50)
        #expect(lab.client.selected == lab.flows[1], "the check of the second, and the one that nominates")
        #expect(lab.checks == 3)
        lab.pass(milliseconds: 50)
        #expect(lab.checks == 3, "nothing more is checked then")
        #expect(lab.events == [.selected(lab.flows[1])])
    }

    @Test("what is lost is sent again, the same, after longer and longer waits")
    func loss() throws {
        var lab = try PairLab(candidates: 1)
        lab.deaf = [lab.flows[0]]
        lab.advance()
        var times: [UInt64] = []
        for _ in 0..<7 {
            guard let deadline = lab.client.deadline else { break }
            times.append(deadline.nanoseconds(since: lab.start) / 1_000_000)
            lab.now = deadline
            lab.advance()
        }
        #expect(times == [500, 1500, 3500, 7500, 15500, 31500, 39500])
        #expect(lab.checks == 7 && Set(lab.sent).count == 1)
        #expect(lab.events == [.failed(.unanswered)] && lab.client.deadline == nil)
    }

    @Test("a check that was lost once is enough the second time")
    func recovery() throws {
        var lab = try PairLab(candidates: 1)
        lab.deaf = [lab.flows[0]]
        lab.advance()
        lab.deaf = []
        lab.pass(milliseconds: 500)
        #expect(lab.events == [.selected(lab.flows[0])])
    }

    @Test("consent is asked for every few seconds, and lost after thirty without an answer")
    func consent() throws {
        var lab = try PairLab(candidates: 1)
        lab.advance()
        for _ in 0..<600 { lab.pass(milliseconds: 100) }
        #expect((10...15).contains(lab.checks - 1), "60 s, every 4 to 6 s")
        #expect(lab.events.count == 1 && lab.serverLoss == nil)
        lab.deaf = [lab.flows[0]]
        for _ in 0..<299 { lab.pass(milliseconds: 100) }
        #expect(lab.events.last == .selected(lab.flows[0]) || lab.events.count == 2)
        for _ in 0..<10 { lab.pass(milliseconds: 100) }
        #expect(lab.events.last == .failed(.consentExpired) && lab.client.deadline == nil)
    }

    @Test("answers that are forged, of another flow or without a code change nothing")
    func forged() throws {
        for forgery in PairLab.Forgery.allCases {
            var lab = try PairLab(candidates: 1)
            lab.forgery = forgery
            lab.advance()
            #expect(lab.client.selected == nil && lab.events.isEmpty, "\(forgery)")
        }
    }

    @Test("a refusal ends it with its number")
    func refusal() throws {
        var lab = try PairLab(candidates: 1)
        lab.error = .roleConflict
        lab.advance()
        #expect(lab.events == [.failed(.refused(487))] && lab.client.deadline == nil)
    }

    @Test("the checks of a full agent are answered, and no others")
    func answers() throws {
        var lab = try PairLab(candidates: 1)
        let good = lab.request(username: "\(lab.own.ufrag.text):peer", password: lab.own.password)
        try lab.receive(good)
        #expect(lab.outbox.messages.count == 1)
        let bytes = try #require(lab.outbox.messages.first).bytes
        let answer = try Message(bytes.span.bytes)
        let password = lab.own.password
        let isSigned = answer.hasIntegrity(.sha1, key: password.span.bytes, lab.authentication)
        let type = answer.type
        #expect(isSigned && type == MessageType(.success, .binding))
        try lab.receive(lab.request(username: "stranger:peer", password: lab.own.password))
        try lab.receive(lab.request(username: "\(lab.own.ufrag.text):peer", password: [1, 2, 3]))
        #expect(lab.outbox.messages.count == 1)
    }
}

/// A checking and a lite agent, the clock, and what lies between them.
private struct PairLab {
    enum Forgery: CaseIterable {
        case password
        case noCode
        case flow
        case transaction
    }

    let authentication: OpenSSLAuthentication
    let own: LocalCredentials
    let theirs: LocalCredentials
    var client: CheckingAgent
    var server: LiteAgent
    let flows: [Flow]
    let start = Instant(nanoseconds: 5_000_000_000_000)
    var now: Instant
    var outbox = LegLab.Sent()
    var events: [CheckingAgent.Event] = []
    var serverLoss: LegLoss?
    var sent: [[UInt8]] = []
    /// Flows on which nothing arrives.
    var deaf: Set<Flow> = []
    var forgery: Forgery?
    var error: ErrorCode?
    var checks: Int { sent.count }

    init(candidates: Int) throws {
        authentication = try #require(OpenSSLAuthentication())
        own = try LegLab.credentials(3)
        theirs = try LegLab.credentials(4)
        now = start
        let local = TransportAddress(IPAddress(ipv4: 0xC000_0201), port: 5000)
        flows = (0..<candidates).map {
            Flow(
                .udp, local: local,
                remote: TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 3480 + UInt16(truncatingIfNeeded: $0)))
        }
        client = CheckingAgent(
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

    private mutating func note(_ event: CheckingAgent.Event) {
        if event != .nothing { events.append(event) }
    }

    private mutating func deliver() {
        var writer = MessageWriter()
        while !outbox.messages.isEmpty {
            let (bytes, flow) = outbox.messages.removeFirst()
            sent.append(bytes)
            guard !deaf.contains(flow), let check = try? Message(bytes.span.bytes) else { continue }
            var answers = LegLab.Sent()
            let reversed = Flow(.udp, local: flow.remote, remote: flow.local)
            _ = server.receive(check, on: reversed, at: now, authentication, &writer, into: &answers)
            for answer in answers.messages {
                var bytes = answer.bytes
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
