import BasicContainers
import DTLS
import OpenSSLCrypto
import TURN
import Testing
import Wire

@testable import Relay

@Suite("The table of DTLS sessions")
struct DTLSTableTests {
    @Test("sessions are limited for each source and for handshakes in progress")
    func bounds() throws {
        let harness = try DTLSTableHarness(limit: 10_000)
        for port in 1...200 as ClosedRange<UInt16> { _ = try harness.begin(DTLSTableHarness.flow(port)) }
        #expect(harness.count == 128)
        for address in 2...20 as ClosedRange<UInt32> {
            for port in 1...100 as ClosedRange<UInt16> {
                _ = try harness.begin(DTLSTableHarness.flow(port, address: address))
            }
        }
        #expect(harness.count == 512)
        #expect(harness.counters.rejected == UInt64(200 + 1900 - 512))
        // All time out, and the slots are free again.
        harness.now = harness.now.adding(seconds: 15)
        for slot in harness.due() {
            #expect(!harness.retransmit(slot))
            #expect(harness.end(slot, .failed))
        }
        #expect(harness.count == 0 && harness.handshakeCount == 0)
        #expect(try harness.begin(DTLSTableHarness.flow(1)) == .admitted)
    }

    @Test("changed limits also apply to existing sessions")
    func changed() throws {
        let harness = try DTLSTableHarness(limit: 10_000)
        #expect(try harness.begin(DTLSTableHarness.flow(1)) == .admitted)
        harness.table.limits.handshakes = 8
        #expect(try harness.begin(DTLSTableHarness.flow(2)) == .admitted)
        #expect(try harness.begin(DTLSTableHarness.flow(3)) == .rejected)
        harness.table.limits.handshakeSeconds = 2
        harness.now = harness.now.adding(seconds: 2)
        #expect(harness.due().count == 2)
        for slot in harness.due() { #expect(!harness.retransmit(slot)) }
        harness.table.limits.handshakesPerSecond = 1
        harness.table.limits.handshakeBurst = 1
        #expect(try harness.begin(DTLSTableHarness.flow(4, address: 2)) == .admitted)
        #expect(try harness.begin(DTLSTableHarness.flow(5, address: 3)) == .rejected)
    }

    @Test("established sessions of one source are limited too")
    func established() throws {
        let harness = try DTLSTableHarness(limit: 10_000)
        for port in 1...300 as ClosedRange<UInt16> {
            let client = try harness.client(DTLSTableHarness.flow(port))
            #expect(harness.establish(client), "\(port)")
        }
        #expect(try harness.begin(DTLSTableHarness.flow(60_000)) == .rejected)
        #expect(try harness.begin(DTLSTableHarness.flow(60_000, address: 2)) == .admitted)
    }

    @Test("a full table evicts an old session, and admits again")
    func eviction() throws {
        let harness = try DTLSTableHarness(limit: 2)
        for port in 1...2 as ClosedRange<UInt16> {
            let client = try harness.client(DTLSTableHarness.flow(port))
            #expect(harness.establish(client))
        }
        #expect(try harness.begin(DTLSTableHarness.flow(3)) == .full)
        #expect(harness.candidate() == nil)
        harness.now = harness.now.adding(seconds: 10)
        let one = try #require(harness.candidate())
        let two = try #require(harness.candidate())
        #expect(one != two)
        #expect(harness.end(one, .idle))
        #expect(harness.count == 1)
        #expect(try harness.begin(DTLSTableHarness.flow(3)) == .admitted)
        #expect(harness.count == 2)
    }

    @Test("a session without allocation is a suspect after a minute, and its buffers are released before")
    func idle() throws {
        let harness = try DTLSTableHarness(limit: 10)
        let client = try harness.client(DTLSTableHarness.flow(1))
        #expect(harness.establish(client))
        let slot = try #require(harness.current(client.flow))
        for _ in 0..<59 {
            harness.now = harness.now.adding(seconds: 1)
            #expect(harness.sweep().isEmpty)
        }
        #expect(!harness.hasBuffers(slot))
        harness.now = harness.now.adding(seconds: 1)
        #expect(harness.sweep() == [slot])
        harness.table.noteAllocation(slot, at: harness.now)
        harness.now = harness.now.adding(seconds: 1)
        #expect(harness.sweep().isEmpty)
        // It can still receive.
        #expect(harness.send([1, 2, 3], client) == [1, 2, 3])
        #expect(harness.hasBuffers(slot))
    }

    @Test("a duplicate hello changes nothing, a new one starts a successor that takes over when it is established")
    func successors() throws {
        let harness = try DTLSTableHarness(limit: 10)
        let flow = DTLSTableHarness.flow(1)
        let first = try harness.client(flow)
        #expect(harness.establish(first))
        #expect(harness.receive(first.hello, on: flow) == .duplicate)
        let slot = try #require(harness.current(flow))

        // Two that are never established; the second replaces the first.
        #expect(try harness.begin(flow) == .admitted)
        #expect(try harness.begin(flow) == .admitted)
        #expect(harness.count == 2)
        #expect(harness.current(flow) == slot)
        #expect(harness.send([7], first) == [7])

        let second = try harness.client(flow)
        #expect(harness.establish(second))
        #expect(harness.count == 1)
        #expect(harness.counters.replaced == 1)
        #expect(harness.current(flow) != slot)
        #expect(harness.send([8], second) == [8])
        #expect(harness.send([9], first) == nil)
        let last = try #require(harness.current(flow))
        #expect(harness.end(last, .closed))
        #expect(harness.count == 0 && harness.current(flow) == nil)
    }

    @Test("endless retransmissions of a Finished are ignored after a while")
    func repeats() throws {
        let harness = try DTLSTableHarness(limit: 10)
        let client = try harness.client(DTLSTableHarness.flow(1))
        #expect(harness.establish(client))
        let slot = try #require(harness.current(client.flow))
        for number in 0..<20 {
            let finished =
                [22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 1, UInt8(number), 0, 48] + [UInt8](repeating: 3, count: 48)
            #expect(harness.take(finished, slot) == (number < 8 ? .nothing : nil))
        }
        #expect(harness.send([1], client) == [1])
    }

    @Test("handshakes stop at their share of the time")
    func budget() throws {
        let harness = try DTLSTableHarness(limit: 10)
        #expect(try harness.begin(DTLSTableHarness.flow(9)) == .admitted)
        harness.table.noteWork(nanoseconds: 250_000_000)
        #expect(try harness.begin(DTLSTableHarness.flow(1)) == .rejected)
        harness.now = harness.now.adding(nanoseconds: 100_000_000)
        #expect(try harness.begin(DTLSTableHarness.flow(2)) == .admitted)
        harness.table.noteWork(nanoseconds: 25_000_000)
        #expect(try harness.begin(DTLSTableHarness.flow(3)) == .rejected)
        harness.now = harness.now.adding(seconds: 100)
        #expect(try harness.begin(DTLSTableHarness.flow(6)) == .admitted)
        harness.table.noteWork(nanoseconds: 249_000_000)
        #expect(try harness.begin(DTLSTableHarness.flow(4)) == .admitted)
        harness.table.noteWork(nanoseconds: 1_000_000)
        #expect(try harness.begin(DTLSTableHarness.flow(5)) == .rejected)
    }
}

/// A table, its clock, and clients whose wire is an array.
private final class DTLSTableHarness {
    final class Client {
        let flow: Flow
        let exchange = DTLSExchange()
        var session: DTLSSession?
        /// The datagram with the cookie.
        var hello: [UInt8] = []

        init(_ flow: Flow) { self.flow = flow }

        func takeOutput() -> [[UInt8]] {
            defer { exchange.removeAll() }
            return (0..<exchange.count).map { Array(exchange[$0]) }
        }
    }

    var table: DTLSTable
    var now = Instant(nanoseconds: 1_000_000_000_000)
    private let clientContext: DTLSContext
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)

    init(limit: Int) throws {
        let key = Array("key".utf8)
        let authentication = try #require(OpenSSLAuthentication())
        let context = try #require(DTLSContext.server(try ServerCertificate.forTests()))
        clientContext = try #require(DTLSContext.client(authorities: nil))
        var limits = DTLSLimits()
        limits.sessions = limit
        limits.sessionsPerSource = 300
        limits.handshakesPerSecond = 0
        table = DTLSTable(
            HelloVerifier(cookies: CookieGenerator(key: Digest(key.span.bytes)), authentication: authentication),
            context, limits, seed: 1)
    }

    deinit { buffer.deallocate() }

    static func flow(_ port: UInt16, address: UInt32 = 1) -> Flow {
        Flow(
            .dtls, local: TransportAddress(IPAddress(ipv4: 0x0A00_0001), port: 3478),
            remote: TransportAddress(IPAddress(ipv4: 0x0101_0000 + address), port: port))
    }

    // For expectations, which cannot use noncopyable values.
    var count: Int { table.count }
    var handshakeCount: Int { table.handshakeCount }
    var counters: DTLSCounters { table.counters }
    func current(_ flow: Flow) -> Int? { table.slots(of: flow)?.current }
    func hasBuffers(_ slot: Int) -> Bool { table.slots[slot].hasBuffers }
    func end(_ slot: Int, _ end: DTLSCloseReason) -> Bool { table.end(slot, end) }
    func retransmit(_ slot: Int) -> Bool { table.retransmit(slot, at: now) }
    func candidate() -> Int? { table.candidateForEviction(at: now) }
    func sweep() -> [Int] { table.sweep(at: now) }
    func due() -> [Int] { table.dueHandshakes(at: now) }

    /// A client that has its cookie.
    func client(_ flow: Flow) throws -> Client {
        let client = Client(flow)
        client.session = DTLSSession.connecting("localhost", clientContext, client.exchange)
        let first = try #require(client.takeOutput().first)
        guard case .unverified(let hello) = table.helloVerifier.receive(first.span.bytes, on: flow, at: now),
            let response = table.helloVerifier.challenge(hello, of: first.span.bytes, at: now)
        else {
            Issue.record("no response to a hello")
            return client
        }
        _ = response.withUnsafeBytes { client.session?.take($0, into: buffer) }
        client.hello = try #require(client.takeOutput().first)
        return client
    }

    func receive(_ datagram: [UInt8], on flow: Flow) -> DTLSTable.Admission {
        guard case .verified(let hello) = table.helloVerifier.receive(datagram.span.bytes, on: flow, at: now) else {
            Issue.record("the hello is not verified")
            return .rejected
        }
        let admission = table.admit(hello, on: flow, at: now)
        if case .admitted = admission { table.begin(hello, on: flow, at: now) }
        return admission
    }

    /// A client that sends its hello with the cookie, and nothing more.
    func begin(_ flow: Flow) throws -> DTLSTable.Admission {
        defer { table.exchange.removeAll() }
        return receive(try client(flow).hello, on: flow)
    }

    /// Carries a client's handshake to its end.
    func establish(_ client: Client) -> Bool {
        guard receive(client.hello, on: client.flow) == .admitted else { return false }
        while true {
            var responses: [[UInt8]] = []
            for index in 0..<table.exchange.count { responses.append(Array(table.exchange[index])) }
            table.exchange.removeAll()
            if responses.isEmpty { return false }
            for response in responses { _ = response.withUnsafeBytes { client.session?.take($0, into: buffer) } }
            if client.session?.phase == .established { return true }
            for datagram in client.takeOutput() { _ = deliver(datagram, client.flow) }
        }
    }

    /// Delivers a datagram, and returns what the table reads of it.
    private func deliver(_ datagram: [UInt8], _ flow: Flow) -> [UInt8]? {
        var received: [UInt8]?
        var bytes = datagram
        var offset = 0
        while let record = RecordHeader(bytes.span.bytes, at: offset) {
            offset = record.body.upperBound
            guard let slots = table.slots(of: flow) else { return nil }
            for slot in [slots.current] + (slots.successor.map { [$0] } ?? []) {
                let reading = bytes.withUnsafeMutableBytes { table.receive(record, of: $0, to: slot, at: now) }
                _ = table.noteEstablished(slot, at: now)
                if case .data(let count) = reading { received = Array(bytes[record.whole].prefix(count)) }
            }
        }
        return received
    }

    func take(_ datagram: [UInt8], _ slot: Int) -> DTLSSession.Reading? {
        var bytes = datagram
        guard let record = RecordHeader(bytes.span.bytes, at: 0) else { return .failed }
        return bytes.withUnsafeMutableBytes { table.receive(record, of: $0, to: slot, at: now) }
    }

    /// What the table receives of a client's payload.
    func send(_ payload: [UInt8], _ client: Client) -> [UInt8]? {
        _ = payload.withUnsafeBytes { client.session?.write($0) }
        return client.takeOutput().compactMap { deliver($0, client.flow) }.first
    }
}
